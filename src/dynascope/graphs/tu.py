"""The TU text format: many graphs in one folder, node numbers counted from 1.

`NAME_A.txt` holds both directions of every edge, `NAME_graph_indicator.txt` the graph of each
node; labels of nodes and graphs are read where their files exist.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dynascope.core.errors import bad
from dynascope.graphs.edge_lists import at_line, content_lines, read_pairs
from dynascope.graphs.graph import Graph, from_edges

EDGES = "_A.txt"
LONGEST_NUMBER = 18  # digits that surely fit into 64 bits


def read_tu(path: Path) -> Graph:
    """Read a TU folder, or the folder of a `NAME_A.txt`, as a disjoint union.

    Args:
        path: The folder or the file with the edges.

    Returns:
        The union; nodes keep their numbers, from 1 on, as names.
    """
    edges = path if path.is_file() else _edge_file(path)
    stem = edges.name.removesuffix(EDGES)
    indicator = edges.with_name(f"{stem}_graph_indicator.txt")
    part = _numbers(indicator, lowest=1) - 1
    pairs = read_pairs(edges, lowest=1, highest=len(part)).ids - 1
    crossing = np.flatnonzero(part[pairs[:, 0]] != part[pairs[:, 1]])
    if len(crossing):
        pair = tuple((pairs[crossing[0]] + 1).tolist())
        raise bad(edges.name, pair, "edges inside one graph", f"compare {indicator.name}")
    found = np.unique(part)
    graphs = len(found)
    missing = np.flatnonzero(found != np.arange(graphs))
    if len(missing):
        raise bad(indicator.name, f"no node in graph {missing[0] + 1}", "graphs numbered 1, 2, ...")
    return from_edges(
        pairs, len(part), arcs=True, part=part, names=np.arange(1, len(part) + 1),
        node_labels=_labels(edges.with_name(f"{stem}_node_labels.txt"), len(part)),
        graph_labels=_labels(edges.with_name(f"{stem}_graph_labels.txt"), graphs),
    )  # fmt: skip


def _edge_file(folder: Path) -> Path:
    found = sorted(folder.glob(f"*{EDGES}"))
    if len(found) != 1:
        raise bad("folder", f"{folder.name} with {len(found)} files *{EDGES}", "exactly one")
    return found[0]


def _numbers(path: Path, lowest: int | None = None) -> np.ndarray:
    numbers = []
    for number, line in content_lines(path):
        text = line.strip()
        if not text.removeprefix("-").isdecimal() or len(text) > LONGEST_NUMBER:
            raise at_line(path, number, line, "one whole number")
        numbers.append(int(text))
        if lowest is not None and numbers[-1] < lowest:
            raise at_line(path, number, line, f"a number of at least {lowest}")
    return np.array(numbers, dtype=np.int64)


def _labels(path: Path, count: int) -> np.ndarray | None:
    if not path.exists():
        return None
    labels = _numbers(path)
    if len(labels) != count:
        raise bad(path.name, f"{len(labels)} lines", f"{count} labels")
    return labels
