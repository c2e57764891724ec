"""The command `dynascope`: its subcommands, and errors as one line and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from dynascope import __version__
from dynascope.cli import (
    claims,
    comparing,
    doctor,
    exporting,
    graph,
    laser,
    listing,
    network,
    new_study,
    orbit,
    page,
    rank,
    records,
    running,
    spikes,
    sweeping,
    watching,
)
from dynascope.cli.explain import explain
from dynascope.cli.talk import Stopped
from dynascope.core.errors import unknown
from dynascope.runtime import process


class _Root(TyperGroup):
    """A group that knows the nearest command."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            raise unknown("command", name, self.commands)
        return super().resolve_command(ctx, args)


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
    "claims": claims.claims,
    "sweep": sweeping.sweep,
    "runs": records.runs,
    "show": records.show,
    "compare": comparing.compare,
    "report": exporting.report,
    "export": exporting.export,
    "forget": records.forget,
    "graph": graph.graph,
    "orbit": orbit.orbit,
    "network": network.network,
    "rank": rank.rank,
    "spikes": spikes.spikes,
    "laser": laser.laser,
    "watch": watching.watch,
    "page": page.page,
    "new-study": new_study.new_study,
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
    if arguments is None:  # a process of our own
        process.begin()
    try:
        code = _call([word for word in given if word != "--debug"])
    except KeyboardInterrupt:
        code = explain(Stopped("interrupted", process.CTRL_C))
    except Exception as error:
        if "--debug" in given and not isinstance(error, Stopped):
            raise
        code = explain(error)
    if arguments is None:
        process.leave(code)
    return code


def _call(words: list[str]) -> int:
    """Run the command; typer's own way of doing so would answer pipes and signals for us."""
    command: Any = typer.main.get_command(app)
    if "_DYNASCOPE_COMPLETE" in os.environ:
        command.main(prog_name="dynascope")  # answers the shell and ends the process
    code = 0
    try:
        with command.make_context("dynascope", words) as context:
            command.invoke(context)
    except typer.Exit as end:
        code = end.exit_code
    sys.stdout.flush()
    return code
