"""Rooted classes: every table judged by its own data set, with and without the data folder."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from dynascope.runner import run
from dynascope.runner.request import request
from dynascope.store import Store
from dynascope.studies import studies
from dynascope.studies.expressiveness.rooted_classes import claims as measures
from dynascope.studies.expressiveness.rooted_classes import runs

STUDY = "rooted-classes"

# The numbers of the thesis, written out a second time.
NODES = {
    "cora": [(37, 1589, 2301, 2363, 2365), (37, 756, 2158, 2359, 2365)],
    "citeseer": [(31, 984, 1855, 2074, 2122), (31, 506, 1550, 2019, 2115)],
    "pubmed": [(82, 8059, 12814, 12990, 12998), (82, 3762, 12014, 12979, 12998)],
}
GRAPHS = {"imdb-binary": (51, 537), "imdb-multi": (49, 387), "reddit-binary": (781, 1998),
          "reddit-multi-5k": (1365, 4999), "collab": (294, 4080)}  # fmt: skip


def tables(name, family, depth):
    """What the nodes of data sets would be, were they as printed but for one number."""
    nodes = {n: dict(zip(("wl", "adjacency"), ([1, *row, row[-1]] for row in rows)))
             for n, rows in NODES.items()}  # fmt: skip
    graphs = {n: {"wl": [a, b, b, b], "adjacency": [a, b, b, b], "isomorphism": [b]}
              for n, (a, b) in GRAPHS.items()}  # fmt: skip
    (nodes | graphs)[name][family][depth] += 1
    found = {(runs.nodes | runs.graphs)[n]: counts for n, counts in (nodes | graphs).items()}
    return found | {n: n.function(None) for n in (runs.printed, runs.planted)}


def test_the_planted_gap_is_at_depth_two_alone():
    """Counted once more, by dense powers and by colours that are nested tuples."""
    graph = nx.florentine_families_graph()
    a = nx.to_numpy_array(graph, dtype=int)
    powers = [np.linalg.matrix_power(a, k).sum(1) for k in range(1, 7)]
    colours = [()] * len(a)
    found = {"wl": [1], "adjacency": [1]}
    for depth in range(1, 7):
        colours = [(c, tuple(sorted(colours[j] for j in np.flatnonzero(row))))
                   for c, row in zip(colours, a)]  # fmt: skip
        found["wl"].append(len(set(colours)))
        found["adjacency"].append(len(set(zip(*powers[:depth]))))
    assert runs.planted.function(None)["gap"] == found
    assert [k for k in range(7) if found["wl"][k] != found["adjacency"][k]] == [2]


@pytest.mark.parametrize("name", [*NODES, *GRAPHS])
@pytest.mark.parametrize("family", ["wl", "adjacency", "isomorphism"])
def test_each_table_is_judged_by_its_own_data_set(judged, name, family):
    if family == "isomorphism" and name in NODES:
        pytest.skip("nodes have no row of the truth")
    table = f"table-2-1-{name}" if name in NODES else f"table-a-1-{name}"
    depths = range(1, 6) if name in NODES else range(3)
    if family == "isomorphism":
        table, depths = f"table-a-1-truth-{name}", range(1)
    for depth in depths:
        found = judged(STUDY, studies.get(STUDY).at("smoke"), tables(name, family, depth))
        found = {k: v for k, v in found.items() if k.startswith("table") and "printed" not in k}
        assert {k for k, v in found.items() if v == "fails"} == {table}
        assert len(found) == 13 and set(found.values()) == {"holds", "fails"}


def test_graphs_that_refinement_merges_are_told_by_isomorphism():
    """A hexagon, two triangles, and the hexagon again."""
    from dynascope.graphs import union
    from dynascope.graphs.pairs import HEXAGON

    graphs = union([HEXAGON.first, HEXAGON.second, HEXAGON.first])
    found = runs._graph_classes(graphs, 2)
    assert found["wl"] == [1, 1, 1] and found["isomorphism"] == [2]


def test_a_difference_at_one_size_and_depth_is_one_difference():
    small = {3: {"wl": [1, 2, 4, 4], "adjacency": [1, 2, 3, 4], "injective": [1, 4]}}
    everywhere = slice(None)
    assert measures.unlike_refinement(small, "adjacency", everywhere, everywhere).value == 1
    assert measures.unlike_refinement(small, "injective", slice(1, 2), slice(2, 3)).value == 0
    assert measures.unlike_refinement(small, "injective", slice(1, 2), slice(1, 2)).value == 1


def test_without_the_data_folder_the_study_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.delenv("DYNASCOPE_DATA", raising=False)
    monkeypatch.setenv("DYNASCOPE_HOME", str(tmp_path))
    outcome = run(STUDY, "smoke", store=Store(tmp_path / "store"), progress=False)
    claims = {c.id.split("/")[1]: c for c in outcome.claims}
    assert claims["table-2-1-cora"].verdict == "not_applicable"
    assert "set DYNASCOPE_DATA" in claims["table-2-1-cora"].note
    assert claims["small-graphs-adjacency"].verdict == "holds"
    assert [c.name for c in outcome.charts] == ["headline", "small-graphs"]
    assert any("'citation graphs' is left out" in note for note in outcome.result.notes)


def test_finding_a_data_set_makes_another_record(tmp_path, monkeypatch):
    """An answer from the store must not hide a data set that came later."""
    monkeypatch.setenv("DYNASCOPE_DATA", str(tmp_path))
    study = studies.get(STUDY)
    before = request(study, study.at("smoke"), "smoke")
    (tmp_path / "planetoid").mkdir()
    (tmp_path / "planetoid" / "ind.pubmed.graph").write_text("")
    assert request(study, study.at("smoke"), "smoke") != before


def test_headline_counts_the_graphs_that_the_gcn_operator_merges(outcome):
    merged, deep = outcome.charts[0].panels[0].marks
    assert merged.x == (2, 3, 4, 5, 6)
    assert merged.y == (1, 2, 5, 9, 26)  # 2 - 1, 4 - 2, 11 - 6, 34 - 25, 156 - 130
    assert deep.y == (0, 0, 0, 0, 4)
