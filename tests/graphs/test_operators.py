from __future__ import annotations

from itertools import islice

import networkx as nx
import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.graphs import as_graph, from_edges, operators, union
from dynascope.graphs.injective import injective_powers

from .samples import permuted, random_graph

BUILDERS = {
    "adjacency": operators.adjacency,
    "degree": operators.degree,
    "normalized": operators.normalized,
    "skewed": lambda g: operators.normalized(g, 0.3, 0.9),
    "self_loop": operators.self_loop,
    "half_loop": lambda g: operators.self_loop(g, 0.5),
    "power": operators.power_graph,
    "power_open": lambda g: operators.power_graph(g, diagonal=False),
    "power_closed": lambda g: operators.power_graph(g, closed=True),
    "triangle": operators.triangle,
    "bethe": operators.bethe_hessian,
    "shifted": operators.shifted_bethe_hessian,
}


def dense_twin(name, a):
    """Each operator from its formula on a dense matrix."""
    d = a.sum(axis=1)
    with np.errstate(divide="ignore"):
        inverse = {p: np.where(d > 0, d**-p, 0.0) for p in (0.3, 0.5, 0.9)}
    eye, c = np.eye(len(a)), d.mean()
    hessian = (c - 1) * eye - np.sqrt(c) * a + np.diag(d)
    two = np.minimum(a @ a, 1)
    looped = {e: np.diag((d + e) ** -0.5) @ (a + e * eye) @ np.diag((d + e) ** -0.5)
              for e in (0.5, 1.0)}  # fmt: skip
    return {
        "adjacency": a,
        "degree": np.diag(d),
        "normalized": np.diag(inverse[0.5]) @ a @ np.diag(inverse[0.5]),
        "skewed": np.diag(inverse[0.3]) @ a @ np.diag(inverse[0.9]),
        "self_loop": looped[1.0],
        "half_loop": looped[0.5],
        "power": two,
        "power_open": two - np.diag(np.diag(two)),
        "power_closed": np.minimum((a + eye) @ (a + eye), 1),
        "triangle": a * (a @ a),
        "bethe": hessian,
        "shifted": 8 * eye - hessian,
    }[name]


@pytest.mark.parametrize("name", BUILDERS)
@pytest.mark.parametrize("loops", [False, True])
def test_operator_equals_its_dense_formula(name, loops):
    graph = random_graph(4, nodes=25, edges=30, loops=loops)
    expected = dense_twin(name, graph.adjacency.toarray().astype(float))
    assert (graph.degrees == 0).any()  # nodes without edges are part of the test
    assert abs(BUILDERS[name](graph).toarray() - expected).max() < 1e-12


@pytest.mark.parametrize("name", BUILDERS)
def test_operator_commutes_with_renaming_nodes(name):
    graph = random_graph(7, nodes=20, edges=40)
    order = np.random.default_rng(0).permutation(20)
    moved = BUILDERS[name](permuted(graph, order)).toarray()
    assert abs(moved - BUILDERS[name](graph).toarray()[np.ix_(order, order)]).max() < 1e-12


def test_pagerank_and_the_injective_operator_commute_with_renaming_nodes():
    graph, random = random_graph(7, nodes=20, edges=40), np.random.default_rng(0)
    order, values = random.permutation(20), random.integers(0, 5, 20)
    renamed = permuted(graph, order)
    spread, moved = (
        operators.personalized_pagerank(g, x.astype(float))
        for g, x in ((graph, values), (renamed, values[order]))
    )
    assert abs(moved - spread[order]).max() < 1e-12
    powers = injective_powers(graph, values), injective_powers(renamed, values[order])
    for one, two in islice(zip(*powers), 3):
        assert all((b == a[order]).all() for a, b in zip(one.values, two.values, strict=True))


@pytest.mark.parametrize("name", ["adjacency", "power", "power_open", "power_closed", "triangle"])
def test_whole_number_operators_have_whole_numbers(name):
    assert BUILDERS[name](random_graph(0)).dtype == np.int64


def test_pagerank_equals_the_solved_system():
    graph = random_graph(4, nodes=25, edges=30)
    step = operators.normalized(graph).toarray()
    expected = 0.2 * np.linalg.inv(np.eye(25) - 0.8 * step)
    assert abs(operators.personalized_pagerank(graph, np.eye(25), 0.2) - expected).max() < 1e-12
    assert expected[graph.degrees == 0].sum(axis=1) == pytest.approx(0.2)


def test_hexagon_and_two_triangles_row_sums():
    hexagon = nx.cycle_graph(6)
    triangles = nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))

    def sums(**options):
        return [set(operators.power_graph(g, **options).sum(axis=1).tolist())
                for g in (hexagon, triangles)]  # fmt: skip

    assert sums() == [{3}, {3}]  # as printed, it does not tell them apart
    assert sums(diagonal=False) == [{2}, {2}]
    assert sums(closed=True) == [{5}, {3}]
    assert [set(operators.triangle(g).sum(axis=1).tolist()) for g in (hexagon, triangles)] == [
        {0},
        {2},
    ]


def test_triangle_counts_equal_networkx():
    source = nx.gnp_random_graph(40, 0.2, seed=3)
    counted = operators.triangle(source).sum(axis=1) // 2
    assert counted.tolist() == list(nx.triangles(source).values())


def test_triangle_does_not_depend_on_how_rows_are_blocked(monkeypatch):
    graph = random_graph(5, nodes=50, edges=300)
    whole = operators.triangle(graph).toarray()
    monkeypatch.setattr(operators, "BYTES_ALLOWED", 5000)
    assert (operators.triangle(graph).toarray() == whole).all()


def test_bethe_uses_the_average_degree_of_each_graph_of_a_union():
    path, clique = nx.path_graph(4), nx.complete_graph(5)
    both = operators.bethe_hessian(union([path, clique])).toarray()
    assert abs(both[:4, :4] - operators.bethe_hessian(path).toarray()).max() < 1e-12
    assert abs(both[4:, 4:] - operators.bethe_hessian(clique).toarray()).max() < 1e-12


def test_a_power_graph_that_would_not_fit_is_refused_with_its_size():
    with pytest.raises(BadInput, match=r"GB.*triangle"):
        operators.power_graph(nx.star_graph(10_000))


def test_graph_without_edges_has_zero_operators():
    empty = from_edges([], 3)
    for name in ("adjacency", "normalized", "power", "triangle"):
        assert BUILDERS[name](empty).toarray().tolist() == np.zeros((3, 3)).tolist()
    assert operators.self_loop(empty).toarray().tolist() == np.eye(3).tolist()


def test_teleport_must_be_a_probability():
    with pytest.raises(BadInput, match="teleport"):
        operators.personalized_pagerank(as_graph(nx.path_graph(2)), np.ones(2), 1.5)
