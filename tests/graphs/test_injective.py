from __future__ import annotations

import sys
from fractions import Fraction
from itertools import combinations_with_replacement, islice

import networkx as nx
import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.graphs import as_graph, count_classes, from_edges
from dynascope.graphs.injective import (
    injective_exponent,
    injective_powers,
    injective_size,
)

from .samples import neighbours, random_graph, same_partition


def test_the_exponent_is_the_smallest_that_satisfies_the_lemma_in_whole_numbers():
    for n in range(2, 200):
        alpha = injective_exponent(n)
        assert n ** (alpha - 1) > (n - 1) ** alpha
        assert n ** (alpha - 2) <= (n - 1) ** (alpha - 1)


def test_at_that_exponent_floats_vanish():
    assert injective_exponent(100) == 459
    assert 100.0**-459 == 0.0


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_sums_determine_the_multiset(n):
    alpha = injective_exponent(n)
    bags = [
        b for size in range(n + 1) for b in combinations_with_replacement(range(1, n + 1), size)
    ]
    sums = {sum((Fraction(1, u**alpha) for u in bag), Fraction(0)) for bag in bags}
    assert len(sums) == len(bags)


def test_an_exponent_of_one_is_not_enough():
    assert Fraction(1, 2) + Fraction(1, 2) == Fraction(1, 1)


def test_values_equal_fractions_times_the_common_scale():
    graph = random_graph(1, nodes=15, edges=25)
    around = neighbours(graph)
    alpha = injective_exponent(int(graph.degrees.max()))
    common = int(np.lcm.reduce(graph.degrees[graph.degrees > 0]))
    exact = [Fraction(1)] * 15
    powers = injective_powers(graph, np.ones(15, int))
    for depth, power in enumerate(islice(powers, 3), start=1):
        exact = [
            sum((exact[j] / len(around[j]) ** alpha for j in around[i]), Fraction(0))
            for i in range(15)
        ]
        assert power.values[-1].tolist() == [e * common ** (alpha * depth) for e in exact]
        assert len(power.values) == (2 if depth == 1 else 1)  # the degrees come with the first


@pytest.mark.parametrize("seed", range(4))
def test_depth_one_separates_what_two_rounds_of_refinement_do(seed):
    graph = random_graph(seed, nodes=60, edges=90)
    assert count_classes(graph, 1, "injective") == count_classes(graph, 2, "wl")


def test_the_predicted_size_is_that_of_the_numbers():
    graph = as_graph(nx.gnp_random_graph(60, 0.3, seed=0))
    for depth in (1, 2, 3):
        values = list(islice(injective_powers(graph, np.ones(60, int)), depth))[-1].values[-1]
        real = sum(sys.getsizeof(v) for v in values)
        assert 0.9 < injective_size(graph, depth) / real < 1.2


def test_numbers_above_one_gigabyte_are_refused_before_they_are_computed():
    star = from_edges([(0, i) for i in range(1, 20_001)])
    assert injective_size(star, 1) > 10**9
    with pytest.raises(BadInput, match=r"GB.*family wl"):
        count_classes(star, 1, "injective")


def test_a_depth_that_grows_too_large_is_refused_when_it_is_reached(monkeypatch):
    graph = random_graph(0)
    monkeypatch.setattr("dynascope.graphs.injective.BYTES_ALLOWED", injective_size(graph, 2))
    assert count_classes(graph, 2, "injective") > 1
    with pytest.raises(BadInput, match="depth 3"):
        count_classes(graph, 3, "injective")


def test_features_must_be_whole_numbers():
    with pytest.raises(BadInput, match="whole numbers"):
        count_classes(nx.path_graph(3), 1, "injective", features=np.full((3, 1), 0.5))


def test_nodes_without_edges_have_value_zero():
    power = next(injective_powers(from_edges([(0, 1)], 3), np.ones(3, int)))
    assert power.values[0].tolist() == [1, 1, 0]
    assert power.values[1].tolist() == [1, 1, 0]
    assert next(injective_powers(from_edges([], 2), np.ones(2, int))).values[1].tolist() == [0, 0]


def test_top_degrees_of_a_random_graph_repeat_so_the_lemma_is_about_the_limit_only():
    for seed in range(5):
        degrees = sorted(dict(nx.gnp_random_graph(200, 0.5, seed=seed).degree).values())
        top = degrees[-22:]  # floor(3 log2 200)
        assert len(set(top)) < len(top)


def test_family_classes_equal_those_of_degree_and_neighbour_degrees():
    graph = random_graph(9, nodes=50, edges=70)
    around = neighbours(graph)
    expected = [tuple(sorted(len(around[j]) for j in around[i])) for i in range(50)]
    power = next(injective_powers(graph, np.ones(50, int)))
    assert same_partition(power.values[1].tolist(), expected)
