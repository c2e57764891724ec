"""Prop. 2.2 on random graphs: what its operators tell apart, and what its proof stands on.

The proof names a graph by the degrees of each node's neighbours among the r nodes of highest
degree (Lemma A.5). That needs the r highest degrees to be distinct, which is true of almost all
graphs in the limit; how far away the limit is can be measured.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from dynascope.graphs import distinguish
from dynascope.studies.base import claim
from dynascope.studies.comparisons import Evidence, at_least, compare, share

if TYPE_CHECKING:
    import networkx as nx

NODES, PAIRS = 24, 100  # pairs of random graphs with the same degrees
SIZES, GRAPHS = (50, 200, 1000), 20  # random graphs for Lemma A.5


@claim(
    "random-pairs",
    "D and A D^-alpha tell apart almost all pairs of non-isomorphic random graphs, even when all "
    "degrees agree.",
    "002 Prop. 2.2 (with o(1) for the printed 1 - o(1))",
)
def random_pairs(study: Any, found: Any) -> Evidence:
    """Share of pairs told; D alone must tell none of them."""
    pairs = [_same_degrees(seed) for seed in range(PAIRS)]
    told = np.array([bool(distinguish(*pair, "injective", 1)) for pair in pairs])
    degrees = np.array([_degrees(one) != _degrees(two) for one, two in pairs])
    return compare(at_least(0.95), share(told), ("the degrees alone", share(degrees)))


@claim(
    "highest-degrees",
    "The floor(3 log2 n) highest degrees of a random graph are distinct, as the proof wants, at "
    f"n = {SIZES[-1]}.",
    "002 Lemma A.5, read at a size that can be computed",
)
def highest_degrees(study: Any, found: Any) -> Evidence:
    """Share of random graphs; that all but one degree differ must be true of none."""
    shares = {n: _distinct(n, int(3 * np.log2(n))) for n in SIZES}
    listed = ", ".join(f"{s.mean():.2f} at n = {n}" for n, s in shares.items())
    return compare(
        at_least(0.5), share(shares[SIZES[-1]]),
        ("the n - 1 highest", share(_distinct(SIZES[-1], SIZES[-1] - 1))),
        f"Shares {listed}: the lemma speaks of the limit, far beyond these sizes. What it is used "
        "for, telling graphs apart, works long before (random-pairs).",
    )  # fmt: skip


def _same_degrees(seed: int) -> tuple[nx.Graph, nx.Graph]:
    """Two random graphs with the same degree at every node, not isomorphic."""
    import networkx as nx

    first = nx.gnp_random_graph(NODES, 0.5, seed=seed)
    for attempt in count():
        second = nx.double_edge_swap(first.copy(), 60, 10_000, seed=1000 * attempt + seed)
        if not nx.is_isomorphic(first, second):
            return first, second
    raise AssertionError("unreachable")


def _degrees(graph: nx.Graph) -> list[int]:
    return sorted(d for _, d in graph.degree)


def _distinct(nodes: int, highest: int) -> np.ndarray:
    """Per random graph, whether its highest degrees are all different."""
    rng = np.random.default_rng(nodes)
    seen = []
    for _ in range(GRAPHS):
        upper = np.triu(rng.random((nodes, nodes)) < 0.5, 1)
        degrees = np.sort((upper + upper.T).sum(axis=1))[::-1]
        seen.append(bool(np.all(np.diff(degrees[:highest]) < 0)))
    return np.array(seen)
