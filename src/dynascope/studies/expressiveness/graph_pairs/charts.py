"""The 14-node pair, and which family tells which pair apart."""

import numpy as np

from dynascope.core.charts import Bars, Chart, Graph, Panel
from dynascope.graphs import count_classes, families, refine, union
from dynascope.graphs.pairs import FOURTEEN, hard_pairs
from dynascope.studies.expressiveness.graph_pairs.runs import Settings, Told, study, told
from dynascope.studies.headlines import headline_chart

BOTH = union([FOURTEEN.first, FOURTEEN.second])


@study.chart(headline=True)
def headline(s: Settings) -> Chart:
    """Classes of the 14-node pair per round."""
    rounds = range(6)
    told, powers = (count_classes(BOTH, rounds, family) for family in ("wl", "adjacency"))
    return headline_chart(
        "Classes of nodes in the 14-node pair", ("rounds", rounds),
        ("classes", told), ("powers of A", powers), name="message passing",
        note="powers of A give both graphs the same numbers at every depth",
    )  # fmt: skip


@study.chart()
def fourteen(s: Settings) -> Chart:
    """The 14-node pair side by side, nodes coloured by class after two rounds."""
    import networkx as nx

    both, size = nx.from_scipy_sparse_array(BOTH.adjacency), FOURTEEN.first.nodes
    halves = [nx.kamada_kawai_layout(both.subgraph(range(k, k + size))) for k in (0, size)]
    places = {**halves[0], **{i: p + np.array([2.6, 0.0]) for i, p in halves[1].items()}}
    x, y = zip(*(places[i] for i in both))
    graphs = (FOURTEEN.first, FOURTEEN.second)
    names = tuple(str(graph.name(i)) for graph in graphs for i in range(size))
    edges = tuple((int(a), int(b)) for a, b in both.edges)
    classes = refine(BOTH, 2)[-1]
    letters = tuple("ABCDEFGHIJKLMNOP"[: int(max(classes)) + 1])
    label = "class after two rounds"
    drawn = Graph(x, y, classes, names, edges, label=label, categories=letters)
    return Chart(
        "fourteen", "Equal numbers of walks, different neighbourhoods",
        "Both graphs have the same numbers of walks at every node and every length, so powers "
        "of A see no difference. Colours are the classes after two rounds of message passing: "
        "nodes 1 and 2 are alike on the left and not on the right.",
        (Panel((drawn,), title="G (left) and G' (right)", equal=True),),
    )  # fmt: skip


@study.chart(told)
def who_tells_what(s: Settings, told: Told) -> Chart:
    """First depth at which each family tells each pair apart."""
    names = tuple(families.names())
    bars = [
        Bars(names, [_height(told[pair.name][f]) for f in names], pair.name, group=i)
        for i, pair in enumerate(hard_pairs)
    ]
    return Chart(
        "who-tells-what", "Which family tells which pair apart",
        "First depth at which the two graphs of a pair differ as wholes; no bar means never. "
        "Every family, message passing (wl) included, misses a pair that another one sees.",
        (Panel(tuple(bars), y_label="first depth (none: never)"),),
    )  # fmt: skip


def _height(depth: float) -> float:
    """No bar where a pair is never told."""
    return depth if np.isfinite(depth) else 0.0
