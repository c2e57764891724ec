"""Every command's help as one Markdown page: `python -m dynascope.cli.docs > docs/commands.md`.

Written from the commands themselves, so that the page does not depend on how a version of
typer lays out its help.
"""

from __future__ import annotations

import inspect
from typing import Any

import typer

from dynascope.cli.root import app

HEAD = """\
# Commands

Made by `python -m dynascope.cli.docs > docs/commands.md`; `dynascope COMMAND --help` says the
same. Results are written to stdout, progress and talk to stderr.

Exit codes: 0 it ran, 1 `--strict` found a claim that fails, 2 bad input, 130 Ctrl-C (the same
command goes on), 141 nobody reads the output any more, 70 an error of ours (`--debug` shows it).

Tab completion of commands, options, studies and records: `dynascope --install-completion`.
"""


def page() -> str:
    """The whole page."""
    root: Any = typer.main.get_command(app)
    parts = [HEAD, _section("dynascope", root)]
    parts += [_section(f"dynascope {name}", command) for name, command in root.commands.items()]
    return "\n".join(parts)


def _section(title: str, command: Any) -> str:
    """Heading, text, and a table of what the command takes."""
    rows = [_row(p) for p in command.params if p.name not in _TYPERS_OWN]
    table = ["| takes | |", "|---|---|", *(f"| `{name}` | {words} |" for name, words in rows)]
    return "\n".join([f"## {title}", "", _text(command.help), "", *table, ""])


_TYPERS_OWN = ("install_completion", "show_completion", "help")


def _text(help_text: str) -> str:
    """The docstring; a paragraph that is kept as it is becomes a block of code."""
    parts = []
    for paragraph in inspect.cleandoc(help_text).split("\n\n"):
        if paragraph.startswith("\b"):
            title, *lines = paragraph.splitlines()[1:]
            parts += [f"{title}:", "```console\n" + inspect.cleandoc("\n".join(lines)) + "\n```"]
        else:
            parts.append(paragraph)
    return "\n\n".join(parts)


def _row(parameter: Any) -> tuple[str, str]:
    option = parameter.opts[0].startswith("-")
    value = "" if getattr(parameter, "is_flag", False) else parameter.metavar or ""
    name = ", ".join(parameter.opts) if option else ""
    default = f" Default: {parameter.default}." if option and parameter.default else ""
    words = f"{parameter.help}{default}".replace("|", "\\|")
    return f"{name} {value}".strip().replace("|", "\\|"), words


if __name__ == "__main__":
    print(page(), end="")
