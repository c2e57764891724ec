"""A graph that somebody brings: which of its nodes a family of networks can tell apart."""

import tempfile
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path

import networkx as nx
import numpy as np
import xarray as xr

from dynascope.core.charts import Chart, Graph, Line, Panel
from dynascope.core.spec import Spec
from dynascope.explorers.budget import Work
from dynascope.explorers.explorer import Explored, explorer
from dynascope.explorers.moves import LONGEST_WORDS, Choice, Slider, Words
from dynascope.graphs import edge_lists
from dynascope.graphs.family import levels
from dynascope.graphs.graph import Graph as Edges
from dynascope.runtime.progress import Progress

DEEPEST, DRAWN, COMPARED = 6, 150, 3  # depth, nodes, families
FAMILIES = ("wl", "adjacency", "normalized", "self_loop")
CATERPILLAR = "0 1\n0 5\n1 2\n1 4\n2 3\n5 6\n6 7\n"


@dataclass(frozen=True)
class Settings(Spec, tag="explorers.graph-classes"):
    """An edge list, a family of networks, and a depth."""

    edges: str = CATERPILLAR
    family: str = "wl"
    depth: int = 2


@lru_cache(maxsize=4)
def _read(text: str) -> Edges:
    """The graph; the reader takes files, so the text becomes one."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "edges.txt"
        path.write_text(text, encoding="utf-8")
        return edge_lists.read_edge_list(path)


@lru_cache(maxsize=8)
def _colours(text: str, family: str) -> np.ndarray:
    """The class of every node at depths 0 to the deepest, (depth, node)."""
    found = []
    with Progress(f"classes of {family}", DEEPEST + 1, enabled=False) as bar:
        for level in islice(levels(_read(text), family), DEEPEST + 1):
            found.append(level.colours)
            bar.update(len(found))
    return np.array(found)


@lru_cache(maxsize=4)
def _places(text: str) -> np.ndarray:
    """Where the first nodes are drawn."""
    graph = _read(text)
    drawn = nx.Graph(_pairs(graph))
    drawn.add_nodes_from(range(min(graph.nodes, DRAWN)))
    found = nx.spring_layout(drawn, seed=0)
    return np.array([found[i] for i in range(min(graph.nodes, DRAWN))])


def _pairs(graph: Edges) -> list[tuple[int, int]]:
    """Edges among the nodes that are drawn."""
    rows, columns = graph.adjacency.nonzero()
    return [(int(a), int(b)) for a, b in zip(rows, columns) if a < b < DRAWN]


@explorer(
    "graph-classes",
    title="What graph networks can tell apart on your graph",
    about="Paste or drop an edge list, one edge a line. Nodes of one colour look alike to every "
    "network of the family at this depth: message passing (wl), or features made of powers of a "
    "matrix of the graph. At first it is a small tree on which they differ at depth 2.",
    phenomenon="expressiveness",
    settings=Settings,
    moves=(
        Slider("depth", "depth", 0, DEEPEST),
        Choice("family", "family", FAMILIES),
        Words("edges", "edges", LONGEST_WORDS, file=True),
    ),
    studies=("graph-pairs", "rooted-classes"),
    work=lambda s: Work(DEEPEST, lanes=COMPARED, size=max(1, len(s.edges.splitlines()))),
    cut="edges",
)
def graph_classes(s: Settings) -> Explored:
    """The graph coloured by class, and the number of classes by depth for each family."""
    graph = _read(s.edges)
    colours = _colours(s.edges, s.family)
    here, places = colours[s.depth], _places(s.edges)
    count = len(places)
    names = tuple(str(graph.name(i)) for i in range(count))
    drawn = Graph(places[:, 0], places[:, 1], here[:count], names, tuple(_pairs(graph)), "class")
    depths = np.arange(DEEPEST + 1)
    compared = dict.fromkeys((s.family, "wl", "adjacency"))
    lines = tuple(
        Line(depths, _colours(s.edges, name).max(axis=1) + 1, name, group=i)
        for i, name in enumerate(compared)
    )
    words = (f"{graph.nodes:,} nodes and {graph.edges:,} edges; {s.family} tells "
             f"{int(here.max()) + 1:,} classes apart at depth {s.depth}.",)  # fmt: skip
    cut = f"Only {count} of {graph.nodes:,} nodes are drawn." if count < graph.nodes else ""
    chart = Chart(
        "graph-classes", "Classes of nodes", words[0],
        (Panel((drawn,), "nodes by class"), Panel(lines, "classes", "depth", "number of classes")),
    )  # fmt: skip
    data = xr.Dataset({"class": (("depth", "node"), colours)},
                      {"node": [str(graph.name(i)) for i in range(graph.nodes)]})  # fmt: skip
    return Explored(data, chart, words, cut)
