from __future__ import annotations

from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
from scipy import sparse

from dynascope.core.errors import BadInput
from dynascope.graphs import from_edges, operators
from dynascope.graphs.powers import big_product, integer_powers, matrix_powers

from .samples import neighbours, random_graph, walk_rows


@pytest.mark.parametrize("loops", [False, True])
def test_powers_equal_python_integers_far_beyond_64_bits(loops):
    graph = random_graph(3, nodes=20, edges=60, loops=loops)
    depth = 60
    rows = walk_rows(graph, depth)
    for k, values in enumerate(islice(integer_powers(graph.adjacency, np.ones(20, int)), depth)):
        assert values.tolist() == [row[k] for row in rows]
    assert max(rows)[-1] > 2**64


def test_entries_other_than_one_and_negative_numbers_stay_exact():
    matrix = sparse.csr_array(np.array([[3, -2], [0, 7]]))
    vector = np.array([5, -4])
    values = [v.tolist() for v in islice(integer_powers(matrix, vector), 40)]
    twin = vector.tolist()
    for row in values:
        twin = [3 * twin[0] - 2 * twin[1], 7 * twin[1]]
        assert row == twin


def test_a_product_without_entries_is_zero():
    assert big_product(from_edges([], 2).adjacency, np.array([1, 2], dtype=object)).tolist() == [
        0,
        0,
    ]


@pytest.mark.parametrize("seed", range(4))
def test_true_values_lie_within_the_stated_error(seed):
    graph = random_graph(seed, nodes=25, edges=50)
    powers = matrix_powers(operators.normalized(graph, 0.0, 1.0), np.ones(25, int))
    around, exact = neighbours(graph), [Fraction(1)] * 25
    for power in islice(powers, 12):
        exact = [
            sum((exact[j] / len(around[j]) for j in around[i]), Fraction(0)) for i in range(25)
        ]
        distance = [abs(Fraction(v) - e) for v, e in zip(power.values[0].tolist(), exact)]
        assert all(d <= Fraction(bound) for d, bound in zip(distance, power.error.tolist()))
        assert power.error.max() < 1e-12


def test_entries_that_are_differences_are_as_uncertain_as_their_terms():
    matrix = sparse.csr_array(np.array([[(0.1 + 0.2) - 0.3]]))  # 5.6e-17, truly 0
    size = sparse.csr_array(np.array([[0.6]]))
    assert next(matrix_powers(matrix, np.ones(1))).error[0] < 5e-17
    power = next(matrix_powers(matrix, np.ones(1), size))
    assert abs(power.values[0][0]) <= power.error[0]


def test_whole_numbers_have_no_error_and_floats_do():
    adjacency = random_graph(0).adjacency
    assert next(matrix_powers(adjacency, np.ones(30, int))).error is None
    assert next(matrix_powers(adjacency, np.full(30, 0.1))).error.max() > 0


def test_powers_that_leave_the_floats_are_refused_with_the_depth():
    matrix = sparse.csr_array(np.array([[1e200]]))
    powers = matrix_powers(matrix, np.ones(1))
    with np.errstate(over="ignore"), pytest.raises(BadInput, match="depth: got 2"):
        list(islice(powers, 3))
