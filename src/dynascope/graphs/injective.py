"""The operator A D^-alpha that keeps neighbour degrees apart, in exact arithmetic (Prop 2.2).

With alpha large enough the sum of d^-alpha over the neighbours determines the multiset of
their degrees (Lemma A.4). In float64 it underflows (100^-459), so it is computed in whole
numbers: all values are multiplied by L^(alpha k), L the least common multiple of the degrees.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import count

import numpy as np

from dynascope.core.errors import bad
from dynascope.graphs.graph import Graph
from dynascope.graphs.operators import BYTES_ALLOWED
from dynascope.graphs.powers import Power, big_product


def injective_exponent(largest: int) -> int:
    """The smallest whole alpha for which sums of u^-alpha determine the multiset.

    Multisets hold at most `largest` numbers from 1 to `largest`. Lemma A.4 asks for
    alpha > log n / (log n - log(n - 1)), which means n^(alpha - 1) > (n - 1)^alpha.

    Example:
        >>> [injective_exponent(n) for n in (2, 3, 4, 5, 6, 7, 100)]
        [2, 3, 5, 8, 10, 13, 459]
    """
    if largest < 2:
        return 1
    bound = math.log(largest) / -math.log1p(-1 / largest)
    return math.floor(bound * (1 + 1e-12)) + 1  # rounding must not put alpha below the bound


def injective_size(graph: Graph, depth: int) -> int:
    """Bytes of one exact value per node at a depth, before anything is computed."""
    degrees = [1, *np.unique(graph.degrees[graph.degrees > 0]).tolist()]
    alpha = injective_exponent(degrees[-1])
    bits = depth * (alpha * math.lcm(*degrees).bit_length() + degrees[-1].bit_length())
    return graph.nodes * (bits // 8 + 32)  # 32: Python's header and the pointer


def injective_powers(graph: Graph, vector: np.ndarray) -> Iterator[Power]:
    """D x with (A D^-alpha) x, then (A D^-alpha)^2 x, ...; values of depth k times L^(alpha k).

    Args:
        graph: The graph; alpha comes from its largest degree.
        vector: (nodes,) whole numbers.

    Yields:
        One `Power` for each exponent from 1 on; the first also holds D x.
    """
    if vector.dtype.kind not in "iO":
        raise bad("features", str(vector.dtype), "whole numbers for the family injective")
    degrees = graph.degrees.tolist()
    present = sorted(set(degrees) - {0})
    _refuse_large(graph, 1)
    alpha, common = injective_exponent(max(present, default=1)), math.lcm(*present)
    table = {d: (common // d) ** alpha for d in present} | {0: 0}
    scale = np.array([table[d] for d in degrees], dtype=object)
    values = big_product(graph.adjacency, scale * vector)
    yield Power((graph.degrees * vector, values))
    for depth in count(2):
        _refuse_large(graph, depth)
        values = big_product(graph.adjacency, scale * values)
        yield Power((values,))


def _refuse_large(graph: Graph, depth: int) -> None:
    size = injective_size(graph, depth)
    if size > BYTES_ALLOWED:
        raise bad(
            "family injective",
            f"depth {depth} with degrees up to {int(graph.degrees.max())}",
            f"at most {BYTES_ALLOWED / 1e9:g} GB",
            f"it would need {size / 1e9:.1f} GB: without features depth 1 separates exactly "
            "what family wl separates at depth 2, use that",
        )
