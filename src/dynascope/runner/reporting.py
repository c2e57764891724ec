"""Reports and figures of stored studies, as files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from dynascope.core.errors import bad
from dynascope.core.records import StudyResult
from dynascope.runner.outcome import Outcome
from dynascope.runner.pictures import run_result
from dynascope.runner.remake import remake, remake_study
from dynascope.store import Store, files, index


def report_path(store: Store, record: str) -> Path:
    """Where the report of a record is kept in the results folder."""
    return store.home / "reports" / f"{record}.html"


def write_report(outcome: Outcome, path: Path | None = None, command: str | None = None) -> Path:
    """Write a report to a file.

    Args:
        outcome: What it is about.
        path: The file; in the results folder by default.
        command: That makes it again, where it is no study.

    Returns:
        The path.
    """
    from dynascope.report import page

    again = remake_study(outcome.result) if command is None else command
    text = page(outcome.result, again).encode()
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
        return path
    path = report_path(outcome.store, outcome.record)
    with files.storing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    files.write(path.parent, path.name, text)  # in place of a link that may lie there
    return path


def read_outcome(record: str, store: Store) -> tuple[Outcome, str]:
    """A stored study, run or sweep as an outcome, and the command that makes it again."""
    name = index.resolve(store.records, record)
    content, manifest = store.load(name), store.manifest(name)
    if isinstance(content, dict):
        raise bad("record", name, "a study, a run or a sweep", "a computation has arrays only")
    if not isinstance(content, StudyResult):
        with files.trusting_nothing(store.records / name, "what it holds"):
            content = run_result(content, name, manifest["label"])
    return Outcome(content, name, True, store), remake(store, name, manifest)


def write_figures(result: StudyResult, folder: Path, forms: Iterable[str]) -> list[Path]:
    """Draw every chart of a study, its headline first, into a folder.

    Args:
        result: The study.
        folder: Where to; made if needed.
        forms: "png", "svg" and "pdf", or some of them.

    Returns:
        The files, named after the charts.
    """
    from dynascope.report import save, with_close_up

    folder.mkdir(parents=True, exist_ok=True)
    charts = list(result.charts)
    if result.headline:
        charts[0] = with_close_up(charts[0])
    return [save(chart, folder / f"{chart.name}.{form}") for chart in charts for form in forms]


def forget(record: str, store: Store) -> str:
    """Remove a record and its report from the results folder, and return its id."""
    name = store.forget(record)
    report_path(store, name).unlink(missing_ok=True)
    return name
