from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import islice

import networkx as nx
import numpy as np
import pytest

from dynascope.core.errors import UnknownName
from dynascope.graphs import as_graph, count_classes, families, from_edges, operators, partitions
from dynascope.graphs.family import levels

from .samples import neighbours, permuted, random_graph, refines, same_partition, walk_rows

EXACT = ("wl", "adjacency", "power", "triangle", "injective")
REAL = ("normalized", "self_loop", "bethe", "ppr")


def test_the_known_families_are_those_of_the_manual():
    assert set(families.names()) == {*EXACT, *REAL}
    with pytest.raises(UnknownName, match="did you mean 'adjacency'"):
        count_classes(nx.path_graph(3), 1, "adjacencies")


@pytest.mark.parametrize("seed", range(4))
def test_adjacency_classes_equal_rows_of_walk_counts(seed):
    graph = random_graph(seed, nodes=60, edges=90, loops=seed % 2 == 0)
    rows = partitions(graph, 30, "adjacency")
    for depth in (1, 2, 5, 30):
        assert same_partition(rows[depth], walk_rows(graph, depth))


@pytest.mark.parametrize(("family", "build"), [
    ("power", operators.power_graph), ("triangle", operators.triangle),
])  # fmt: skip
def test_other_whole_number_families_equal_dense_powers(family, build):
    graph = random_graph(5, nodes=50, edges=120)
    dense = build(graph).toarray().astype(object)
    values, seen = np.ones(50, dtype=object), [()] * 50
    rows = partitions(graph, 8, family)
    for depth in range(1, 9):
        values = dense @ values
        seen = [(*s, v) for s, v in zip(seen, values.tolist(), strict=True)]
        assert same_partition(rows[depth], seen)


def many_digits(family: str, graph, depth: int) -> list[tuple[Decimal, ...]]:
    """Features of a real family with 60 digits, rounded to 40: a witness for float64."""
    a = graph.adjacency.toarray()
    d = [Decimal(int(x)) for x in graph.degrees]
    n = len(d)
    if family == "bethe":
        c = sum(d) / n
        entry = [[(c.sqrt() * int(a[i, j])) + (9 - c - d[i] if i == j else 0) for j in range(n)]
                 for i in range(n)]  # fmt: skip
    else:
        loop = 1 if family == "self_loop" else 0
        scale = [1 / (x + loop).sqrt() if x + loop else Decimal(0) for x in d]
        entry = [[(int(a[i, j]) + loop * (i == j)) * scale[i] * scale[j] for j in range(n)]
                 for i in range(n)]  # fmt: skip
    values, rows = [Decimal(1)] * n, [()] * n
    for _ in range(depth):
        values = [sum((entry[i][j] * values[j] for j in range(n)), Decimal(0)) for i in range(n)]
        rows = [(*r, v.quantize(Decimal(10) ** -40)) for r, v in zip(rows, values, strict=True)]
    return rows


@pytest.mark.parametrize("family", ["normalized", "self_loop", "bethe"])
@pytest.mark.parametrize("seed", range(3))
def test_real_families_agree_with_sixty_digits(family, seed):
    graph = random_graph(seed, nodes=30, edges=40)
    with localcontext() as context:
        context.prec = 60
        expected = many_digits(family, graph, 6)
    rows = partitions(graph, 6, family)
    for depth in (1, 2, 6):
        assert same_partition(rows[depth], [row[:depth] for row in expected])


def test_the_error_of_the_bethe_family_counts_the_terms_of_its_diagonal():
    graph = random_graph(1, nodes=30, edges=45)
    power = next(families.get("bethe").prepare(graph)(np.ones(30, int)))
    terms = 9 + graph.degrees.mean() + graph.degrees
    assert (power.error > (graph.degrees.max() + 8) * np.finfo(float).eps * terms).all()


@pytest.mark.parametrize("seed", range(3))
def test_pagerank_agrees_with_exact_fractions(seed):
    """D^1/2 P D^-1/2 = t (I - (1-t) A D^-1)^-1 is rational on a graph of square degrees."""
    graph = as_graph(nx.random_regular_graph(4, 12, seed=seed))
    rows = partitions(graph, 2, "ppr", features=np.arange(12) % 2)
    expected = rational_pagerank(
        graph, [(Fraction(int(k % 2 == c))) for c in (0, 1) for k in range(12)]
    )
    assert same_partition(rows[1], expected)


def rational_pagerank(graph, columns: list[Fraction]) -> list[tuple[Fraction, ...]]:
    n, t = graph.nodes, Fraction(3, 20)
    matrix = [[Fraction(int(i == j)) - (1 - t) * Fraction(int(j in around), 4) for j in range(n)]
              for i, around in enumerate(neighbours(graph))]  # fmt: skip
    solved = []
    for c in range(2):
        rows = [[*matrix[i], t * columns[c * n + i]] for i in range(n)]
        for i in range(n):
            pivot = next(k for k in range(i, n) if rows[k][i] != 0)
            rows[i], rows[pivot] = rows[pivot], rows[i]
            rows[i] = [x / rows[i][i] for x in rows[i]]
            for k in range(n):
                if k != i and rows[k][i] != 0:
                    rows[k] = [x - rows[k][i] * y for x, y in zip(rows[k], rows[i], strict=True)]
        solved.append([row[n] for row in rows])
    return list(zip(*solved, strict=True))


@pytest.mark.parametrize("family", families.names())
def test_classes_never_merge_again_and_ignore_numbering(family):
    graph = random_graph(8, nodes=40, edges=60)
    order = np.random.default_rng(1).permutation(40)
    rows, moved = partitions(graph, 4, family), partitions(permuted(graph, order), 4, family)
    for depth in range(5):
        assert same_partition(rows[depth][order], moved[depth])
        assert depth == 0 or refines(rows[depth], rows[depth - 1])


@pytest.mark.parametrize("seed", range(5))
def test_message_passing_sees_what_powers_of_the_adjacency_see_at_the_same_depth(seed):
    graph = random_graph(seed, nodes=50, edges=80)
    start = np.random.default_rng(seed).integers(0, 2, 50)
    fine = partitions(graph, 5, "wl", features=start)
    coarse = partitions(graph, 5, "adjacency", features=start, include_identity=True)
    assert all(refines(fine[k], coarse[k]) for k in range(6))


@pytest.mark.parametrize("family", ["normalized", "self_loop"])
@pytest.mark.parametrize("seed", range(5))
def test_one_more_round_sees_what_normalised_powers_see(family, seed):
    graph = random_graph(seed, nodes=50, edges=80)
    start = np.random.default_rng(seed).integers(0, 2, 50)
    fine = partitions(graph, 6, "wl", features=start)
    coarse = partitions(graph, 5, family, features=start, include_identity=True)
    assert all(refines(fine[k + 1], coarse[k]) for k in range(6))


def test_the_extra_round_is_needed_for_normalised_powers():
    graph = nx.path_graph(5)  # nodes 1 and 2 have degree 2, their neighbours differ
    assert not refines(partitions(graph, 1, "wl")[1], partitions(graph, 1, "normalized")[1])


def test_depth_zero_holds_one_class_or_the_features():
    graph, start = nx.path_graph(4), [0, 1, 2, 0]
    assert partitions(graph, 0, "adjacency", features=start).tolist() == [[0, 0, 0, 0]]
    with_identity = partitions(graph, 0, "adjacency", features=start, include_identity=True)
    assert with_identity.tolist() == [[0, 1, 2, 0]]


@pytest.mark.parametrize("family", families.names())
def test_exact_families_state_no_tolerance_and_real_ones_a_small_one(family):
    level = list(islice(levels(random_graph(1), family), 4))[-1]
    assert (level.tolerance == 0) == (family in EXACT)
    assert level.tolerance < 1e-10


@pytest.mark.parametrize("family", families.names())
def test_graphs_without_edges_and_single_nodes_are_one_class(family):
    assert count_classes(from_edges([], 4), range(3), family) == [1, 1, 1]
    assert count_classes(from_edges([(0, 0)], 1), range(3), family) == [1, 1, 1]


def test_regular_graphs_are_one_class_for_normalised_families():
    graph = nx.random_regular_graph(3, 50, seed=0)
    for family in ("wl", "adjacency", "normalized", "self_loop", "bethe", "ppr", "injective"):
        assert count_classes(graph, 6, family) == 1
