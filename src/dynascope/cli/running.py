"""`dynascope run`: a study, its verdicts, its plot and its report."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dynascope.cli import options
from dynascope.cli.interrupts import resumable
from dynascope.cli.plans import show_plan
from dynascope.cli.talk import Stopped, emit, encoding, height, say, show, tell, width
from dynascope.cli.values import changes

if TYPE_CHECKING:
    from dynascope.engine import Experiment
    from dynascope.studies import Study
    from dynascope.sweeps import Outcome

PLOT_WIDTH, PLOT_HEIGHT = 100, 14  # at most


def run(
    name: options.Study,
    scale: Annotated[
        str,
        typer.Option(
            metavar="|".join(options.SCALES),
            help="How large: seconds, minutes, or the document's own setting.",
            autocompletion=lambda: list(options.SCALES),
        ),
    ] = "laptop",
    seeds: Annotated[int | None, typer.Option(metavar="N", help="Short for --set seeds=N.")] = None,
    set_: options.Set = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Put the report and all figures (PNG, SVG, PDF) there."
        ),
    ] = None,
    dry_run: options.DryRun = False,
    again: options.Again = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 if a claim fails.")] = False,
    open_: options.Open = False,
    as_json: options.Json = False,
) -> None:
    """Run a study: verdicts, a plot of its headline, and a report.

    What is stored already is answered from the store. After Ctrl-C or a crash the same
    command goes on where it stopped.

    \b
    Examples
      dynascope run swing-by --scale smoke
      dynascope run swing-by --seeds 200 --set "task.means=[1, 3]" --out results
    """  # noqa: D301
    settings = changes(set_, seeds=seeds)
    tell(f"{name}, scale {scale}")
    from dynascope.store import Store
    from dynascope.sweeps import configure, stored, write_figures, write_report
    from dynascope.sweeps import run as run_study

    store = Store()
    study = configure(name, scale, settings)
    if dry_run:
        show_plan(_planned(study), store, again, as_json, {"study": name, "scale": scale})
        return
    plan = {} if stored(study, scale, store) and not again else _planned(study)
    if out:
        out.mkdir(parents=True, exist_ok=True)  # better now than after an hour
    with resumable(plan, store):
        outcome = run_study(
            name, scale, changes=settings, store=store, again=again, plan=plan, tell=tell
        )
    path = write_report(outcome, out and out / "report.html")
    if out:
        write_figures(outcome.result, out, options.PICTURES)
    if as_json:
        emit(_plain(outcome))
    else:
        _show(outcome)
    (say if as_json else print)(f"\nreport: {path}\n{_origin(outcome)}")
    if open_:
        typer.launch(path.resolve().as_uri())
    _judge(outcome, strict)


def _planned(study: Study) -> dict[str, Experiment]:
    """The plan, under a moving sign: some studies first measure where their networks start."""
    from rich.console import Console

    with Console(stderr=True).status("planning"):
        return study.plan()


def _plain(outcome: Outcome) -> dict[str, Any]:
    result = outcome.result
    claims = [{k: v for k, v in asdict(c).items() if k != "note"} for c in result.claims]
    about = {"study": result.study, "scale": result.scale, "seconds": result.seconds}
    return {**about, "claims": claims, "record": outcome.record}


def _show(outcome: Outcome) -> None:
    from dynascope.report import text_plot, verdict_table

    show(verdict_table(outcome.result))
    if outcome.result.headline:
        size = min(width(), PLOT_WIDTH), min(max(height() - 10, 8), PLOT_HEIGHT)
        print(f"\n{text_plot(outcome.result.headline, *size, encoding())}")


def _origin(outcome: Outcome) -> str:
    """Whether it was computed or found, and where it is."""
    from dynascope.report.words import duration

    record, took = outcome.record, duration(outcome.result.seconds)
    known = f"record: {record} (dynascope show {record})"
    if outcome.from_store:
        return f"{known}\nanswered from the store; it took {took}; --again computes it anew"
    if outcome.earlier == record:
        return f"{known}\ncomputed again in {took}: agrees with the stored record bit for bit"
    if outcome.earlier:
        return f"{known}\ncomputed again in {took} by other versions; kept beside {outcome.earlier}"
    return f"{known}\ncomputed in {took}"


def _judge(outcome: Outcome, strict: bool) -> None:
    failing = [c.id for c in outcome.claims if c.verdict == "fails"]
    if strict and failing:
        raise Stopped(f"--strict: {len(failing)} claims fail: {', '.join(failing)}", 1)
