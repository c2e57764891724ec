"""Rooted classes at smoke scale, with and without the data folder."""

from __future__ import annotations

import pytest

from dynascope.data import present
from dynascope.studies import studies
from dynascope.studies.expressiveness.rooted_classes import Found

ALWAYS = {
    "small-graphs-adjacency": "holds",
    "small-graphs-injective": "holds",
    "small-graphs-refinement-complete": "holds",
    "one-round-more-is-enough": "holds",
}
ON_CORA = {"table-2-1-cora": "holds", "gap-at-two-rounds": "holds"}
ON_IMDB = {"table-a-1-imdb-binary": "holds", "table-a-1-imdb-binary-printed": "fails"}


# The numbers of the thesis, written out a second time.
NODES = {
    "cora": [(37, 1589, 2301, 2363, 2365), (37, 756, 2158, 2359, 2365)],
    "citeseer": [(31, 984, 1855, 2074, 2122), (31, 506, 1550, 2019, 2115)],
    "pubmed": [(82, 8059, 12814, 12990, 12998), (82, 3762, 12014, 12979, 12998)],
}
GRAPHS = {"imdb-binary": (51, 537), "imdb-multi": (49, 387), "reddit-binary": (781, 1998),
          "reddit-multi-5k": (1365, 4999), "collab": (294, 4080)}  # fmt: skip


def verdicts_of_tables(change):
    """Verdicts if the data sets had the printed numbers, but for one that `change` names."""
    nodes = {n: dict(zip(("wl", "adjacency"), ([1, *row, row[-1]] for row in rows)))
             for n, rows in NODES.items()}  # fmt: skip
    graphs = {n: {f: [a, b, b, b] for f in ("wl", "adjacency")} for n, (a, b) in GRAPHS.items()}
    name, family, depth = change
    (nodes | graphs)[name][family][depth] += 1
    atlas = {n: dict.fromkeys(("wl", "adjacency", "self_loop", "injective"), [1] * 8)
             for n in (5, 6)}  # fmt: skip
    study = studies.get("rooted-classes").at("smoke")
    claims = study.judge(Found(nodes, graphs, atlas, {5: 1, 6: 1}, [0, 1]))
    found = {c.id.split("/")[1]: c.verdict for c in claims}
    return {k: v for k, v in found.items() if k.startswith("table") and "printed" not in k}


@pytest.mark.parametrize("name", [*NODES, *GRAPHS])
@pytest.mark.parametrize("family", ["wl", "adjacency"])
def test_each_table_is_judged_by_its_own_data_set(name, family):
    table = f"table-2-1-{name}" if name in NODES else f"table-a-1-{name}"
    for depth in range(1, 6) if name in NODES else range(3):
        found = verdicts_of_tables((name, family, depth))
        assert {k for k, v in found.items() if v == "fails"} == {table}
        assert len(found) == 8 and set(found.values()) == {"holds", "fails"}


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
