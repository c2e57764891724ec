"""How many rooted trees there are, and how many of them a family tells apart.

All counts are exact big integers (Propositions 2.3, 2.4 and 2.6, Lemmas A.6 and A.7); features
are 0 and 1. Words: m is `branching`, the number of children of every inner node; K is `depth`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product
from math import comb, prod

Polynomial = Counter[tuple[int, ...]]  # exponents of z_0, z_1, ... -> coefficient


def count_full_trees(branching: int, depth: int) -> int:
    """Full m-ary trees with two features up to isomorphism: what refinement tells apart.

    Example:
        >>> [count_full_trees(3, depth) for depth in range(4)]
        [2, 8, 240, 4665760]
    """
    count = 2
    for _ in range(depth):
        count = 2 * comb(count + branching - 1, branching)
    return count


def count_level_classes(branching: int, depth: int) -> int:
    """Classes of those trees by the number of zeros on each level.

    No family of operators that depend on the topology alone sees more at the root.

    Example:
        >>> count_level_classes(3, 3)
        2240
    """
    return prod(branching**k + 1 for k in range(depth + 1))


def trees_by_level_zeros(branching: int, depth: int) -> Polynomial:
    """For every (q_0, ..., q_K) the number of full trees with q_k zeros on level k (A.19).

    A generating function: choosing m subtrees without order is the complete homogeneous
    symmetric function h_m, from power sums by Newton's identity m h_m = sum_j p_j h_(m-j).

    Example:
        >>> trees_by_level_zeros(2, 2)[1, 1, 3]
        2
    """
    trees: Polynomial = Counter({(0,): 1, (1,): 1})
    for _ in range(depth):
        forests = _multisets(trees, branching)
        trees = Counter({(root, *below): n for root in (0, 1) for below, n in forests.items()})
    return trees


def _multisets(trees: Polynomial, size: int) -> Polynomial:
    levels = len(next(iter(trees)))
    chosen: list[Polynomial] = [Counter({(0,) * levels: 1})]
    for m in range(1, size + 1):
        total: Polynomial = Counter()
        for j in range(1, m + 1):
            for (a, n), (b, k) in product(trees.items(), chosen[m - j].items()):
                total[tuple(j * x + y for x, y in zip(a, b))] += n * k
        chosen.append(Counter({q: n // m for q, n in total.items()}))
    return chosen[size]


def balanced_level_zeros(branching: int, depth: int) -> Iterator[tuple[int, ...]]:
    """Every (q_0, ..., q_K) in the range of (A.20), for which Lemma A.7 promises many trees."""
    low = [0, 0, *(2**k - 2 ** (k - 2) for k in range(2, depth + 1))]
    high = [1, branching, *(branching**k // 2 for k in range(2, depth + 1))]
    yield from product(*(range(a, b + 1) for a, b in zip(low[: depth + 1], high[: depth + 1])))


def balanced_tree_bound(depth: int) -> int:
    """Lemma A.7: at least 2^(2^(K-1) - 1) trees for each balanced tuple, K >= 1.

    Example:
        >>> [balanced_tree_bound(depth) for depth in (1, 2, 3, 4)]
        [1, 2, 8, 128]
    """
    return 2 ** (2 ** (depth - 1) - 1)


def count_aggregation_trees(branching: int, depth: int) -> int:
    """Aggregation trees with m children everywhere and two features.

    A node's parent is among its neighbours, so the parent's feature must occur among the
    node's children: trees below a node of feature x with parent of feature p are multisets of
    m children, minus the multisets that lack p.

    Example:
        >>> [count_aggregation_trees(3, depth) for depth in (1, 2, 3)]
        [8, 112, 268088]
    """
    below = {(x, p): 1 for x in (0, 1) for p in (0, 1)}  # b(k, x, p): own feature, parent's
    for _ in range(depth - 1):
        below = {
            (x, p): _choose(below[0, x] + below[1, x], branching)
            - _choose(below[1 - p, x], branching)
            for x in (0, 1)
            for p in (0, 1)
        }
    return sum(_choose(below[0, x] + below[1, x], branching) for x in (0, 1))


def _choose(kinds: int, size: int) -> int:
    """Multisets of a size from so many kinds."""
    return comb(kinds + size - 1, size)


def aggregation_tree_bound(branching: int, depth: int) -> int:
    """Lemma A.6: at least (m - 1)^(2^K - 1) aggregation trees.

    Example:
        >>> [aggregation_tree_bound(3, depth) for depth in (1, 2, 3, 4)]
        [2, 8, 128, 32768]
    """
    return (branching - 1) ** (2**depth - 1)


def feature_class_bound(
    branching: int, depth: int, alphabet: int = 2, printed: bool = False
) -> int:
    """Prop 2.4: at most so many classes for the powers 0..K of a normalised adjacency.

    A walk of length k is of one of N_k = |X| m (k + m - 2)^(m - 1) types, and there are at most
    m^k walks: C(m^k + N_k, N_k) ways to count them, at most. The identity adds |X|.

    Args:
        branching: m, the largest degree.
        depth: K.
        alphabet: |X|, the number of features.
        printed: Use C(m^k + N_k - 1, N_k) as printed, which misses the case of all m^k walks.

    Returns:
        The bound.
    """
    bound = alphabet
    for k in range(1, depth + 1):
        types = alphabet * branching * (k + branching - 2) ** (branching - 1)
        bound *= comb(branching**k + types - printed, types)
    return bound
