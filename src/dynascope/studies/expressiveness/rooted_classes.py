"""How many nodes and graphs are told apart: refinement against powers of an operator.

002 Table 2.1 (nodes of citation graphs), Table A.1 (graph data sets), and a table of all small
graphs, which needs no download. Everything is counted exactly; nothing is trained.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import xarray as xr

from dynascope.core.charts import Chart, Line, Panel, Reference, Role
from dynascope.core.records import Headline
from dynascope.engine import Experiment
from dynascope.graphs import count_classes, partitions, union
from dynascope.graphs.classes import witness
from dynascope.studies.base import Study, chart, claim
from dynascope.studies.comparisons import Evidence, at_least, at_most, compare, single
from dynascope.studies.expressiveness.datasets import absent, available, read

DEPTHS = range(1, 6)
# As printed: classes after 1..5 rounds, of refinement and of the powers of A.
TABLE_2_1: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "cora": ((37, 1589, 2301, 2363, 2365), (37, 756, 2158, 2359, 2365)),
    "citeseer": ((31, 984, 1855, 2074, 2122), (31, 506, 1550, 2019, 2115)),
    "pubmed": ((82, 8059, 12814, 12990, 12998), (82, 3762, 12014, 12979, 12998)),
}
# As printed for K = 1, 2, 3; the same for refinement and for the powers of A.
TABLE_A_1: dict[str, tuple[int, ...]] = {
    "imdb-binary": (51, 537, 537),
    "imdb-multi": (49, 387, 387),
    "reddit-binary": (781, 1998, 1998),
    "reddit-multi-5k": (1365, 4999, 4999),
    "collab": (294, 4080, 4080),
}
FAMILIES = ("wl", "adjacency", "self_loop", "injective")
RANDOM_GRAPHS = 20


class Found(NamedTuple):
    """What claims and charts read."""

    nodes: dict[str, dict[str, list[int]]]  # data set -> family -> classes at depth 0..6
    graphs: dict[str, dict[str, list[int]]]  # data set -> family -> classes at depth 0..3
    atlas: dict[int, dict[str, list[int]]]  # nodes -> family -> classes at depth 0..nodes
    sizes: dict[int, int]  # nodes -> number of graphs, all different
    split_later: list[int]  # random graphs in which features split what K + 1, K rounds merge


@dataclass(frozen=True)
class RootedClasses(Study):
    """Classes of nodes and graphs, counted exactly, beside the printed tables."""

    name: ClassVar[str] = "rooted-classes"
    title: ClassVar[str] = "What message passing tells apart and precomputed features do not"
    source: ClassVar[str] = "002 Table 2.1, Table A.1, Prop. 2.2, Prop. 2.6"
    needs_runs: ClassVar[bool] = False
    scales: ClassVar[dict[str, dict[str, Any]]] = {
        "smoke": {"largest": 6},
        "laptop": {},
        "paper": {},
    }

    largest: int = 7  # nodes of the largest graphs of which all are tried
    depth: int = 3  # of the comparison on random graphs
    datasets: tuple[str, ...] = ()  # those that lay in the data folder

    @classmethod
    def at(cls, scale: str) -> Study:
        """The settings of a scale, with the data sets that are there."""
        return replace(super().at(scale), datasets=available([*TABLE_2_1, *TABLE_A_1]))  # type: ignore[call-arg]

    def notes(self) -> tuple[str, ...]:
        """Where the printed tables need reading."""
        return (
            "Self-loops are kept, repeated edges collapsed: only so are the tables met.",
            "Table 2.1 counts the powers 1..K without the features; its K is the number of rounds.",
            "Row K of Table A.1 is met by K - 1 rounds: its first row is the number of nodes.",
        )

    def plan(self) -> dict[str, Experiment]:
        """Nothing is trained."""
        return {}

    def analyse(self, runs: dict[str, xr.Dataset]) -> Found:
        """All counts."""
        import networkx as nx

        tables = {name: read(name) for name in self.datasets}
        pairs = ("wl", "adjacency")
        small = [g for g in nx.graph_atlas_g() if 2 <= len(g) <= self.largest]
        by_size = {n: [g for g in small if len(g) == n] for n in range(2, self.largest + 1)}
        return Found(
            {n: _classes(g, range(7), pairs) for n, g in tables.items() if n in TABLE_2_1},
            {
                n: _classes(g, range(4), pairs, "graphs")
                for n, g in tables.items()
                if n in TABLE_A_1
            },
            {n: _atlas(g, n) for n, g in by_size.items()},
            {n: len(g) for n, g in by_size.items()},
            [self._split_later(extra) for extra in (1, 0)],
        )

    def _split_later(self, extra: int) -> int:
        """Random graphs in which normalised features split nodes alike after K + extra rounds."""
        import networkx as nx

        count = 0
        for seed in range(RANDOM_GRAPHS):
            graph = nx.gnp_random_graph(60, 0.06, seed=seed)
            rounds = partitions(graph, self.depth + extra)[-1]
            seen = partitions(graph, self.depth, "normalized", include_identity=True)[-1]
            count += witness(rounds, seen) is not None
        return count

    def headline(self, found: Found) -> Headline:
        """How many graphs of each size the powers of the GCN operator merge."""
        x = tuple(float(n) for n in found.atlas)
        merged = tuple(float(found.sizes[n] - found.atlas[n]["self_loop"][-1]) for n in found.atlas)
        deep = tuple(float(found.sizes[n] - found.atlas[n]["wl"][-1]) for n in found.atlas)
        return Headline(
            "Graphs that powers of the GCN operator merge (theory: what refinement merges)",
            "nodes", "graphs merged", x, merged, deep,
            f"all {sum(found.sizes.values())} graphs with up to {self.largest} nodes",
        )  # fmt: skip

    # --- claims --------------------------------------------------------------------------

    @claim("table-2-1-cora", "Cora has the ten printed numbers of classes.", "002 Table 2.1")
    def cora(self, found: Found) -> Evidence:
        """Mismatches of ten."""
        return _table_2_1(found, "cora")

    @claim(
        "table-2-1-citeseer", "Citeseer has the ten printed numbers of classes.", "002 Table 2.1"
    )
    def citeseer(self, found: Found) -> Evidence:
        """Mismatches of ten."""
        return _table_2_1(found, "citeseer")

    @claim("table-2-1-pubmed", "Pubmed has the ten printed numbers of classes.", "002 Table 2.1")
    def pubmed(self, found: Found) -> Evidence:
        """Mismatches of ten."""
        return _table_2_1(found, "pubmed")

    @claim(
        "gap-at-two-rounds",
        "On Cora two rounds tell at least twice as many nodes apart as A and A^2 do.",
        "002 Table 2.1",
    )
    def gap(self, found: Found) -> Evidence:
        """Ratio of the counts at depth 2; at depth 1 both see degrees only."""
        if "cora" not in found.nodes:
            return absent("cora")
        ratios = [a / b for a, b in zip(*(found.nodes["cora"][f] for f in ("wl", "adjacency")))]
        return compare(at_least(2), single(ratios[2]), ("depth 1", single(ratios[1])))

    @claim(
        "table-a-1-imdb-binary-printed",
        "Read literally, IMDB-BINARY falls into 51, 537, 537 classes after 1, 2, 3 rounds.",
        "002 Table A.1",
    )
    def imdb_binary_printed(self, found: Found) -> Evidence:
        """Mismatches of six at the printed depths; they start one round too late."""
        return _table_a_1(found, "imdb-binary", start=1, control=2)

    @claim(
        "table-a-1-imdb-binary",
        "IMDB-BINARY falls into 51, 537, 537 classes after 0, 1, 2 rounds.",
        "002 Table A.1 with K - 1 for K",
    )
    def imdb_binary(self, found: Found) -> Evidence:
        """Mismatches of six."""
        return _table_a_1(found, "imdb-binary")

    @claim(
        "table-a-1-imdb-multi",
        "IMDB-MULTI falls into 49, 387, 387 classes after 0, 1, 2 rounds.",
        "002 Table A.1 with K - 1 for K",
    )
    def imdb_multi(self, found: Found) -> Evidence:
        """Mismatches of six."""
        return _table_a_1(found, "imdb-multi")

    @claim(
        "table-a-1-reddit-binary",
        "REDDIT-BINARY falls into 781, 1998, 1998 classes after 0, 1, 2 rounds.",
        "002 Table A.1 with K - 1 for K",
    )
    def reddit_binary(self, found: Found) -> Evidence:
        """Mismatches of six."""
        return _table_a_1(found, "reddit-binary")

    @claim(
        "table-a-1-reddit-multi-5k",
        "REDDIT-MULTI-5K falls into 1365, 4999, 4999 classes after 0, 1, 2 rounds.",
        "002 Table A.1 with K - 1 for K",
    )
    def reddit_multi(self, found: Found) -> Evidence:
        """Mismatches of six."""
        return _table_a_1(found, "reddit-multi-5k")

    @claim(
        "table-a-1-collab",
        "COLLAB falls into 294, 4080, 4080 classes after 0, 1, 2 rounds.",
        "002 Table A.1 with K - 1 for K",
    )
    def collab(self, found: Found) -> Evidence:
        """Mismatches of six."""
        return _table_a_1(found, "collab")

    @claim(
        "small-graphs-adjacency",
        "On all small graphs powers of A tell as many graphs apart as refinement, at every depth.",
        "counted here; 002 compares the two families in Tables 2.1 and A.1",
    )
    def small_adjacency(self, found: Found) -> Evidence:
        """Depths and sizes at which the counts differ; those of the GCN operator must."""

        def different(family: str) -> int:
            return sum(a != b for t in found.atlas.values() for a, b in zip(t["wl"], t[family]))

        control = ("powers of the GCN operator", single(different("self_loop")))
        return compare(at_most(0), single(different("adjacency")), control)

    @claim(
        "small-graphs-injective",
        "On all small graphs D and A D^-alpha tell apart exactly as many as two rounds.",
        "002 Prop. 2.2, Lemma A.4",
    )
    def small_injective(self, found: Found) -> Evidence:
        """Sizes at which the counts differ; one round must differ."""

        def different(depth: int) -> int:
            return sum(t["injective"][1] != t["wl"][depth] for t in found.atlas.values())

        return compare(at_most(0), single(different(2)), ("one round", single(different(1))))

    @claim(
        "small-graphs-refinement-complete",
        "Refinement to the end tells all graphs with up to five nodes apart.",
        "counted here; the limit of message passing in 002 section 2.2",
    )
    def small_complete(self, found: Found) -> Evidence:
        """Graphs merged; with six nodes some must be."""
        merged = {n: found.sizes[n] - found.atlas[n]["wl"][-1] for n in found.atlas}
        five = sum(count for n, count in merged.items() if n <= 5)
        return compare(at_most(0), single(five), ("six nodes", single(merged.get(6, 0))))

    @claim(
        "one-round-more-is-enough",
        "Nodes alike after K + 1 rounds are alike for the powers 0..K of a normalised adjacency.",
        "002 Prop. 2.6, second half",
    )
    def refinement_is_finer(self, found: Found) -> Evidence:
        """Random graphs with a counterexample; K rounds alone must not be enough."""
        after, before = found.split_later
        return compare(at_most(0), single(after), ("K rounds", single(before)))

    # --- charts --------------------------------------------------------------------------

    @chart
    def small_graphs(self, found: Found) -> Chart:
        """Graphs merged by each family, over the number of nodes."""
        words = ("message passing", "powers of A", "powers of the GCN operator", "D, A D^-alpha")
        x = list(found.atlas)
        lines = []
        for group, (family, label) in enumerate(zip(FAMILIES, words)):
            last = 1 if family == "injective" else -1
            y = [100 * (1 - found.atlas[n][family][last] / found.sizes[n]) for n in x]
            role: Role = "theory" if family == "wl" else "measured"
            lines.append(Line(x, y, label, role, group))
        return Chart(
            "small-graphs",
            "What is merged among all small graphs",
            "Share of all graphs with so many nodes that a family cannot tell from another one. "
            "The GCN operator merges up to half, because it is blind to the degree of regular "
            "graphs; powers of A lie on message passing (dashed); D and A D^-alpha once see as "
            "much as two rounds, which is not enough from seven nodes on.",
            (Panel(tuple(lines), x_label="nodes", y_label="graphs merged (%)"),),
        )

    @chart
    def citation_graphs(self, found: Found) -> Chart:
        """Classes of nodes per depth, measured over printed."""
        panels = [_table_panel(name, counts) for name, counts in found.nodes.items()]
        if not panels:
            note = Reference("y", 0.0, "no citation graph in the data folder")
            panels = [Panel((note,), "Table 2.1", "rounds", "classes of nodes")]
        return Chart(
            "citation-graphs",
            "Classes of nodes in citation graphs",
            "Two rounds of message passing already tell most nodes apart, A and A^2 about half "
            "as many; from four rounds on the two agree. Dashed: as printed in Table 2.1.",
            tuple(panels),
        )


def _classes(
    graph: Any, depths: range, families: tuple[str, ...], of: Any = "nodes"
) -> dict[str, list[int]]:
    return {f: list(count_classes(graph, depths, f, of=of)) for f in families}  # type: ignore[arg-type]


def _atlas(graphs: list, nodes: int) -> dict[str, list[int]]:
    """Exact sums of A D^-alpha are long; one application is what Prop. 2.2 uses."""
    everything = union(graphs)
    found = _classes(everything, range(nodes + 1), FAMILIES[:3], "graphs")
    return found | _classes(everything, range(2), ("injective",), "graphs")


def _table_2_1(found: Found, name: str) -> Evidence:
    """Mismatches with the printed ten; counting from zero rounds must not match."""
    if name not in found.nodes:
        return absent(name)

    def mismatches(start: int) -> int:
        counted = [found.nodes[name][f][start : start + 5] for f in ("wl", "adjacency")]
        return sum(a != b for c, p in zip(counted, TABLE_2_1[name]) for a, b in zip(c, p))

    control = ("rounds counted from zero", single(mismatches(0)))
    return compare(at_most(0), single(mismatches(1)), control)


def _table_a_1(found: Found, name: str, start: int = 0, control: int = 1) -> Evidence:
    """Mismatches with the printed six; a shift by one round must not match."""
    if name not in found.graphs:
        return absent(name)

    def mismatches(first: int) -> int:
        counted = [found.graphs[name][f][first : first + 3] for f in ("wl", "adjacency")]
        return sum(a != b for c in counted for a, b in zip(c, TABLE_A_1[name]))

    return compare(
        at_most(0), single(mismatches(start)),
        (f"counting from {control} rounds", single(mismatches(control))),
    )  # fmt: skip


def _table_panel(name: str, counts: dict[str, list[int]]) -> Panel:
    words = {"wl": "message passing", "adjacency": "powers of A"}
    marks = []
    for group, (family, printed) in enumerate(zip(("wl", "adjacency"), TABLE_2_1[name])):
        marks.append(Line(DEPTHS, counts[family][1:6], words[family], group=group))
        marks.append(
            Line(DEPTHS, printed, "" if group else "as printed", role="theory", group=group)
        )
    return Panel(tuple(marks), name.capitalize(), "rounds, or largest power", "classes of nodes")
