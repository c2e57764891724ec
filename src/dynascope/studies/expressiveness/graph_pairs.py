"""Pairs of graphs that one family of models tells apart and another does not.

002 Props. 2.1 and 2.2, Figs. 2.1 and 2.3, Lemmas A.4 and A.9, and the remark on the hexagon,
which is wrong as printed. All comparisons are exact; nothing is trained.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement, islice
from typing import Any, ClassVar, NamedTuple

import numpy as np
import xarray as xr

from dynascope.core.charts import Bars, Chart, Graph, Panel
from dynascope.core.records import Headline
from dynascope.engine import Experiment
from dynascope.graphs import count_classes, distinguish, families, partitions, refine, union
from dynascope.graphs.injective import injective_exponent
from dynascope.graphs.operators import normalized, power_graph, triangle
from dynascope.graphs.pairs import BRANCHES, FOURTEEN, HEXAGON, REGULAR, Pair, hard_pairs
from dynascope.graphs.powers import integer_powers
from dynascope.studies.base import Study, chart, claim
from dynascope.studies.comparisons import Evidence, at_least, at_most, compare, single
from dynascope.studies.expressiveness import random_graphs

MULTISETS_FROM = 6  # numbers 1..6 of which all multisets are tried


class Found(NamedTuple):
    """What claims and charts read."""

    told: dict[str, dict[str, int | None]]  # pair -> family -> first depth, or None
    walks: tuple[np.ndarray, np.ndarray]  # A^k 1 of the 14-node pair, (k, node), exact
    roots: dict[str, list[bool]]  # family -> whether the roots of Fig. 2.3 differ at depth 0..


@dataclass(frozen=True)
class GraphPairs(Study):
    """Which family tells which pair apart, and from which depth on."""

    name: ClassVar[str] = "graph-pairs"
    title: ClassVar[str] = "Pairs of graphs that are hard for one family and easy for another"
    source: ClassVar[str] = "002 Props. 2.1, 2.2, Figs. 2.1, 2.3, Lemmas A.4, A.9, section 2.3"
    needs_runs: ClassVar[bool] = False
    scales: ClassVar[dict[str, dict[str, Any]]] = {"smoke": {}, "laptop": {}, "paper": {}}

    powers: int = 60

    def notes(self) -> tuple[str, ...]:
        """Where text and figure differ or are lost."""
        return (
            "The edges of the 14-node pair follow from the sums in the proof of Lemma A.9; the "
            "figure is an image.",
            "Prop. 2.2 prints the failing fraction as 1 - o(1); o(1) is meant.",
            "Nodes carry no features, except in Fig. 2.3.",
        )

    def plan(self) -> dict[str, Experiment]:
        """Nothing is trained."""
        return {}

    def analyse(self, runs: dict[str, xr.Dataset]) -> Found:
        """First depths, walk counts, and the roots of Fig. 2.3."""
        told = {
            pair.name: {
                f: distinguish(pair.first, pair.second, f, features=pair.features).depth
                for f in families.names()
            }
            for pair in hard_pairs
        }
        walks = [_walks(graph, self.powers) for graph in (FOURTEEN.first, FOURTEEN.second)]
        return Found(told, (walks[0], walks[1]), {f: _roots_differ(f) for f in families.names()})

    def headline(self, found: Found) -> Headline:
        """Classes of the 14-node pair per round."""
        both = union([FOURTEEN.first, FOURTEEN.second])
        rounds = range(6)
        told, powers = (count_classes(both, rounds, f) for f in ("wl", "adjacency"))
        return Headline(
            "Classes of nodes in the 14-node pair under message passing (theory: powers of A)",
            "rounds", "classes", tuple(map(float, rounds)), tuple(map(float, told)),  # type: ignore[arg-type]
            tuple(map(float, powers)),  # type: ignore[arg-type]
            "powers of A give both graphs the same numbers at every depth",
        )  # fmt: skip

    # --- claims --------------------------------------------------------------------------

    @claim(
        "regular-normalised",
        "Regular graphs of one size and different degree have equal features under every power "
        "of D^-a A D^-(1-a).",
        "002 Prop. 2.1 (i)",
    )
    def regular_normalised(self, found: Found) -> Evidence:
        """Largest difference over powers and a; exponents with another sum must differ."""
        gap, other = (
            max(_gap(REGULAR, a, total - a, self.powers) for a in (0.0, 0.3, 0.5, 1.0))
            for total in (1.0, 0.9)
        )
        return compare(at_most(1e-12), single(gap), ("D^-a A D^-(0.9-a)", single(other)))

    @claim(
        "regular-one-round",
        "One round of message passing tells them apart.",
        "002 Prop. 2.1 (i)",
    )
    def regular_one_round(self, found: Found) -> Evidence:
        """Told within one round; without a round they must not be."""
        control = ("no round", single(_told(REGULAR, "wl", 0)))
        return compare(at_least(1), single(_told(REGULAR, "wl", 1)), control)

    @claim(
        "fourteen-powers",
        "The two graphs with 14 nodes have equal numbers of walks of every length at every node.",
        "002 Prop. 2.1 (ii), Fig. 2.1",
    )
    def fourteen_powers(self, found: Found) -> Evidence:
        """Unequal entries of A^k 1 in exact whole numbers; the regular pair must differ."""
        one, two = found.walks
        other = _walks(REGULAR.first, self.powers) != _walks(REGULAR.second, self.powers)
        control = ("the regular pair", single(int(other.sum())))
        return compare(at_most(0), single(int((one != two).sum())), control)

    @claim(
        "fourteen-two-rounds",
        "Two rounds of message passing tell them apart.",
        "002 Prop. 2.1 (ii)",
    )
    def fourteen_two_rounds(self, found: Found) -> Evidence:
        """Told within two rounds; one must not be enough."""
        control = ("one round", single(_told(FOURTEEN, "wl", 1)))
        return compare(at_least(1), single(_told(FOURTEEN, "wl", 2)), control)

    @claim(
        "fourteen-sums",
        "Walk counts of the first graph satisfy w(1) = w(2), w(3) + w(9) = w(6) + w(8) and "
        "w(5) + w(7) = w(4) + w(10) at every length.",
        "002 Lemma A.9",
    )
    def fourteen_sums(self, found: Found) -> Evidence:
        """Violations over all lengths; nodes of different degree must violate."""
        w = found.walks[0][1:].T[[0, *range(14)]]  # counted from 1 as printed
        sums = (w[1] - w[2], w[3] + w[9] - w[6] - w[8], w[5] + w[7] - w[4] - w[10])
        wrong = sum(int((s != 0).sum()) for s in sums)
        control = ("w(3) + w(9) = w(6) + w(4)", single(int((w[3] + w[9] != w[6] + w[4]).sum())))
        return compare(at_most(0), single(wrong), control)

    @claim(
        "injective-operator",
        "D and A D^-alpha tell both pairs of Prop. 2.1 apart.",
        "002 Prop. 2.2",
    )
    def injective_operator(self, found: Found) -> Evidence:
        """Pairs told of two; the symmetric normalised operator must miss one."""

        def count(family: str) -> int:
            return sum(found.told[p.name][family] is not None for p in (FOURTEEN, REGULAR))

        control = ("D^-1/2 A D^-1/2", single(count("normalized")))
        return compare(at_least(2), single(count("injective")), control)

    @claim(
        "injective-exponent",
        "With the alpha of the lemma, sums of u^-alpha differ for all multisets of numbers 1..n "
        f"with at most n members, n = {MULTISETS_FROM}.",
        "002 Lemma A.4",
    )
    def injective_multisets(self, found: Found) -> Evidence:
        """Multisets that share a sum, in exact fractions; alpha = 1 must collide."""
        alpha = injective_exponent(MULTISETS_FROM)
        return compare(
            at_most(0), single(_collisions(MULTISETS_FROM, alpha)),
            ("alpha = 1", single(_collisions(MULTISETS_FROM, 1))),
            f"alpha = {alpha}; for n = 100 it is 459, and 100^-459 is 0 in float64.",
        )  # fmt: skip

    random_pairs = random_graphs.random_pairs
    highest_degrees = random_graphs.highest_degrees

    @claim(
        "hexagon-printed",
        "Read literally, min(A^2, 1) tells a hexagon from two triangles.",
        "002 section 2.3, remark on powers of the graph",
    )
    def hexagon_printed(self, found: Found) -> Evidence:
        """Difference of row sums: 3 in both graphs; message passing misses them too."""
        control = ("message passing", single(_told(HEXAGON, "wl", 6)))
        return compare(
            at_least(1), single(_row_gap(power_graph)), control,
            "Every node reaches itself and two others in two steps, in both graphs.",
        )  # fmt: skip

    @claim(
        "hexagon-closed",
        "The operator min((I + A)^2, 1) tells a hexagon from two triangles.",
        "the remark of 002 section 2.3, corrected",
    )
    def hexagon_closed(self, found: Found) -> Evidence:
        """Row sums 5 and 3; without the diagonal the printed operator must still miss."""
        closed = _row_gap(lambda g: power_graph(g, closed=True))
        open_ = _row_gap(lambda g: power_graph(g, diagonal=False))
        return compare(at_least(1), single(closed), ("min(A^2, 1) off the diagonal", single(open_)))

    @claim(
        "hexagon-triangles",
        "The operator A ∘ A^2 tells a hexagon from two triangles.",
        "the remark of 002 section 2.3, corrected; SIGN's triangle operator",
    )
    def hexagon_triangles(self, found: Found) -> Evidence:
        """Row sums 0 and 2; the printed operator must miss."""
        return compare(
            at_least(1), single(_row_gap(triangle)), ("min(A^2, 1)", single(_row_gap(power_graph)))
        )

    @claim(
        "branches-operators",
        "No operator on the topology tells the roots of the two trees apart, at any depth tried.",
        "002 Fig. 2.3",
    )
    def branches_operators(self, found: Found) -> Evidence:
        """Families that do; message passing must."""
        fixed = sum(any(found.roots[f]) for f in families.names() if f != "wl")
        return compare(
            at_most(0), single(fixed), ("message passing", single(any(found.roots["wl"])))
        )

    @claim(
        "branches-two-rounds",
        "Two rounds of message passing tell the roots apart.",
        "002 Fig. 2.3",
    )
    def branches_two_rounds(self, found: Found) -> Evidence:
        """Whether they differ after two rounds; after one they must not."""
        after = found.roots["wl"]
        return compare(at_least(1), single(after[2]), ("one round", single(after[1])))

    # --- charts --------------------------------------------------------------------------

    @chart
    def fourteen(self, found: Found) -> Chart:
        """The 14-node pair, nodes coloured by class after two rounds."""
        colours = refine(union([FOURTEEN.first, FOURTEEN.second]), 2)[-1]
        return Chart(
            "fourteen",
            "Equal numbers of walks, different neighbourhoods",
            "Both graphs have the same numbers of walks at every node and every length, so powers "
            "of A see no difference. Colours are the classes after two rounds of message passing: "
            "nodes 1 and 2 are alike on the left and not on the right.",
            (_drawn((FOURTEEN.first, FOURTEEN.second), colours, "G (left) and G' (right)"),),
        )

    @chart
    def who_tells_what(self, found: Found) -> Chart:
        """First depth at which each family tells each pair apart."""
        names = tuple(families.names())
        bars = [
            Bars(names, [float(found.told[p.name][f] or 0) for f in names], p.name, group=i)
            for i, p in enumerate(hard_pairs)
        ]
        return Chart(
            "who-tells-what",
            "Which family tells which pair apart",
            "First depth at which the two graphs of a pair differ as wholes; no bar means never. "
            "Every family, message passing (wl) included, misses a pair that another one sees.",
            (Panel(tuple(bars), y_label="first depth (none: never)"),),
        )


def _walks(graph: Any, length: int) -> np.ndarray:
    """(length + 1, nodes) exact numbers of walks of length 0, 1, ..."""
    start = np.ones(graph.nodes, np.int64)
    return np.stack([start.astype(object), *islice(integer_powers(graph.adjacency, start), length)])


def _gap(pair: Pair, left: float, right: float, powers: int) -> float:
    """Largest difference of (D^-left A D^-right)^k 1 between the graphs."""
    steps = [normalized(g, left, right) for g in (pair.first, pair.second)]
    values, largest = [np.ones(g.nodes) for g in (pair.first, pair.second)], 0.0
    for _ in range(powers):
        values = [step @ v for step, v in zip(steps, values)]
        largest = max(largest, float(abs(values[0] - values[1]).max()))
    return largest


def _told(pair: Pair, family: str, depth: int) -> bool:
    return bool(distinguish(pair.first, pair.second, family, depth, features=pair.features))


def _row_gap(operator: Any) -> float:
    """Difference of the row sums of an operator on the hexagon and on two triangles."""
    one, two = (operator(g).sum(axis=1) for g in (HEXAGON.first, HEXAGON.second))
    return float(abs(one - two).max())


def _roots_differ(family: str, depth: int = 6) -> list[bool]:
    """Whether the roots of Fig. 2.3 differ at depth 0..depth."""
    assert BRANCHES.features is not None
    both = union([BRANCHES.first, BRANCHES.second])
    features = np.concatenate(BRANCHES.features)
    rows = partitions(both, depth, family, features=features, include_identity=True)
    return [bool(row[0] != row[BRANCHES.first.nodes]) for row in rows]


def _collisions(n: int, alpha: int) -> int:
    """Multisets of at most n numbers from 1..n whose sum of u^-alpha another one has too."""
    terms = [Fraction(1, u**alpha) for u in range(1, n + 1)]
    sums = Counter(
        sum(chosen)
        for size in range(n + 1)
        for chosen in combinations_with_replacement(terms, size)
    )
    return sum(count for count in sums.values() if count > 1)


def _drawn(graphs: tuple[Any, Any], colours: np.ndarray, title: str) -> Panel:
    """Both graphs beside each other, so that they share one scale of colours."""
    import networkx as nx

    both = nx.from_scipy_sparse_array(union(graphs).adjacency)
    size = graphs[0].nodes
    halves = [nx.kamada_kawai_layout(both.subgraph(range(k, k + size))) for k in (0, size)]
    places = {**halves[0], **{i: p + np.array([2.6, 0.0]) for i, p in halves[1].items()}}
    x, y = zip(*(places[i] for i in both))
    names = tuple(str(graph.name(i)) for graph in graphs for i in range(size))
    edges = tuple((int(a), int(b)) for a, b in both.edges)
    drawn = Graph(x, y, colours, names, edges, label="class after two rounds")
    return Panel((drawn,), title=title, equal=True)
