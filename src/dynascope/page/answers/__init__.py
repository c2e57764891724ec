"""What the warm processes answer: a function for each question, with plain answers.

Bodies of pages are HTML in which every word of a record is escaped; charts are JSON for plotly.js.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from dynascope.page.answers import explorers, records, running, studies

ANSWERS: dict[str, Callable[..., Any]] = {
    "gallery": studies.gallery,
    "study": studies.study,
    "document": studies.document,
    "thumbnail": studies.thumbnail_of,
    "form": running.settings_form,
    "check": running.check,
    "growing": running.growing,
    "records": records.listing,
    "record": records.record,
    "chart": records.chart,
    "compare": records.compare,
    "export": records.export,
    "forget": records.forget,
    "explorers": explorers.listing,
    "explorer": explorers.page,
    "explore": explorers.explore,
}


def warm_up(kind: str) -> Iterator[None]:
    """Work to be done between questions, a piece at a time."""
    yield from (explorers.warm_up() if kind == "explorer" else studies.warm_up())
