"""Small graphs and slow, obvious twins of what the package computes."""

from __future__ import annotations

from collections import Counter

import networkx as nx
import numpy as np

from dynascope.graphs import Graph, as_graph, from_edges


def random_graph(seed: int, nodes: int = 30, edges: int = 45, loops: bool = False) -> Graph:
    """A sparse random graph; some nodes may have no edge."""
    random = np.random.default_rng(seed)
    pairs = random.integers(0, nodes, (edges, 2))
    return from_edges(pairs if loops else pairs[pairs[:, 0] != pairs[:, 1]], nodes)


def neighbours(graph: Graph) -> list[list[int]]:
    dense = graph.adjacency.toarray()
    return [np.flatnonzero(row).tolist() for row in dense]


def same_partition(left, right) -> bool:
    """Whether two labelings merge and split the same pairs."""
    pairs = len(set(zip(map(_plain, left), map(_plain, right), strict=True)))
    return pairs == len(set(map(_plain, left))) == len(set(map(_plain, right)))


def refines(fine, coarse) -> bool:
    """Whether equal fine labels always have equal coarse labels."""
    pairs = len(set(zip(map(_plain, fine), map(_plain, coarse), strict=True)))
    return pairs == len(set(map(_plain, fine)))


def _plain(label):
    return label.item() if isinstance(label, np.generic) else label


def nested_colours(graph: Graph, depth: int, features=None) -> list:
    """Refinement without any numbering: colours are nested tuples themselves."""
    around = neighbours(graph)
    colours = [0] * graph.nodes if features is None else list(features)
    for _ in range(depth):
        colours = [(colours[i], tuple(sorted((colours[j] for j in around[i]), key=repr)))
                   for i in range(graph.nodes)]  # fmt: skip
    return colours


def walk_rows(graph: Graph, depth: int, start=None) -> list[tuple[int, ...]]:
    """(A x, ..., A^depth x) for each node in Python integers."""
    around = neighbours(graph)
    values = [1] * graph.nodes if start is None else [int(v) for v in start]
    rows: list[tuple[int, ...]] = [()] * graph.nodes
    for _ in range(depth):
        values = [sum(values[j] for j in around[i]) for i in range(graph.nodes)]
        rows = [(*row, value) for row, value in zip(rows, values, strict=True)]
    return rows


def permuted(graph, order: np.ndarray) -> Graph:
    """Node order[k] of the graph becomes node k."""
    dense = as_graph(graph).adjacency.toarray()
    return as_graph(dense[np.ix_(order, order)])


def as_networkx(graph: Graph) -> nx.Graph:
    return nx.from_numpy_array(graph.adjacency.toarray())


def multiset(labels) -> Counter:
    return Counter(np.asarray(labels).tolist())
