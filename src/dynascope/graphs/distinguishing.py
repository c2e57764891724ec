"""Can a family tell two graphs apart, and from which depth on?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from dynascope.core.errors import bad
from dynascope.graphs.conversion import as_graph, union
from dynascope.graphs.depth import one_depth
from dynascope.graphs.family import families, levels
from dynascope.graphs.graph import Graph


@dataclass(frozen=True)
class Distinction:
    """Whether a family tells two graphs apart; true in an `if` when it does.

    Attributes:
        family: The family asked.
        depth: The first depth at which the graphs differ, or None.
        searched: The largest depth looked at.
        witness: A node class that the graphs hold in different numbers: a node's name, which
            graph it is from (0 or 1), and the two numbers; None if nothing differs.
    """

    family: str
    depth: int | None
    searched: int
    witness: tuple[Any, int, tuple[int, int]] | None = None

    def __bool__(self) -> bool:
        return self.depth is not None


def distinguish(
    first: Any,
    second: Any,
    family: str = "wl",
    depth: int | None = None,
    *,
    features: Sequence[Any] | None = None,
    include_identity: bool = False,
) -> Distinction:
    """Can a family tell two graphs apart, and from which depth on?

    Args:
        first: A graph.
        second: Another graph.
        family: A name of `families`.
        depth: The largest depth to try; None for as deep as it can matter.
        features: The features of the first and of the second graph, or None.
        include_identity: Let graph-augmented models see the features themselves too.

    Returns:
        The first depth at which the multisets of node classes differ, with a witness.

    Example:
        >>> import networkx as nx
        >>> two_triangles = nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))
        >>> bool(distinguish(nx.cycle_graph(6), two_triangles))
        False
        >>> distinguish(nx.cycle_graph(6), two_triangles, family="triangle").depth
        1
    """
    pair = (as_graph(first), as_graph(second))
    both = union(pair)
    joined = None if features is None else _join_features(features)
    limit = _depth_that_matters(both, family, joined) if depth is None else one_depth(depth)
    stream = levels(both, family, joined, include_identity)
    for k, level in enumerate(islice(stream, limit + 1)):
        numbers = _numbers(level.colours, both.part)
        if (numbers[0] != numbers[1]).any():
            return Distinction(family, k, limit, _witness_class(both, pair, level.colours, numbers))
    return Distinction(family, None, limit)


def _numbers(colours: np.ndarray, part: np.ndarray) -> np.ndarray:
    """(2, classes): how many nodes of each class each of two graphs holds."""
    classes = int(colours.max()) + 1
    return np.bincount(part * classes + colours, minlength=2 * classes).reshape(2, classes)


def _join_features(features: Sequence[Any]) -> np.ndarray:
    if len(features) != 2:
        raise bad("features", f"{len(features)} items", "two: one for each graph")
    return np.concatenate([np.asarray(f) for f in features])


def _depth_that_matters(graph: Graph, family: str, features: Any) -> int:
    """Depth from which on nothing new can be seen.

    Refinement is stable after at most n - 1 rounds. An operator on c classes satisfies a
    polynomial of degree c (Cayley-Hamilton), so its powers above c are sums of lower ones.
    """
    chosen = families.get(family)
    if not chosen.local:
        return graph.nodes
    before = 0
    for depth, level in enumerate(levels(graph, "wl", features)):
        found = int(level.colours.max()) + 1
        if found == before:
            return depth - 1 if chosen.prepare is None else found
        before = found
    raise AssertionError("refinement never ends")


def _witness_class(
    both: Graph, pair: tuple[Graph, Graph], colours: np.ndarray, numbers: np.ndarray
) -> tuple[Any, int, tuple[int, int]]:
    colour = int(np.flatnonzero(numbers[0] != numbers[1])[0])
    node = int(np.flatnonzero(colours == colour)[0])
    part = int(both.part[node])
    name = pair[part].name(node - part * pair[0].nodes)
    return name, part, (int(numbers[0][colour]), int(numbers[1][colour]))
