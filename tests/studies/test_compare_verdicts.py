"""The page of changed verdicts: which claims are on it, and what the script refuses."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from .compare_verdicts import REASONS, compare, read, table, write

PAGE = Path(__file__).parents[2] / "docs" / "changed-verdicts.md"


def found(**verdicts):
    """What two studies say: claims `a/<slug>` with verdicts, and one claim of another study."""
    claims = [
        {
            "id": f"a/{slug}", "statement": "It is so.", "source": "chen2025 Fig. 1",
            "measured": {"value": 0.25}, "expected": {"low": None, "high": 0.5},
            "verdict": verdict, "control": None,
        }
        for slug, verdict in verdicts.items()
    ]  # fmt: skip
    return {"a": {"claims": claims}, "b": {"claims": []}}


def given(reasons=(), not_run=()):
    return {"reasons": dict.fromkeys(reasons, "three seeds"),
            "not_run": dict.fromkeys(not_run, "too long"),
            "checkouts": {"before": "the first rule", "after": "the second"}}  # fmt: skip


OLD = found(kept="holds", changed="holds", gone="fails")
NEW = found(kept="holds", changed="undecided", new="holds", newer="fails")


def test_a_row_for_each_changed_verdict_and_a_count_of_the_others():
    page = table(OLD, NEW, given(["a/changed"], ["c"]))
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert rows == ["| `a/changed` | holds: 0.25 (≤ 0.5) | undecided: 0.25 (≤ 0.5) | three seeds |"]
    assert "both have: 2; with another verdict: 1; with the same verdict and another" in page
    assert "another name: 1; new ones: 2" in page and "- `c`: too long" in page


def test_the_same_verdict_with_another_number_is_counted():
    new = found(kept="holds")
    new["a"]["claims"][0]["measured"]["value"] = 0.3
    page = table(OLD, new, given())
    assert "another verdict: 0; with the same verdict and another number or bound: 1" in page
    assert "| claim |" not in page


def test_a_claim_where_nothing_was_measured_has_no_number():
    new = found(changed="not_applicable")
    new["a"]["claims"][0]["measured"]["value"] = None
    assert "| not_applicable |" in table(OLD, new, given(["a/changed"]))


@pytest.mark.parametrize(
    ("new", "reasons", "not_run", "named"),
    [
        (NEW, (), (), "a/changed"),
        (NEW, ("a/changed", "a/kept"), (), "a/kept"),
        ({"a": NEW["a"]}, ("a/changed",), (), "b"),
        (NEW, ("a/changed",), ("b",), "b"),
    ],
    ids=["no reason", "a reason too many", "a study not run", "a study run after all"],
)
def test_a_page_with_a_hole_is_refused(new, reasons, not_run, named):
    with pytest.raises(SystemExit, match=f": {named}$"):
        table(OLD, new, given(reasons, not_run))


def test_what_is_there_is_not_run_again(tmp_path):
    (tmp_path / "a.json").write_text('{"claims": []}')
    nowhere = tmp_path / "nowhere"
    write(tmp_path, nowhere, nowhere, "smoke", ["a"])
    assert read(tmp_path, []) == {"a": {"claims": []}} and read(tmp_path, ["b"]) == {}
    with pytest.raises(SystemExit, match="run b --scale smoke"):
        write(tmp_path, nowhere, nowhere, "smoke", ["b"])


def test_every_difference_is_counted():
    assert compare(OLD, NEW) == 4  # changed, gone, and two that are new
    assert compare(OLD, OLD) == 0


def test_the_page_has_the_claims_for_which_there_are_reasons():
    compared, _, _ = PAGE.read_text().partition("Studies compared:")
    on_page = re.findall(r"^\| `([^`]+)` \|", compared, re.M)
    assert sorted(on_page) == sorted(tomllib.loads(REASONS.read_text())["reasons"])
