from __future__ import annotations

import numpy as np
import pytest

from dynascope.graphs.grouping import first_occurrence, group_multisets, group_values, meet

from .samples import same_partition


def rows_to_csr(rows):
    starts = np.cumsum([0, *(len(row) for row in rows)])
    return starts, np.array([c for row in rows for c in row], dtype=np.int64)


@pytest.mark.parametrize("seed", range(5))
def test_multisets_are_grouped_like_sorted_tuples(seed):
    random = np.random.default_rng(seed)
    rows = [random.integers(0, 3, random.integers(0, 5)).tolist() for _ in range(300)]
    own = random.integers(0, 2, 300)
    expected = [(int(o), tuple(sorted(row))) for o, row in zip(own, rows, strict=True)]
    labels = group_multisets(own, *rows_to_csr(rows))
    assert same_partition(labels, expected)
    assert (labels == first_occurrence(labels)).all()


def test_a_planted_collision_of_the_words_is_found_and_split():
    rows = [[0, 1], [2, 3], [1, 0], [3, 2], [0, 0]]
    words = np.array([5, 20, 10, 15, 7, 7, 7, 7], dtype=np.uint64)  # 5 + 20 = 10 + 15
    assert words[[0, 1]].sum() == words[[2, 3]].sum()
    labels = group_multisets(np.zeros(5, np.int64), *rows_to_csr(rows), words)
    assert labels.tolist() == [0, 1, 0, 1, 2]


def test_a_collision_that_wraps_around_is_split():
    rows = [[0, 0], [1, 1]]
    words = np.array([1, 2**63 + 1, 0, 0], dtype=np.uint64)  # twice each is 2 modulo 2^64
    assert group_multisets(np.zeros(2, np.int64), *rows_to_csr(rows), words).tolist() == [0, 1]


def test_rows_of_different_colour_or_size_never_merge_even_if_their_keys_do():
    rows = [[0], [0], [0, 1], []]
    words = np.zeros(4, dtype=np.uint64)
    labels = group_multisets(np.array([0, 1, 0, 0]), *rows_to_csr(rows), words)
    assert labels.tolist() == [0, 1, 2, 3]
    alike = group_multisets(np.array([0, 1]), *rows_to_csr([[0], [0]]), words)
    assert alike.tolist() == [0, 1]


def test_without_a_collision_no_group_is_taken_apart(monkeypatch):
    def never(*_):
        raise AssertionError("the slow way was taken")

    monkeypatch.setattr("dynascope.graphs.grouping._split", never)
    rows = [[3, 1, 2], [1, 2, 3], [2, 3, 1], [1, 1], [1, 1], []]
    labels = group_multisets(np.zeros(6, np.int64), *rows_to_csr(rows))
    assert labels.tolist() == [0, 0, 0, 1, 1, 2]


@pytest.mark.parametrize("seed", range(3))
def test_useless_words_change_nothing(seed):
    random = np.random.default_rng(seed)
    rows = [random.integers(0, 4, random.integers(0, 6)).tolist() for _ in range(100)]
    own = random.integers(0, 2, 100)
    starts, members = rows_to_csr(rows)
    zero = np.zeros(8, dtype=np.uint64)
    assert (
        group_multisets(own, starts, members, zero) == group_multisets(own, starts, members)
    ).all()


def test_rows_without_members_are_grouped_by_their_own_colour():
    labels = group_multisets(np.array([2, 1, 2]), np.zeros(4, np.int64), np.array([], np.int64))
    assert labels.tolist() == [0, 1, 0]


def test_floats_meet_only_where_their_errors_do():
    values = np.array([0.0, 1.0, 1.5, 3.0])
    assert group_values(values, np.zeros(4)).tolist() == [0, 1, 2, 3]
    assert group_values(values, np.array([0.0, 0.3, 0.3, 0.0])).tolist() == [0, 1, 1, 2]
    # a wide interval reaches over a narrow one in between
    assert group_values(values, np.array([0.0, 2.0, 0.0, 0.0])).tolist() == [0, 0, 0, 0]


def test_big_integers_that_a_float_cannot_hold_apart_are_held_apart():
    values = np.array([10**30, 10**30 + 1, 10**30], dtype=object)
    assert float(values[0]) == float(values[1])
    assert group_values(values).tolist() == [0, 1, 0]


def test_meet_splits_by_both():
    random = np.random.default_rng(0)
    left, right = random.integers(0, 4, 50), random.integers(0, 5, 50)
    assert same_partition(meet(left, right), list(zip(left.tolist(), right.tolist(), strict=True)))
