"""The command `dynascope`: its subcommands, and errors as one line and an exit code."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from dynascope import __version__
from dynascope.cli import doctor, exporting, listing, records, running, sweeping
from dynascope.cli.talk import Stopped, say
from dynascope.core.errors import DynascopeError, unknown

BAD_INPUT, OUR_FAULT, CTRL_C, CLOSED_PIPE = 2, 70, 130, 141


class _Root(TyperGroup):
    """A group that knows the nearest command, and keeps typer away from signals and pipes."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            raise unknown("command", name, self.commands)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Stopped("interrupted", CTRL_C) from None
        except BrokenPipeError:
            raise Stopped("", CLOSED_PIPE) from None


app = typer.Typer(
    cls=_Root,
    rich_markup_mode=None,  # plain help: instant, and the same text in the documentation
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error; works anywhere.")
    ] = False,
) -> None:
    """A laboratory for how neural networks learn: run studies, sweep settings, get verdicts.

    \b
    Begin with
      dynascope run swing-by --scale smoke    a study: verdicts, a plot, a report
      dynascope list                          all studies
      dynascope sweep --over model.init_scale=0.1,0.2,0.4

    Results are kept in the folder DYNASCOPE_HOME; what is stored is not computed twice.
    """  # noqa: D301  the mark keeps these lines as they are
    if version:
        print(f"dynascope {__version__}")
    elif context.invoked_subcommand is None:
        print(context.get_help())


_COMMANDS: dict[str, Callable[..., None]] = {
    "list": listing.list_things,
    "run": running.run,
    "sweep": sweeping.sweep,
    "runs": records.runs,
    "show": records.show,
    "report": exporting.report,
    "export": exporting.export,
    "forget": records.forget,
    "doctor": doctor.doctor,
}
for _name, _command in _COMMANDS.items():
    app.command(_name)(_command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Args:
        arguments: What stands behind `dynascope`; that of this process by default.

    Returns:
        0 if it ran, 1 if `--strict` found a claim that fails, 2 for bad input, 70 for an
        error of ours, 130 after Ctrl-C, 141 if nobody reads the output any more.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    command = typer.main.get_command(app)
    try:
        code = command.main(
            [a for a in given if a != "--debug"], prog_name="dynascope", standalone_mode=False
        )
        sys.stdout.flush()
    except Exception as error:
        if "--debug" in given and not isinstance(error, Stopped):
            raise
        code = _explain(error)
    if code == CTRL_C and arguments is None:
        # jaxlib crashes when a process ends whose Ctrl-C came during a compilation.
        sys.stdout.flush()
        os._exit(code)
    return code if isinstance(code, int) else 0


def _explain(error: Exception) -> int:
    """Say in one line what went wrong, and return the exit code."""
    if isinstance(error, BrokenPipeError) or getattr(error, "exit_code", 0) == CLOSED_PIPE:
        _close_pipe()
        return CLOSED_PIPE
    if isinstance(error, Stopped | DynascopeError):
        say(f"dynascope: {error}")
        return error.exit_code
    if hasattr(error, "format_message"):  # typer's own errors, wherever it keeps their class
        say(f"dynascope: {_usage(error)}")
        return BAD_INPUT
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        say(f"dynascope: {where}{error.strerror or error}")
        return BAD_INPUT
    words = " ".join(str(error).split())
    say(f"dynascope: {type(error).__name__}: {words}; this is our fault: --debug tells more")
    return OUR_FAULT


def _usage(error: Any) -> str:
    """Typer's message in one line, with the nearest option and where to read on."""
    command = getattr(error, "ctx", None) and error.ctx.command
    if command and hasattr(error, "possibilities"):
        known = [name for p in command.params for name in p.opts if name.startswith("--")]
        return str(unknown("option", error.option_name, known))
    advice = f"; see {error.ctx.command_path} --help" if command else ""
    return " ".join(error.format_message().split()).rstrip(".") + advice


def _close_pipe() -> None:
    """Let what is still buffered vanish, instead of an error when the process ends."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
