"""`dynascope claims`: every claim with its last verdict; nothing is run."""

from __future__ import annotations

import dataclasses
import json
import sys

import pytest

from dynascope.studies import at_least, at_most, average, studies
from dynascope.studies.judging import RULE

from .tiny import tiny

pytestmark = pytest.mark.usefixtures("tiny")


def rows(answer) -> dict[str, dict]:
    assert answer.code == 0, answer.err
    return {row["id"]: row for row in json.loads(answer.out)["claims"]}


def test_every_claim_of_every_study_is_listed_and_nothing_runs(cli, home):
    found = rows(cli("claims", "--json"))
    assert set(found) == {c.id for s in studies for c in s.claims}
    assert {row["verdict"] for row in found.values()} == {"not_run"}
    assert not home.exists()


def test_stored_verdicts_are_shown_with_their_numbers(cli, full):
    found = rows(cli("claims", "--study", "tiny", "--json"))
    assert {k: v["verdict"] for k, v in found.items()} == {
        "tiny/falls": "holds", "tiny/vanishes": "fails"
    }  # fmt: skip
    assert found["tiny/falls"]["scale"] == "smoke" and found["tiny/falls"]["measured"]["n"] == 2
    text = cli("claims", "--study", "tiny", "--verdict", "fails").out
    assert "tiny/vanishes" in text and "tiny/falls" not in text and "1 claim: 1 fails" in text


def other_measure(run):
    """Another measuring function for the same claim."""
    return average(run["loss"].values[:, 0])


CHANGES = {
    "words": {"words": "The loss falls to a tenth of what it was."},
    "bound": {"bound": at_least(0.5, "ours")},
    "origin": {"bound": at_most(0.1, "derived")},
    "measure": {"measure": other_measure},
}


@pytest.mark.parametrize("changed", [*CHANGES, "rule"])
def test_a_verdict_is_outdated_once_claim_or_rule_change_and_is_judged_anew(
    changed, cli, full, monkeypatch
):
    """Words, bound, measuring code and rule are part of a verdict; the runs behind it stay."""
    if changed == "rule":
        monkeypatch.setattr(sys.modules["dynascope.runner.request"], "RULE", RULE + 1)
    else:
        first, second = tiny.claims
        monkeypatch.setattr(
            tiny, "claims", [dataclasses.replace(first, **CHANGES[changed]), second]
        )
    found = rows(cli("claims", "--study", "tiny", "--json"))
    assert {row["verdict"] for row in found.values()} == {"outdated"}
    assert {k: v["last"] for k, v in found.items()} == {
        "tiny/falls": "holds", "tiny/vanishes": "fails"
    }  # fmt: skip
    text = cli("claims", "--study", "tiny").out
    assert "outdated (holds)" in text and "dynascope run judges anew" in text
    assert not rows(cli("claims", "--study", "tiny", "--verdict", "holds", "--json"))
    none = cli("claims", "--study", "tiny", "--verdict", "holds").out
    assert "0 claims" in none and "not among them: 2 that are outdated" in none

    def refuse(*args, **options):
        raise AssertionError("ran again, though the runs are stored")

    monkeypatch.setattr(sys.modules["dynascope.runner.sweep"], "execute", refuse)
    answer = cli("run", "tiny", "--scale", "smoke")
    assert answer.code == 0, answer.err
    found = rows(cli("claims", "--study", "tiny", "--json"))
    other = changed in ("bound", "measure")  # the control says the same then
    assert found["tiny/falls"]["verdict"] == ("undecided" if other else "holds")
    assert found["tiny/vanishes"]["verdict"] == "fails"


def test_claims_of_one_document(cli, home):
    found = rows(cli("claims", "--source", "yang2024", "--json"))
    assert found and all("yang2024" in row["source"] for row in found.values())
    assert len(found) < len(rows(cli("claims", "--json")))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--source", "yang2055"], "did you mean 'yang2025'"),
        (["--verdict", "hold"], "did you mean 'holds'"),
        (["--study", "tinny"], "did you mean 'tiny'"),
    ],
)
def test_unknown_words_give_the_nearest(cli, home, words, said):
    answer = cli("claims", *words)
    assert answer.code == 2 and said in answer.err
