"""A graph that somebody brings: which of its nodes a family of networks can tell apart."""

from dataclasses import dataclass

import xarray as xr

from dynascope.core.charts import Chart
from dynascope.core.spec import Spec
from dynascope.explorers.budget import Work
from dynascope.explorers.explorer import Explored, explorer
from dynascope.explorers.moves import LONGEST_WORDS, Choice, Slider, Words
from dynascope.instruments.node_classes import (
    DRAWN,
    classes_by_depth,
    count_panel,
    graph_of,
    nodes_panel,
)

DEEPEST, COMPARED = 6, ("wl", "adjacency")
FAMILIES = (*COMPARED, "normalized", "self_loop")


@dataclass(frozen=True)
class Settings(Spec, tag="explorers.graph-classes"):
    """An edge list, a family of networks, and a depth."""

    edges: str = "0 1\n0 5\n1 2\n1 4\n2 3\n5 6\n6 7\n"
    family: str = "wl"
    depth: int = 2


@explorer(
    "What graph networks can tell apart on your graph",
    about="Paste or drop an edge list, one edge a line. Nodes of one colour look alike to every "
    "network of the family at this depth: message passing (wl), or features made of powers of a "
    "matrix of the graph. At first it is a small tree on which they differ at depth 2.",
    moves=(
        Slider("depth", "depth", 0, DEEPEST),
        Choice("family", "family", FAMILIES),
        Words("edges", "edges", LONGEST_WORDS, file=True),
    ),
    studies=("graph-pairs", "rooted-classes"),
    work=lambda s: Work(DEEPEST, len(COMPARED) + 1, max(1, len(s.edges.splitlines()))),
    cut="edges",
)
def graph_classes(s: Settings) -> Explored:
    """The graph coloured by class, and the number of classes by depth for each family."""
    graph = graph_of(s.edges)
    names = dict.fromkeys((s.family, *COMPARED))
    classes = {name: classes_by_depth(graph, name, DEEPEST) for name in names}
    here = classes[s.family][s.depth]
    words = (f"{graph.nodes:,} nodes and {graph.edges:,} edges; {s.family} tells "
             f"{int(here.max()) + 1:,} classes apart at depth {s.depth}.",)  # fmt: skip
    cut = f"Only {DRAWN} of {graph.nodes:,} nodes are drawn." if graph.nodes > DRAWN else ""
    panels = nodes_panel(graph, here), count_panel(classes)
    data = xr.Dataset({"class": (("depth", "node"), classes[s.family])},
                      {"node": [str(graph.name(i)) for i in range(graph.nodes)]})  # fmt: skip
    return Explored(data, Chart("graph-classes", "Classes of nodes", words[0], panels), words, cut)
