"""How many nodes and graphs are told apart: refinement against powers of an operator.

chen2025 Table 2.1 (nodes of citation graphs), Table A.1 (graph data sets), and a table of all
small graphs, which needs no download. Everything is counted exactly; nothing is trained.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dynascope.core.sources import chen2025
from dynascope.core.spec import Spec
from dynascope.data import graph_file
from dynascope.graphs import Graph, count_classes, load, partitions, union
from dynascope.graphs.classes import Of, witness
from dynascope.graphs.pairs import circulant
from dynascope.studies.nodes import Node
from dynascope.studies.study import Study

# As printed: classes of nodes after 1..5 rounds, of refinement and of the powers of A.
TABLE_2_1: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "cora": ((37, 1589, 2301, 2363, 2365), (37, 756, 2158, 2359, 2365)),
    "citeseer": ((31, 984, 1855, 2074, 2122), (31, 506, 1550, 2019, 2115)),
    "pubmed": ((82, 8059, 12814, 12990, 12998), (82, 3762, 12014, 12979, 12998)),
}
# As printed for K = 1, 2, 3: classes of graphs, the same for refinement and for the powers of A.
# The row of the ground truth repeats the last number.
TABLE_A_1: dict[str, tuple[int, ...]] = {
    "imdb-binary": (51, 537, 537), "imdb-multi": (49, 387, 387),
    "reddit-binary": (781, 1998, 1998), "reddit-multi-5k": (1365, 4999, 4999),
    "collab": (294, 4080, 4080),
}  # fmt: skip
FAMILIES = ("wl", "adjacency", "self_loop", "injective")
PRINTED = FAMILIES[:2]  # the families of the printed tables, in their order
RANDOM_GRAPHS = 20
# To read and count, on graphs drawn with as many nodes and edges; reading takes most of it.
SECONDS = {"imdb-binary": 3.0, "imdb-multi": 3.0, "reddit-binary": 20.0, "reddit-multi-5k": 90.0,
           "collab": 160.0}  # fmt: skip
CYCLES = range(3, 13)  # sizes of a planted set of graphs
PATH = 12  # nodes of a planted path

Classes = dict[str, list[int]]  # family -> number of classes at depth 0, 1, ...
Table = tuple[tuple[int, ...], tuple[int, ...]]  # of refinement, of the powers of A
Small = dict[int, Classes]  # by the number of nodes


@dataclass(frozen=True)
class Settings(Spec, tag="studies.rooted-classes"):
    """How large and how deep the comparisons without data sets are."""

    largest: int = 7  # nodes of the largest graphs of which all are tried
    depth: int = 3  # of the comparison on random graphs


study = Study(
    "rooted-classes", title="What message passing tells apart and precomputed features do not",
    sources=(chen2025("Table 2.1, Table A.1, Prop. 2.2, Prop. 2.6"),), settings=Settings,
    scales={"smoke": {"largest": 6}, "laptop": {}, "paper": {}},
    notes=(
        "Self-loops are kept, repeated edges collapsed: only so are the tables met.",
        "Table 2.1 counts the powers 1..K without the features; its K is the number of rounds.",
        "Row K of Table A.1 is met by K - 1 rounds: its first row is the number of nodes.",
    ),
)  # fmt: skip


def _classes(graph: Any, depth: int, families: tuple[str, ...], of: Of) -> Classes:
    return {f: list(count_classes(graph, range(depth + 1), f, of=of)) for f in families}  # type: ignore[arg-type]


def _isomorphism_classes(graphs: Graph) -> int:
    """Graphs of a union up to isomorphism, searched for among those that refinement merges."""
    import networkx as nx

    starts = np.searchsorted(graphs.part, np.arange(graphs.graphs + 1))
    colours = partitions(graphs, 6, of="graphs")[-1]
    kinds: dict[int, list[nx.Graph]] = {}
    for colour, own in zip(colours.tolist(), map(slice, starts, starts[1:])):
        graph = nx.from_scipy_sparse_array(graphs.adjacency[own, own])
        alike = kinds.setdefault(colour, [])
        if not any(nx.vf2pp_is_isomorphic(graph, other) for other in alike):
            alike.append(graph)
    return sum(map(len, kinds.values()))


def _graph_classes(graphs: Graph, depth: int) -> Classes:
    return _classes(graphs, depth, PRINTED, "graphs") | {
        "isomorphism": [_isomorphism_classes(graphs)]
    }


def _nodes_of(name: str) -> Node:
    """A node with the classes of a data set's nodes at depth 0..6, where it is there."""

    @study.compute(name=f"nodes of {name}", data=name, reads=(), seconds=lambda s: 0.2)
    def counted(s: Settings) -> Classes:
        """Exact counts."""
        return _classes(load(graph_file(name)), 6, PRINTED, "nodes")

    return counted


def _graphs_of(name: str) -> Node:
    """A node with the classes of a data set's graphs at depth 0..3, where it is there."""

    @study.compute(name=f"graphs of {name}", data=name, reads=(), seconds=lambda s: SECONDS[name])
    def counted(s: Settings) -> Classes:
        """Exact counts."""
        return _graph_classes(load(graph_file(name)), 3)

    return counted


nodes = {name: _nodes_of(name) for name in TABLE_2_1}
graphs = {name: _graphs_of(name) for name in TABLE_A_1}


@study.finding
def printed(s: Settings) -> dict[str, Table]:
    """The printed tables, and those that follow for what is planted.

    Nodes of a path differ by their distance from the end, up to the number of rounds and half
    of the path. Cycles differ by their size.
    """
    path = tuple(min(k + 1, PATH // 2) for k in range(1, 6))
    cycles = (len(CYCLES),) * 3
    tables = TABLE_2_1 | {name: (row, row) for name, row in TABLE_A_1.items()}
    return tables | {"path": (path, path), "cycles": (cycles, cycles)}


@study.finding
def planted(s: Settings) -> dict[str, Classes]:
    """Classes of the nodes of a path, of a set of cycles, and of a graph with a gap at depth 2.

    Of Padgett's graph of fifteen Florentine families (1994) refinement tells 14 nodes apart at
    depth 2, the powers of A 13; at every other depth both tell as many.
    """
    import networkx as nx

    return {
        "path": _classes(nx.path_graph(PATH), 6, PRINTED, "nodes"),
        "cycles": _graph_classes(union([circulant(n, 1) for n in CYCLES]), 3),
        "gap": _classes(nx.florentine_families_graph(), 6, PRINTED, "nodes"),
    }


@study.compute(each=lambda s: range(2, s.largest + 1), reads=("largest",),
               seconds=lambda s: 0.5 + 7.0 ** (s.largest - 7))  # fmt: skip
def small_graphs(s: Settings, size: int) -> Classes:
    """Classes of all graphs with so many nodes; no two of them are isomorphic."""
    import networkx as nx

    every = [g for g in nx.graph_atlas_g() if len(g) == size]
    found = _classes(union(every), size, FAMILIES[:3], "graphs")
    found |= _classes(union(every), 1, ("injective",), "graphs")  # exact sums grow long deeper down
    rng = np.random.default_rng(size)
    orders = [dict(enumerate(rng.permutation(size).tolist())) for _ in every]
    moved = union([nx.relabel_nodes(g, order) for g, order in zip(every, orders)])
    found["renumbered"] = _classes(moved, size, ("wl",), "graphs")["wl"]
    return found | {"isomorphism": [len(every)]}


@study.finding
def kept(s: Settings) -> dict[str, np.ndarray]:
    """(graphs,) whether nodes that are alike are alike for the powers 0..K, in random graphs.

    Alike after K + 1 rounds, after K rounds, and if every node is like itself alone.
    """
    import networkx as nx

    found: dict[str, list[bool]] = {"K + 1 rounds": [], "K rounds": [], "itself": []}
    for seed in range(RANDOM_GRAPHS):
        graph = nx.gnp_random_graph(60, 0.06, seed=seed)
        seen = partitions(graph, s.depth, "normalized", include_identity=True)[-1]
        rounds = partitions(graph, s.depth + 1)
        for name, alike in zip(found, (rounds[-1], rounds[-2], np.arange(60)), strict=True):
            found[name].append(witness(alike, seen) is None)
    return {name: np.array(flags) for name, flags in found.items()}
