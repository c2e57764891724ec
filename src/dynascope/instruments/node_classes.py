"""The nodes of a graph by what a family of networks can tell apart: at every depth, and drawn."""

from __future__ import annotations

import tempfile
from functools import lru_cache
from itertools import islice
from pathlib import Path

import networkx as nx
import numpy as np

from dynascope.core.charts import Graph as Drawing
from dynascope.core.charts import Line, Panel
from dynascope.graphs.edge_lists import read_edge_list
from dynascope.graphs.family import levels
from dynascope.graphs.graph import Graph
from dynascope.runtime.progress import Progress

DRAWN = 150  # nodes; of a larger graph the first ones


@lru_cache(maxsize=4)
def graph_of(text: str) -> Graph:
    """The graph of an edge list; the reader takes files, so the text becomes one.

    Example:
        >>> graph = graph_of("0 1,1 2".replace(",", chr(10)))
        >>> graph.nodes, graph.edges
        (3, 2)
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "edges.txt"
        path.write_text(text, encoding="utf-8")
        return read_edge_list(path)


@lru_cache(maxsize=8)
def classes_by_depth(graph: Graph, family: str, deepest: int) -> np.ndarray:
    """The class of every node at depths 0 to the deepest, (depth, node).

    Example:
        >>> path = graph_of("0 1,1 2,2 3,3 4,4 5".replace(",", chr(10)))
        >>> classes_by_depth(path, "wl", 2).max(axis=1).tolist()  # ends, next to them, the middle
        [0, 1, 2]
    """
    found = []
    with Progress(f"classes of {family}", deepest + 1, enabled=False) as bar:
        for level in islice(levels(graph, family), deepest + 1):
            found.append(level.colours)
            bar.update(len(found))
    return np.array(found)


def nodes_panel(graph: Graph, classes: np.ndarray) -> Panel:
    """The first nodes of a graph, coloured by class, and the edges among them."""
    places = _places(graph)
    names = tuple(str(graph.name(i)) for i in range(len(places)))
    shown = classes[: len(places)]
    drawing = Drawing(places[:, 0], places[:, 1], shown, names, _pairs(graph), "class")
    return Panel((drawing,), "nodes by class")


def count_panel(classes: dict[str, np.ndarray]) -> Panel:
    """How many classes there are at every depth, for some families: arrays (depth, node)."""
    lines = tuple(
        Line(np.arange(len(found)), found.max(axis=1) + 1, name, group=i)
        for i, (name, found) in enumerate(classes.items())
    )
    return Panel(lines, "classes", "depth", "number of classes")


@lru_cache(maxsize=4)
def _places(graph: Graph) -> np.ndarray:
    """Where the first nodes are drawn."""
    shown = range(min(graph.nodes, DRAWN))
    drawn = nx.Graph(_pairs(graph))
    drawn.add_nodes_from(shown)
    found = nx.spring_layout(drawn, seed=0)
    return np.array([found[i] for i in shown])


def _pairs(graph: Graph) -> tuple[tuple[int, int], ...]:
    """Edges among the nodes that are drawn."""
    rows, columns = graph.adjacency.nonzero()
    return tuple((int(a), int(b)) for a, b in zip(rows, columns) if a < b < DRAWN)
