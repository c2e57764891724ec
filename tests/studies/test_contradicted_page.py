"""docs/contradicted.md is written from stored results: its rows are claims as they stand today.

What README says of some of them is what the rows have.
"""

import re
from pathlib import Path

import pytest

from dynascope.core.sources import cited
from dynascope.report.words import expected_words
from dynascope.studies import studies
from dynascope.studies.comparisons import Bound

PAGE = Path(__file__).parents[2] / "docs" / "contradicted.md"
ROWS = [
    line for line in PAGE.read_text("utf-8").splitlines() if re.search(r"`[\w-]+/[\w-]+`", line)
]


def test_the_page_has_rows():
    assert len(ROWS) > 30


@pytest.mark.parametrize("row", ROWS, ids=lambda row: re.search(r"`([\w/-]+)`", row)[1])
def test_a_row_is_a_claim_of_today(row):
    name = re.search(r"`([\w/-]+)`", row)[1]
    [claim] = [c for c in studies.get(name.partition("/")[0]).claims if c.id == name]
    assert not claim.exploratory
    for text in (claim.words, cited(claim.sources), claim.quantity):
        assert text.replace("|", r"\|") in row
    if isinstance(claim.bound, Bound):  # not one that depends on what was measured
        assert claim.bound.origin != "ours"
        assert f"| {expected_words(claim.bound.words())} |" in row


def counts(name: str) -> tuple[int, int]:
    """How many of how many a row measured."""
    [row] = [row for row in ROWS if f"`{name}`" in row]
    found, of = re.search(r" (\d+) of (\d+) \(95 %", row.split(" | ")[1]).groups()
    return int(found), int(of)


def test_the_numbers_of_the_readme_are_those_of_the_rows():
    readme = " ".join((PAGE.parents[1] / "README.md").read_text("utf-8").split())
    rise, of = re.search(
        r"test loss is not monotone \((\d+) of (\d+) seeds rise\)", readme
    ).groups()
    never, seeds = counts("swing-by/high-dimension-monotone")
    assert (int(rise), int(of)) == (seeds - never, seeds)
    [starts] = re.search(r"concept does grow \(in all (\d+) starts\)", readme).groups()
    stuck, late = counts("sim-failure/never-grows")
    assert stuck == 0 and int(starts) == late
