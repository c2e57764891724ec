"""`dynascope sweep`: one experiment over a grid of settings."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from dynascope.cli import options
from dynascope.cli.interrupts import resumable
from dynascope.cli.plans import show_plan
from dynascope.cli.talk import emit, table
from dynascope.cli.values import axes, changes

if TYPE_CHECKING:
    from dynascope.sweeps.summary import Point


def sweep(
    over: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH=VALUES",
            help="An axis: a,b,c or first:last:count or log:first:last:count; may be repeated.",
        ),
    ] = None,
    task: Annotated[str | None, typer.Option(metavar="NAME", help="What is learned.")] = None,
    model: Annotated[str | None, typer.Option(metavar="NAME", help="What learns.")] = None,
    dynamics: Annotated[
        str | None, typer.Option(metavar="NAME", help="How parameters move.")
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
            metavar="NAME", help="What to measure, Loss and TestLoss by default; may be repeated."
        ),
    ] = None,
    executor: Annotated[
        str, typer.Option(metavar="here|ray", help="This process, or a Ray cluster.")
    ] = "here",
    dry_run: options.DryRun = False,
    again: options.Again = False,
    as_json: options.Json = False,
) -> None:
    """Run one experiment over a grid of settings and sum it up.

    What is not given is the swing-by setting of 001 Fig. 5. Paths begin with task., model.
    or dynamics.; `dynascope list models` and the like show them.

    \b
    Examples
      dynascope sweep --over model.init_scale=log:0.01:1:5
      dynascope sweep --over "task.means[0]=0.5,1.0" --over model.width=2,3 --steps 2000
      dynascope sweep --dynamics Adam --set dynamics.learning_rate=0.01
    """  # noqa: D301
    grid, settings = axes(over), changes(set_)
    from dynascope.core.spec import fingerprint
    from dynascope.store import Store
    from dynascope.sweeps import assemble, run_experiment
    from dynascope.sweeps.summary import summarise

    named = {"task": task, "model": model, "dynamics": dynamics}
    experiment = assemble(
        {kind: name for kind, name in named.items() if name},
        settings, over=grid, steps=steps, time=time, seeds=seeds,
        probes=probe or ("Loss", "TestLoss"),
    )  # fmt: skip
    store, label = Store(), f"sweep {', '.join(grid)}".strip()
    if dry_run:
        show_plan({label: experiment}, store, again, as_json, {})
        return
    key = fingerprint(experiment)
    stored = None if again else store.find(key)
    with resumable({label: experiment}, store):
        found = run_experiment(
            experiment, store=store, again=again, executor=cast(Any, executor), label=label
        )
    record, points = stored or store.find(key), summarise(found)
    if as_json:
        emit({"record": record, "seconds": found.attrs["seconds"], "from_store": bool(stored),
              "axes": {path: found[path].values.tolist() for path in grid},
              "points": [asdict(p) for p in points]})  # fmt: skip
        return
    _show(points)
    how = "answered from the store" if stored else "computed and stored"
    print(f"record: {record} ({how}; dynascope export {record})")


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
        row += [_share(p.swings_by)] if p.swings_by else []
        row += [f"{p.diverged} seeds"] if lost else []
        rows.append(row)
    table([*first.at, *quantities, *swings, *lost], rows)


def _text(value: Any) -> str:
    from dynascope.report.words import number

    return number(value) if isinstance(value, int | float) else str(value)


def _share(share: Any) -> str:
    return "-" if share.value is None else f"{share.value:.0%} of {share.n}"
