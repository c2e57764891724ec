"""`dynascope sweep`: one experiment over a grid of settings."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from dynascope.cli import options
from dynascope.cli.interrupts import resumable
from dynascope.cli.plans import show_estimates
from dynascope.cli.talk import emit, encoding, plot_size, table
from dynascope.core.values import axes, changes

if TYPE_CHECKING:
    from dynascope.runner.summary import Point


def sweep(
    over: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH=VALUES",
            help="An axis: a,b,c or first:last:count or log:first:last:count; may be repeated.",
            autocompletion=options.setting_paths,
        ),
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What is learned.",
            autocompletion=lambda: options.piece_names("tasks"),
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What learns.",
            autocompletion=lambda: options.piece_names("models"),
        ),
    ] = None,
    dynamics: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="How parameters move.",
            autocompletion=lambda: options.piece_names("dynamics"),
        ),
    ] = None,
    set_: options.Set = None,
    steps: Annotated[
        int | None, typer.Option(metavar="N", help="Length; 4000 if not given.")
    ] = None,
    time: Annotated[
        float | None,
        typer.Option(metavar="T", help="Length for GradientFlow; 20 if not given."),
    ] = None,
    seeds: Annotated[int, typer.Option(metavar="N", help="Seeds at every grid point.")] = 32,
    probe: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="What to measure, the task's losses by default; may be repeated.",
            autocompletion=lambda: options.piece_names("probes"),
        ),
    ] = None,
    executor: Annotated[
        str, typer.Option(metavar="here|ray", help="This process, or a Ray cluster.")
    ] = "here",
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Put the report and all figures (PNG, SVG, PDF) there."
        ),
    ] = None,
    dry_run: options.DryRun = False,
    again: options.Again = False,
    as_json: options.Json = False,
) -> None:
    """Run one experiment over a grid: a table, a plot, a report.

    What is not given is the swing-by setting of yang2025 Fig. 5. Paths begin with task., model.
    or dynamics., of --set also with record.; `dynascope list models` and the like show them.

    \b
    Examples
      dynascope sweep --over model.init_scale=log:0.01:1:5
      dynascope sweep --over "task.means[0]=0.5,1.0" --over model.width=2,3 --steps 2000
      dynascope sweep --dynamics Adam --set dynamics.learning_rate=0.01
    """  # noqa: D301
    if dry_run:
        options.refuse_with("--dry-run", {"--out": out})
    grid, settings = axes(over), changes(set_)
    from dynascope.core.plain import identify
    from dynascope.runner import assemble, recorded_run
    from dynascope.runner.estimate import estimate
    from dynascope.runner.split import split
    from dynascope.runner.summary import summarise
    from dynascope.runner.sweep import answer, open_parts
    from dynascope.store import Store

    named = {"task": task, "model": model, "dynamics": dynamics}
    experiment = assemble(
        {kind: name for kind, name in named.items() if name},
        settings, over=grid, steps=steps, time=time, seeds=seeds,
        probes=probe,
    )  # fmt: skip
    store, label = Store(), f"sweep {', '.join(grid)}".strip()
    if dry_run:
        open_parts([part for _, part in split(experiment)], None if again else store)
        show_estimates(estimate({label: experiment}, store, again), as_json, {})
        return
    identity = identify(experiment)
    stored = None if again else answer(store, identity)
    with resumable(lambda entry: identity.key in (entry.fingerprint, entry.part_of), store):
        run = recorded_run(
            experiment, store=store, again=again, executor=cast(Any, executor), label=label
        )
    found, record = run.dataset, str(run.record)
    points, path = summarise(found), _report(record, store, out)
    if as_json:
        emit({"record": record, "report": str(path), "seconds": found.attrs["seconds"],
              "from_store": bool(stored), "points": [asdict(p) for p in points],
              "axes": {path: found[path].values.tolist() for path in grid}})  # fmt: skip
        return
    _show(points)
    _plot(found)
    how = "answered from the store" if stored else "computed and stored"
    print(f"\nreport: {path}\nrecord: {record} ({how}; dynascope export {record})")


def _report(record: str, store: Any, out: Path | None) -> Path:
    """Where the report is; beside it, if asked for, the figures."""
    from dynascope.runner import write_figures, write_report
    from dynascope.runner.reporting import read_outcome

    outcome, command = read_outcome(record, store)
    if out:
        write_figures(outcome.result, out, options.PICTURES)
    return write_report(outcome, out and out / "report.html", command).resolve()


def _plot(run: Any) -> None:
    """The first chart that the terminal can draw: a curve, not a field."""
    from dynascope.core.charts import Line
    from dynascope.report import text_plot
    from dynascope.runner.pictures import run_charts

    lines = [c for c in run_charts(run) if any(isinstance(m, Line) for m in _marks(c))]
    if lines:
        print(f"\n{text_plot(lines[-1], *plot_size(), encoding())}")


def _marks(chart: Any) -> list[Any]:
    return [m for panel in chart.panels for m in panel.marks]


def _show(points: list[Point]) -> None:
    from dynascope.report.words import measured_words

    first = points[0]
    quantities = [f"final {name.replace('_', ' ')}" for name in first.final]
    swings = ["seeds that swing by"] if first.swings_by else []
    lost = ["diverged"] if any(p.diverged for p in points) else []
    rows = []
    for p in points:
        row = [_text(v) for v in p.at.values()]
        row += [measured_words(m) for m in p.final.values()]
        row += [measured_words(p.swings_by)] if p.swings_by else []
        row += [f"{p.diverged} seeds"] if lost else []
        rows.append(row)
    table([*first.at, *quantities, *swings, *lost], rows)


def _text(value: Any) -> str:
    from dynascope.report.words import number

    return number(value) if isinstance(value, int | float) else str(value)
