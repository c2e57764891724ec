"""`dynascope run`: a study or all studies of a document; verdicts, a plot, a report."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dynascope.cli import options
from dynascope.cli.interrupts import resumable
from dynascope.cli.plans import show_estimates
from dynascope.cli.talk import Stopped, emit, encoding, plot_size, say, show, table, tell
from dynascope.core.choices import SCALES
from dynascope.core.errors import BadInput
from dynascope.core.values import changes

if TYPE_CHECKING:
    from dynascope.runner import Outcome


def run(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="STUDY",
            help="Its name, see `dynascope list`.",
            autocompletion=options.study_names,
            show_default=False,
        ),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            metavar="HANDLE",
            help="Instead of STUDY: all studies of this document, such as chen2025.",
            autocompletion=options.document_handles,
        ),
    ] = None,
    scale: Annotated[
        str,
        typer.Option(
            metavar="|".join(SCALES),
            help="How large: seconds, minutes to two hours, or the document's own setting.",
            autocompletion=lambda: list(SCALES),
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
      dynascope run --source chen2025 --scale smoke
    """  # noqa: D301
    if (name is None) == (source is None):
        raise BadInput("run needs the name of a study, or --source HANDLE for all of a document")
    if dry_run:
        options.refuse_with("--dry-run", {"--out": out, "--strict": strict, "--open": open_})
    if source is not None:
        options.refuse_with("--source", {"--open": open_})  # many reports
    job = _Job(scale, changes(set_, seeds=seeds), again)
    if dry_run:
        _forecast(job, name, source, as_json)
    elif name is not None:
        outcome, path = job.run(name, out)
        if as_json:
            emit({**_plain(outcome), "report": str(path.resolve())})
        else:
            _show(outcome)
        (say if as_json else print)(f"\nreport: {path}\n{_origin(outcome)}")
        if open_:
            typer.launch(path.resolve().as_uri())
        _judge([outcome], strict)
    else:
        from dynascope.runner import of_document

        names = [study.name for study in of_document(source)]
        outcomes = [job.run(n, out and out / n)[0] for n in names]
        if as_json:
            emit({"source": source, "scale": scale, "studies": [_plain(o) for o in outcomes]})
        else:
            _tally(outcomes)
        _judge(outcomes, strict)


@dataclass(frozen=True)
class _Job:
    """What is the same for every study that a command runs."""

    scale: str
    settings: dict[str, Any]
    again: bool

    def run(self, name: str, out: Path | None) -> tuple[Outcome, Path]:
        """The outcome of a study and the path of its report."""
        tell(f"{name}, scale {self.scale}")
        from dynascope.runner import run as run_study
        from dynascope.runner import write_figures, write_report
        from dynascope.store import Store

        if out:
            out.mkdir(parents=True, exist_ok=True)  # better now than after an hour
        store = Store()
        with resumable(lambda entry: entry.study == name, store):
            outcome = run_study(
                name, self.scale, changes=self.settings, store=store, again=self.again, tell=tell
            )
        path = write_report(outcome, out and out / "report.html")
        if out:
            write_figures(outcome.result, out, options.PICTURES)
        return outcome, path


def _forecast(job: _Job, name: str | None, source: str | None, as_json: bool) -> None:
    from dynascope.runner import configure, of_document
    from dynascope.runner.forecast import forecast, without_data
    from dynascope.store import Store
    from dynascope.studies import studies

    chosen = [studies.get(name)] if name else of_document(source)
    found = []
    for study in chosen:
        settings = configure(study.name, job.scale, job.settings)
        found += forecast(study, settings, Store(), job.again)
        for line in without_data(study, settings, Store()):
            say(line)
    about = {"study": name} if name else {"source": source}
    show_estimates(found, as_json, {**about, "scale": job.scale})


def _plain(outcome: Outcome) -> dict[str, Any]:
    result = outcome.result
    claims = [asdict(c) for c in result.claims]
    about = {"study": result.study, "scale": result.scale, "seconds": result.seconds}
    return {**about, "claims": claims, "record": outcome.record}


def _show(outcome: Outcome) -> None:
    from dynascope.report import text_plot, verdict_table

    show(verdict_table(outcome.result))
    if outcome.result.headline:
        print(f"\n{text_plot(outcome.charts[0], *plot_size(), encoding())}")


def _tally(outcomes: list[Outcome]) -> None:
    """One table for all studies of a document."""
    from dynascope.report.words import VERDICT_WORDS, duration

    rows, total = [], Counter[str]()
    for outcome in outcomes:
        counts = Counter(c.verdict for c in outcome.claims)
        total.update(counts)
        numbers = [str(counts[v] or "") for v in VERDICT_WORDS]
        rows.append((outcome.result.study, *numbers, duration(outcome.result.seconds),
                     outcome.record))  # fmt: skip
    seconds = sum(o.result.seconds for o in outcomes)
    rows.append(("all", *(str(total[v] or "") for v in VERDICT_WORDS), duration(seconds), ""))
    table(("study", *VERDICT_WORDS.values(), "took", "record"), rows)


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
        elsewhere = "by other versions or on another processor"
        return f"{known}\ncomputed again in {took} {elsewhere}; kept beside {outcome.earlier}"
    return f"{known}\ncomputed in {took}"


def _judge(outcomes: list[Outcome], strict: bool) -> None:
    failing = [c.id for outcome in outcomes for c in outcome.claims if c.verdict == "fails"]
    if strict and failing:
        raise Stopped(f"--strict: {len(failing)} claims fail: {', '.join(failing)}", 1)
