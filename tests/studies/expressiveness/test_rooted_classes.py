"""Rooted classes at smoke scale, with and without the data folder."""

from __future__ import annotations

import pytest

from dynascope.data import present
from dynascope.studies import studies

ALWAYS = {
    "small-graphs-adjacency": "holds",
    "small-graphs-injective": "holds",
    "small-graphs-refinement-complete": "holds",
    "one-round-more-is-enough": "holds",
}
ON_CORA = {"table-2-1-cora": "holds", "gap-at-two-rounds": "holds"}
ON_IMDB = {"table-a-1-imdb-binary": "holds", "table-a-1-imdb-binary-printed": "fails"}


def test_claims_on_built_in_graphs_are_decided(verdicts):
    found = verdicts("rooted-classes")
    assert {k: found[k] for k in ALWAYS} == ALWAYS


@pytest.mark.parametrize(
    ("file", "wanted"),
    [("planetoid/ind.cora.graph", ON_CORA), ("tu_graphs/IMDBBINARY.npz", ON_IMDB)],
)
def test_claims_on_data_sets_are_decided_where_they_lie(verdicts, file, wanted):
    found = verdicts("rooted-classes")
    if not present(file):
        assert {found[k] for k in wanted} == {"not_applicable"}
    else:
        assert {k: found[k] for k in wanted} == wanted


def test_without_the_data_folder_the_study_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.delenv("DYNASCOPE_DATA", raising=False)
    monkeypatch.setenv("DYNASCOPE_HOME", str(tmp_path))
    study = studies.get("rooted-classes").at("smoke")
    assert study.datasets == ()
    found = study.analyse({})
    claims = {c.id.split("/")[1]: c for c in study.judge(found)}
    assert claims["table-2-1-cora"].verdict == "not_applicable"
    assert "set DYNASCOPE_DATA" in claims["table-2-1-cora"].note
    assert claims["small-graphs-adjacency"].verdict == "holds"
    assert [c.name for c in study.draw(found)] == ["small-graphs", "citation-graphs"]


def test_finding_a_data_set_makes_another_record(tmp_path, monkeypatch):
    """An answer from the store must not hide a data set that came later."""
    from dynascope.core.spec import fingerprint

    monkeypatch.setenv("DYNASCOPE_DATA", str(tmp_path))
    before = studies.get("rooted-classes").at("smoke")
    (tmp_path / "planetoid").mkdir()
    (tmp_path / "planetoid" / "ind.pubmed.graph").write_text("")
    after = studies.get("rooted-classes").at("smoke")
    assert after.datasets == ("pubmed",)
    assert fingerprint(before) != fingerprint(after)


def test_headline_counts_the_graphs_that_the_gcn_operator_merges(outcomes):
    headline = outcomes("rooted-classes").result.headline
    assert headline.x == (2, 3, 4, 5, 6)
    assert headline.y == (1, 2, 5, 9, 26)  # 2 - 1, 4 - 2, 11 - 6, 34 - 25, 156 - 130
    assert headline.theory == (0, 0, 0, 0, 4)
