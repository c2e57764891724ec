"""Numbering equal things: rows of numbers, pairs of labels, multisets of colours; all exact.

Labels are numbered by first occurrence, so that they depend on the partition alone, never on
the random words that make the search for equal multisets quick.
"""

from __future__ import annotations

import numpy as np


def first_occurrence(labels: np.ndarray) -> np.ndarray:
    """Renumber whole-number labels 0, 1, ... in the order in which they appear.

    Example:
        >>> first_occurrence(np.array([7, 3, 7, 5])).tolist()
        [0, 1, 0, 2]
    """
    return _by_position(*_groups(labels))


def _groups(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The group of each key, and the place of the first key of each group.

    Does what np.unique does with an index and an inverse, but need not sort stably, which
    makes it several times as fast.
    """
    order = np.argsort(keys)
    ordered = keys[order]
    fresh = np.ones(len(keys), dtype=bool)
    fresh[1:] = ordered[1:] != ordered[:-1]
    groups = np.empty(len(keys), dtype=np.int64)
    groups[order] = np.cumsum(fresh) - 1
    starts = np.flatnonzero(fresh)
    return groups, np.minimum.reduceat(order, starts) if len(keys) else starts


def _by_position(groups: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Groups renumbered by the places of their first members."""
    leads = np.zeros(len(groups), dtype=np.int64)
    leads[first] = 1
    return (np.cumsum(leads) - 1)[first[groups]]


def meet(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The labels of pairs: two nodes agree exactly when they agree on both sides.

    Example:
        >>> meet(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])).tolist()
        [0, 1, 2, 2]
    """
    return first_occurrence(left * (int(right.max()) + 1) + right)


def group_values(values: np.ndarray, error: np.ndarray | None = None) -> np.ndarray:
    """Label equal numbers alike; whole numbers exactly, floats up to a known error.

    A float with error e stands for the interval from value - e to value + e. Chains of
    intervals that meet share a label, so that numbers which are truly equal always agree.

    Example:
        >>> group_values(np.array([1.0, 3.0, 1.0 + 1e-15]), np.full(3, 1e-12)).tolist()
        [0, 1, 0]
        >>> group_values(np.array([2**70, 5, 2**70], dtype=object)).tolist()
        [0, 1, 0]
    """
    if values.dtype == object:  # Python's big integers: np.unique would compare them one by one
        seen: dict[int, int] = {}
        return np.array([seen.setdefault(v, len(seen)) for v in values], dtype=np.int64)
    if error is None:
        return first_occurrence(values)
    order = np.argsort(values - error)
    reach = np.maximum.accumulate((values + error)[order])  # the furthest end so far
    labels = np.zeros(len(values), dtype=np.int64)
    labels[order[1:]] = np.cumsum((values - error)[order[1:]] > reach[:-1])
    return first_occurrence(labels)


def random_words(count: int) -> np.ndarray:
    """(count,) fresh random 64-bit words; a new draw for every use, so no input can aim at it."""
    return np.random.default_rng().integers(0, 2**64, count, dtype=np.uint64)


def group_multisets(
    own: np.ndarray, starts: np.ndarray, members: np.ndarray, words: np.ndarray | None = None
) -> np.ndarray:
    """Label rows alike exactly when their own colour and their multiset of members agree.

    Rows are grouped by the sum modulo 2^64 of one random word per colour; then every row is
    compared, sorted member by member, with the first row of its group. Where the words
    collided the group is split by the members themselves.

    Args:
        own: (rows,) the colour of each row itself, from 0 on.
        starts: (rows + 1,) where the members of each row begin.
        members: Colours of the members, from 0 on, row after row.
        words: Two words for each colour (members, then rows); None for random ones.

    Returns:
        (rows,) labels by first occurrence.

    Example:
        >>> starts, members = np.array([0, 2, 4, 5]), np.array([1, 2, 2, 1, 1])
        >>> group_multisets(np.zeros(3, int), starts, members).tolist()
        [0, 0, 1]
    """
    colours = 1 + max(int(own.max(initial=0)), int(members.max(initial=0)))
    if words is None:
        words = random_words(2 * colours)
    running = np.zeros(len(members) + 1, dtype=np.uint64)
    np.cumsum(words[members], out=running[1:])  # wraps around, which is what we want
    keys = running[starts[1:]] - running[starts[:-1]] + words[colours + own]
    labels, first = _groups(keys)
    rows = np.flatnonzero(first[labels] != np.arange(len(own)))  # all but the first of a group
    wrong = _unlike_first(own, starts, members, rows, first[labels[rows]])
    if len(wrong):
        return _split(own, starts, members, labels, wrong)
    return _by_position(labels, first)


def _unlike_first(
    own: np.ndarray, starts: np.ndarray, members: np.ndarray, rows: np.ndarray, heads: np.ndarray
) -> np.ndarray:
    """The rows that differ from the head of their group in colour, size or members."""
    sizes = np.diff(starts)
    differs = (own[rows] != own[heads]) | (sizes[rows] != sizes[heads])
    alike = np.flatnonzero(~differs)
    left, right = rows[alike], heads[alike]
    begin, content = _sorted_rows(starts, members, np.concatenate([left, right]))
    lengths = sizes[left]
    unequal = content[positions(begin[left], lengths)] != content[positions(begin[right], lengths)]
    differs[alike[np.repeat(np.arange(len(alike)), lengths)[unequal]]] = True
    return rows[differs]


def _sorted_rows(
    starts: np.ndarray, members: np.ndarray, wanted: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Where each wanted row begins in the second array, which holds their sorted members."""
    begin = np.zeros(len(starts) - 1, dtype=np.int64)
    begin[wanted] = 1
    rows = np.flatnonzero(begin)
    lengths = np.diff(starts)[rows]
    begin[rows] = np.cumsum(lengths) - lengths
    content = members[positions(starts[rows], lengths)]
    # one sort for all rows: the row's number in front keeps them apart
    front = np.repeat(np.arange(len(rows)) * (int(content.max(initial=0)) + 1), lengths)
    content = np.sort(content + front) - front
    return begin, content


def positions(begin: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Places of whole rows, one after another: begin[0], begin[0] + 1, ..., begin[1], ...

    Example:
        >>> positions(np.array([4, 0]), np.array([2, 3])).tolist()
        [4, 5, 0, 1, 2]
    """
    before = np.cumsum(lengths) - lengths
    return np.repeat(begin - before, lengths) + np.arange(int(lengths.sum()))


def _split(
    own: np.ndarray, starts: np.ndarray, members: np.ndarray, labels: np.ndarray, wrong: np.ndarray
) -> np.ndarray:
    """Groups with a collision, regrouped by the sorted members themselves."""
    labels = labels.copy()
    seen: dict[tuple[int, bytes], int] = {}
    new = int(labels.max()) + 1
    for row in np.flatnonzero(np.isin(labels, labels[wrong])):
        content = np.sort(members[starts[row] : starts[row + 1]]).tobytes()
        labels[row] = seen.setdefault((int(own[row]), content), new + len(seen))
    return first_occurrence(labels)
