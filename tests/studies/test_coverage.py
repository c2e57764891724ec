"""The list of numbered items is that of the documents, and the table is that of the claims."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

from dynascope.core.items import KINDS, items, numbers
from dynascope.core.sources import documents
from dynascope.studies import studies
from dynascope.studies.coverage import coverage, named, page

HERE = Path(__file__).resolve()
SEEDS = HERE.parents[3] / "shared" / "seeds"
PAGE = HERE.parents[2] / "docs" / "items.md"
LISTED = tomllib.loads(files("dynascope.studies").joinpath("items.toml").read_text("utf-8"))
FILES = {
    "000": "yang2024",
    "001": "yang2025",
    "002": "chen2025",
    "003": "boix2023",
    "004": "zhu2024",
}
# Items of other people's works, and slips of the scan, that the texts name in the same form.
ELSEWHERE = {
    "chen2025": {"Figure 1", "Figure 15", "Lemma 2", "Theorem 1", "Theorem 2"},
    "zhu2024": {
        "Theorem 1.2", "Theorem 4.1.1", "Theorem 6.3.2", "Lemma 4.4.1", "Corollary 4.2.13",
        "Proposition 2.5.2",
    },
}  # fmt: skip
FORM = re.compile(rf"\b({'|'.join(set(KINDS.values()))}) ((?:[A-Z]\.)?\d+(?:\.\d+)*)")


@pytest.mark.skipif(not SEEDS.is_dir(), reason="the documents are not there")
@pytest.mark.parametrize("number", FILES)
def test_the_list_names_every_item_that_a_document_names(number):
    [path] = SEEDS.glob(f"{number}_*.txt")
    handle = FILES[number]
    text = {f"{kind} {n}" for kind, n in FORM.findall(path.read_text(encoding="utf-8"))}
    assert text - ELSEWHERE.get(handle, set()) <= set(named(LISTED[handle]))


def test_claims_are_about_items_that_exist():
    for claim in (c for s in studies for c in s.claims):
        for source in claim.sources:
            if source.document and source.document.handle in LISTED:
                known = set(named(LISTED[source.document.handle]))
                assert set(items(source.place)) <= known, f"{claim.id}: {source.place}"


def test_reasons_and_restatements_are_about_items_that_exist():
    for handle, about in LISTED.items():
        known = set(named(about))
        assert {i for place in about.get("without", {}) for i in items(place)} <= known
        assert set(about.get("restates", {})) <= known
        for other in about.get("restates", {}).values():
            first, _, rest = other.partition(" ")
            place, item = (first, rest) if first in documents else (handle, other)
            assert item in named(LISTED[place])


def test_no_item_is_left_without_a_claim_or_a_reason():
    assert not [(r.document, r.item) for r in coverage() if not r.claims and not r.reason]


def test_the_page_is_what_the_claims_say():
    found = PAGE.read_text(encoding="utf-8")
    assert found == page(), "run: python -m dynascope.studies.coverage > docs/items.md"


def test_ranges_are_written_out():
    assert numbers("B.11.1-B.11.3") == ["B.11.1", "B.11.2", "B.11.3"]
    assert items("Lemma D.5's premise, Obs. 1, 2") == [
        "Lemma D.5",
        "Observation 1",
        "Observation 2",
    ]
    with pytest.raises(ValueError, match="is not a range"):
        numbers("A.1-B.3")


def test_what_restates_a_restatement_has_the_claims_of_the_first():
    rows = {(r.document, r.item): r.claims for r in coverage()}
    assert rows["yang2024", "Corollary D.2"] == rows["yang2025", "Lemma D.5"] != ()


def test_a_claim_that_no_scale_measures_covers_nothing():
    figure = next(row for row in coverage("zhu2024") if row.item == "Figure 4.8")
    assert {"agop-multiple/svhn-test", "agop-multiple/celeba-alignment"} <= set(figure.unmeasured)
    assert "agop-multiple/rank-2-test-1" in figure.claims
    assert not set(figure.claims) & set(figure.unmeasured)
