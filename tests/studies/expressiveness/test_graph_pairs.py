"""Graph pairs: measuring functions at known answers, and what the charts show."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dynascope.graphs.pairs import FOURTEEN, REGULAR
from dynascope.studies import studies
from dynascope.studies.expressiveness.graph_pairs import claims as measures
from dynascope.studies.expressiveness.graph_pairs import runs

STUDY = "graph-pairs"


def test_walks_of_both_graphs_are_compared():
    """2^k walks on the cycle and 4^k on the circulant: unequal at each node and each length."""
    settings = studies.get(STUDY).at("smoke")
    everywhere = measures.every_node(8)
    assert measures.unequal_sums(settings, REGULAR, everywhere).value == 8 * settings.powers
    within_one = (((1,), (2,)),)  # nodes of a regular graph are alike
    assert measures.unequal_sums(settings, REGULAR, within_one).value == 0
    ends = (((9,), (1,)),)  # a leaf has one walk of length 1, node 1 has four
    assert measures.unequal_sums(settings, FOURTEEN, ends).value == settings.powers


@pytest.mark.parametrize(
    ("operator", "rows"),
    [
        ("min(A^2, 1)", (3, 3)),
        ("min((I + A)^2, 1)", (5, 3)),
        ("A ∘ A^2", (0, 2)),
    ],
)
def test_row_sums_on_the_hexagon_and_on_two_triangles(operator, rows):
    found = runs.row_sums.function(None, runs.pairs.function(None))
    hexagon, triangles = found[operator, "hexagon"]
    assert (hexagon == rows[0]).all() and (triangles == rows[1]).all()
    assert measures.gap_of_rows(found, operator, "hexagon").value == abs(rows[0] - rows[1])


def test_one_half_twice_is_one():
    """Of the multisets {}, 1, 2, 11, 12, 22 with alpha = 1 those with sum 1 are 1 and 22."""
    assert measures.collisions([Fraction(1), Fraction(1, 2)]).value == 2
    assert measures.collisions([Fraction(1), Fraction(1, 4)]).value == 0


def test_a_pair_told_too_late_does_not_count():
    told = {"one": {"wl": 2, "adjacency": np.inf}, "two": {"wl": 0, "adjacency": 3}}
    assert measures.pairs_told(told, ("one", "two"), ("wl", "adjacency")).value == 3
    assert measures.pairs_told(told, ("one", "two"), ("wl", "adjacency"), 1).value == 1


def test_the_first_depths_at_which_message_passing_tells():
    found = runs.told.function(None, runs.pairs.function(None))
    depths = {name: row["wl"] for name, row in found.items()}
    assert depths["fourteen-nodes"] == 2 and depths["regular"] == 1
    assert depths["hexagon"] == depths["a graph renumbered"] == np.inf
    assert runs.roots_told.function(None)["branches"]["wl"] == 2


def test_only_the_highest_degrees_must_differ():
    degrees = {4: np.array([[3, 2, 2, 1], [3, 3, 2, 1]])}
    assert measures.highest_distinct(degrees, 4, 2).value == 0.5
    assert measures.highest_distinct(degrees, 4, 4).value == 0


def test_nodes_1_and_2_are_alike_in_one_graph_only(outcome):
    headline, fourteen, _ = outcome.charts
    drawn = fourteen.panels[0].marks[0]
    assert len(drawn.names) == 28 and len(drawn.edges) == 32
    nodes = dict(zip(drawn.names[:14], drawn.values[:14]))
    others = dict(zip(drawn.names[14:], drawn.values[14:]))
    assert nodes["1"] == nodes["2"] and others["1"] != others["2"]
    rounds, powers = headline.panels[0].marks
    assert rounds.y[:3] == (1, 4, 7) and powers.y[1] == 4
