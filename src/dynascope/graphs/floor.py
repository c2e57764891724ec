"""The class floor: the part of a target that no training can remove.

A model that sees no difference between two nodes gives both the same answer. The best answer
for a class is the mean (numbers) or the most frequent label; what is left is the floor.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from dynascope.core.errors import bad
from dynascope.graphs.classes import Of, partitions
from dynascope.graphs.conversion import as_graph
from dynascope.graphs.depth import several_depths


def class_floor(
    graph: Any,
    target: Any,
    family: str,
    depth: int | Iterable[int],
    *,
    features: Any = None,
    include_identity: bool = False,
    of: Of = "nodes",
) -> float | list[float]:
    """The smallest error that any model of a family can reach on a target.

    Args:
        graph: A `Graph`, networkx graph or sparse matrix.
        target: One value per node (per graph with of="graphs"). Numbers give the variance
            within classes over the variance; text and booleans are labels and give the
            smallest possible error rate.
        family: A name of `families`.
        depth: One depth, or several (`range(1, 6)`).
        features: Initial colours or a table of numbers; None for all alike.
        include_identity: Let graph-augmented models see the features themselves too.
        of: "nodes", or "graphs" for whole graphs of a union.

    Returns:
        A number from 0 to 1, or a list where several depths came.

    Example:
        >>> import networkx as nx
        >>> class_floor(nx.path_graph(4), [0, 1, 1, 1], "wl", 1)
        0.6666666666666666
    """
    graph = as_graph(graph)
    values = check_target(target, graph.nodes if of == "nodes" else graph.graphs)
    wanted, single = several_depths(depth)
    rows = partitions(
        graph, max(wanted), family, features=features, include_identity=include_identity, of=of
    )
    floors = [floor_of(rows[d], values) for d in wanted]
    return floors[0] if single else floors


def check_target(target: Any, count: int) -> np.ndarray:
    """The target as an array of float64 or of labels; refused if it cannot be judged."""
    values = np.asarray(target)
    if values.shape != (count,):
        raise bad("target", f"shape {values.shape}", f"one value for each of {count}")
    if values.dtype.kind not in "iuf":
        return np.unique(values.astype(str), return_inverse=True)[1]
    values = values.astype(np.float64)
    if not np.isfinite(values).all():
        raise bad("target", "a value that is not finite", "finite numbers or labels")
    if (values == values[0]).all():
        raise bad("target", f"{values[0]:g} everywhere", "at least two different numbers")
    return values


def floor_of(colours: np.ndarray, target: np.ndarray) -> float:
    """The floor for given classes: of numbers (float64) or of label numbers (integers)."""
    if np.issubdtype(target.dtype, np.integer):
        return _error_rate(colours, target)
    return _variance_share(colours, target)


def _error_rate(colours: np.ndarray, labels: np.ndarray) -> float:
    pairs, counts = np.unique(colours * (int(labels.max()) + 1) + labels, return_counts=True)
    best = np.zeros(int(colours.max()) + 1, dtype=np.int64)
    np.maximum.at(best, pairs // (int(labels.max()) + 1), counts)
    return (len(labels) - int(best.sum())) / len(labels)


def _variance_share(colours: np.ndarray, values: np.ndarray) -> float:
    """Deviations are taken from the first member, so that equal values leave exactly 0."""
    _, first, inverse = np.unique(colours, return_index=True, return_inverse=True)
    offset = values - values[first[inverse]]
    mean = np.bincount(inverse, weights=offset) / np.bincount(inverse)
    within = ((offset - mean[inverse]) ** 2).sum()
    return float(within / ((values - values.mean()) ** 2).sum())
