"""`dynascope spikes`: the spikes of a training log, and what the log says about their cause."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dynascope.cli import options
from dynascope.cli.talk import emit, say, table


def spikes(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="A log: .csv with names first, or .jsonl."),
    ],
    least: Annotated[
        float,
        typer.Option(metavar="F", help="Smallest factor above the level that is a spike."),
    ] = 1.2,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the log with its spikes (png, svg, pdf)."),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Find the spikes in a training log, and which were catapults.

    A catapult is a spike that a learning rate above the critical one sets off: the loss
    comes back, and the norm of the tangent kernel is lower afterwards. Columns step and loss are
    needed; learning_rate, critical_rate (of the batch), kernel_norm, sharpness and top_loss are
    evidence where they are there. Spikes are told from noise by a threshold that is measured on
    the log.

    \b
    Examples
      dynascope spikes log.csv
      dynascope spikes log.jsonl --out spikes.png --json
    """  # noqa: D301
    from dynascope.instruments.spikes.explaining import explain_spikes
    from dynascope.instruments.spikes.finding import FEWEST
    from dynascope.instruments.spikes.reading import read_log

    options.check_picture(out)
    log = read_log(file)
    found = explain_spikes(log, least=least)
    if len(log) <= FEWEST:
        say(f"{len(log)} rows are too few: a spike is told from the {FEWEST} before it or more")
    told: dict[str, Any] = {"spikes": [e.plain() for e in found]}
    if out is not None:
        from dynascope.instruments.spikes.drawing import spikes_chart
        from dynascope.report import save

        told["out"] = str(save(spikes_chart(log, found), out).resolve())
    if as_json:
        emit(told)
    else:
        _show(told, len(log))


def _show(told: dict[str, Any], rows: int) -> None:
    found = told["spikes"]
    print(f"{len(found)} spike{'s' * (len(found) != 1)} in {rows:,} rows\n")
    if found:
        columns = ("step", "before", "peak", "verdict", "rate / critical", "norm", "came back")
        table(columns, map(_row, found))
    if "out" in told:
        print(f"\nchart: {told['out']}")


def _row(spike: dict[str, Any]) -> tuple[str, ...]:
    evidence = spike["evidence"]
    ratio, change = evidence["rate over critical"], evidence["change of the norm"]
    return (
        f"{spike['step']:,}", f"{spike['before']:.3g}", f"{spike['peak']:.3g}", spike["verdict"],
        "-" if ratio is None else f"{ratio:.2f}", "-" if change is None else f"{change:+.0%}",
        "yes" if evidence["loss came back"] else "no",
    )  # fmt: skip
