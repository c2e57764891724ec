"""docs/data.md names every data set, text, set of questions and model that the loaders know."""

from __future__ import annotations

from pathlib import Path

import pytest

from dynascope.data.graph_sets import GRAPH_SETS
from dynascope.data.models import MODELS
from dynascope.data.questions import GSM8K, NAME
from dynascope.data.sources import SOURCES, TEXTS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "data.md"
ROWS = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]


def row(name: str) -> str:
    [found] = [line for line in ROWS if f"`{name}`" in line.split("|")[1]]
    return found


@pytest.mark.parametrize("name", [*SOURCES, *GRAPH_SETS, *TEXTS, NAME, *MODELS])
def test_every_name_has_a_row(name):
    assert row(name)


@pytest.mark.parametrize("name", [*TEXTS, NAME, *MODELS])
def test_a_row_has_files_licence_and_whether_they_are_fetched(name):
    known = {**TEXTS, NAME: GSM8K, **MODELS}[name]
    found = row(name)
    assert found.endswith(f"| {known.licence} |")
    assert all(f"`{official.file}`" in found for official in known.files)
    assert (", fetched |" in found) == bool(known.files)
    assert (", by hand |" in found) == bool(known.by_hand)
