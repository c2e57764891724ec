"""Reports and figures of stored studies, as files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from dynascope.core.records import StudyResult
from dynascope.store import Store
from dynascope.sweeps.run import Outcome


def report_path(store: Store, record: str) -> Path:
    """Where the report of a record is kept in the results folder."""
    return store.home / "reports" / f"{record}.html"


def write_report(outcome: Outcome, path: Path | None = None) -> Path:
    """Write the report of an outcome to a file; in the results folder unless told otherwise."""
    from dynascope.report import page

    path = path or report_path(outcome.store, outcome.record)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page(outcome.result), encoding="utf-8")
    return path


def write_figures(result: StudyResult, folder: Path, forms: Iterable[str]) -> list[Path]:
    """Draw every chart of a study, its headline first, into a folder.

    Args:
        result: The study.
        folder: Where to; made if needed.
        forms: "png", "svg" and "pdf", or some of them.

    Returns:
        The files, named after the charts.
    """
    from dynascope.report import headline_chart, save

    folder.mkdir(parents=True, exist_ok=True)
    charts = [*([headline_chart(result.headline)] if result.headline else []), *result.charts]
    return [save(chart, folder / f"{chart.name}.{form}") for chart in charts for form in forms]


def forget(record: str, store: Store) -> str:
    """Remove a record and its report from the results folder, and return its id."""
    name = store.forget(record)
    report_path(store, name).unlink(missing_ok=True)
    return name
