"""`load`: a graph from a file of any known format, chosen by its name."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from dynascope.core.errors import BadInput, bad
from dynascope.graphs.conversion import as_graph
from dynascope.graphs.edge_lists import first_line, read_edge_list
from dynascope.graphs.graph import Graph, as_pairs, from_edges, renumber
from dynascope.graphs.planetoid import read_planetoid
from dynascope.graphs.tu import EDGES, read_tu
from dynascope.runtime.memory import refuse_above

FORMATS = (
    "an edge list (.txt, .csv), a sparse matrix (.npz), GraphML (.graphml), "
    "Planetoid (ind.*.graph) or TU text (a folder or NAME_A.txt)"
)


BYTES_A_NODE = 230  # of a description at depth 5: 197 measured on a million nodes without edges


def load(path: str | Path, nodes: int | None = None) -> Graph:
    """Read a graph from a file.

    Self-loops are kept; directed input is made undirected, weights are ignored, repeated edges
    collapsed; `notes` of the result says each in one line.

    Args:
        path: An edge list, sparse .npz, GraphML, Planetoid `ind.*.graph`, TU folder.
        nodes: For edge lists: the nodes are exactly 0..nodes-1, with or without edges.

    Returns:
        The graph.
    """
    path = Path(path)
    if not path.exists():
        raise bad("path", str(path), "a file that exists")
    if path.is_dir() or path.name.endswith(EDGES):
        return _without_count(path, nodes, read_tu)
    if path.suffix in (".txt", ".csv"):
        if nodes is not None and nodes < 1:
            raise bad("nodes", nodes, "a whole number of at least 1")
        if nodes is not None:
            refuse_above(BYTES_A_NODE * nodes, f"a graph of {nodes:,} nodes", "--nodes")
        return read_edge_list(path, nodes)
    readers = {".graph": read_planetoid, ".npz": _read_npz, ".graphml": _read_graphml}
    if path.suffix not in readers:
        raise bad("path", path.name, FORMATS)
    return _without_count(path, nodes, readers[path.suffix])


def _without_count(path: Path, nodes: int | None, read: Any) -> Graph:
    if nodes is not None:
        raise bad("nodes", nodes, f"nothing, because {path.name} tells its nodes itself",
                  "it is meant for edge lists")  # fmt: skip
    return read(path)


def _read_npz(path: Path) -> Graph:
    """A scipy sparse matrix, or an array `edges` with an optional `graph_id` for each node."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            if "edges" in archive.files:
                return _from_archive({key: archive[key] for key in archive.files})
        return as_graph(sparse.load_npz(path))
    except BadInput:
        raise
    except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile, AttributeError):
        raise bad(
            "file", path.name, "a scipy sparse matrix, or an array 'edges' of two columns"
        ) from None


def _from_archive(arrays: dict[str, np.ndarray]) -> Graph:
    edges, part = as_pairs(arrays["edges"]), arrays.get("graph_id")
    if part is not None:
        if part.ndim != 1 or part.dtype.kind not in "iu":
            raise bad("graph_id", f"{part.dtype} of shape {part.shape}", "a number for each node")
        found, part = np.unique(part, return_inverse=True)
        return from_edges(
            edges, len(part), part=part,
            node_labels=_labels(arrays, "node_label", len(part)),
            graph_labels=_labels(arrays, "y", len(found)),
        )  # fmt: skip
    if edges.size and edges.min() < 0:
        raise bad("edges", int(edges.min()), "ids of at least 0")
    names, numbers = renumber(edges)
    return from_edges(numbers, names=names)


def _labels(arrays: dict[str, np.ndarray], name: str, count: int) -> np.ndarray | None:
    if name in arrays and len(arrays[name]) != count:
        raise bad(name, f"{len(arrays[name])} labels", f"{count}")
    return arrays.get(name)


def _read_graphml(path: Path) -> Graph:
    from xml.etree.ElementTree import ParseError

    import networkx as nx

    try:
        return as_graph(nx.read_graphml(path))
    except BadInput:
        raise
    except (nx.NetworkXException, ParseError, KeyError, ValueError, OSError, TypeError) as error:
        raise bad("file", path.name, "a GraphML file", first_line(error)) from None
