"""How fast the number of rooted trees grows, and how many of them a family can tell apart.

002 Props. 2.3, 2.4, 2.6, 2.7 and Lemmas A.6, A.7. All counts are exact whole numbers of any
length; nothing is trained.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise, product
from math import log, log10
from typing import Any, ClassVar, NamedTuple

import numpy as np
import xarray as xr

from dynascope.core.charts import Chart, Line, Panel, Points
from dynascope.core.records import Headline
from dynascope.engine import Experiment
from dynascope.graphs import partitions, union
from dynascope.graphs.tree_counts import (
    aggregation_tree_bound,
    balanced_level_zeros,
    balanced_tree_bound,
    count_aggregation_trees,
    count_full_trees,
    count_level_classes,
    feature_class_bound,
    trees_by_level_zeros,
)
from dynascope.graphs.trees import full_tree, walk_counting_family
from dynascope.graphs.walks import count_non_backtracking_walks, count_walks
from dynascope.studies.base import Study, chart, claim
from dynascope.studies.comparisons import Evidence, at_least, at_most, compare, near, single

BALANCED = ((3, 2), (4, 2), (3, 3))  # (branching, depth) with every tuple counted
PATTERN = (0, 1, 0)
FIXED = ("adjacency", "normalized", "self_loop", "bethe", "ppr")  # operators on the topology


class Found(NamedTuple):
    """What claims and charts read."""

    balanced: dict[tuple[int, int], tuple[int, int]]  # fewest trees inside, outside the range
    small: dict[str, int]  # family -> classes of all binary trees of depth 2 at the root
    classes: dict[str, int]  # family -> classes of the trees of Prop. 2.7 at the root
    counts: tuple[list[int], list[int]]  # walks in those trees: all, and without turning back
    within: tuple[int, int]  # most values that either count takes in one class of message passing


@dataclass(frozen=True)
class TreeCounting(Study):
    """Exact numbers of trees and of classes beside the bounds of the thesis."""

    name: ClassVar[str] = "tree-counting"
    title: ClassVar[str] = "Trees outgrow precomputed features doubly exponentially"
    source: ClassVar[str] = "002 Props. 2.3, 2.4, 2.6, 2.7, Lemmas A.6, A.7"
    needs_runs: ClassVar[bool] = False
    scales: ClassVar[dict[str, dict[str, Any]]] = {"smoke": {}, "laptop": {}, "paper": {}}

    depth: int = 8  # of the growth comparison
    branching: int = 3

    def notes(self) -> tuple[str, ...]:
        """Where text and derivation differ."""
        return (
            "Lemma A.6 is empty for two children (its bound is 1); three and four are counted.",
            "Lemma A.7's proof counts one tree of depth 1 where its definition has none; the "
            "bound stands.",
            "Prop. 2.4 prints C(m^k + N - 1, N); C(m^k + N, N) is what its argument gives.",
            "The VC statement (Cor. 2.5) is asymptotic and is not computed.",
        )

    def plan(self) -> dict[str, Experiment]:
        """Nothing is trained."""
        return {}

    def analyse(self, runs: dict[str, xr.Dataset]) -> Found:
        """All counts that take more than a formula."""
        balanced = {}
        for m, depth in BALANCED:
            trees, inside = trees_by_level_zeros(m, depth), set(balanced_level_zeros(m, depth))
            fewest = min(trees[q] for q in inside)
            balanced[m, depth] = fewest, min(n for q, n in trees.items() if q not in inside)
        members = list(walk_counting_family(self.branching, PATTERN))
        trees_, features = [t for t, _ in members], [f for _, f in members]
        counts = [
            [int(count(t, f, PATTERN)[0]) for t, f in members]
            for count in (count_walks, count_non_backtracking_walks)
        ]
        classes = {f: _root_classes(trees_, features, f, len(PATTERN)) for f in ("wl", *FIXED)}
        roots = _root_colours(trees_, features, "wl", len(PATTERN))
        within = [_most_values(values, roots) for values in counts]
        return Found(
            balanced, _all_binary_trees(), classes, (counts[0], counts[1]), (within[0], within[1])
        )

    def headline(self, found: Found) -> Headline:
        """Digits of the number of trees and of the classes, over depth."""
        x = range(1, self.depth + 1)
        trees, classes = (
            tuple(log10(count(self.branching, k)) for k in x)
            for count in (count_full_trees, count_level_classes)
        )
        return Headline(
            "Full ternary trees with two features, log10 of their number (theory: classes that "
            "any fixed operator sees)",
            "depth", "log10", tuple(map(float, x)), trees, classes,
            f"depth 3: {count_full_trees(3, 3):,} trees, {count_level_classes(3, 3):,} classes",
        )  # fmt: skip

    # --- claims --------------------------------------------------------------------------

    @claim(
        "aggregation-trees",
        "There are at least (m - 1)^(2^K - 1) aggregation trees with m children, m = 3 and 4, "
        "K up to 4.",
        "002 Prop. 2.3, Lemma A.6",
    )
    def aggregation_trees(self, found: Found) -> Evidence:
        """Smallest excess in log10; the bound of one level more must be violated."""

        def excess(more: int) -> float:
            return min(
                log10(count_aggregation_trees(m, k)) - log10(aggregation_tree_bound(m, k + more))
                for m, k in product((3, 4), range(1, 5))
            )

        return compare(at_least(0), single(excess(0)), ("the bound for K + 1", single(excess(1))))

    @claim(
        "doubly-exponential",
        "The logarithm of the number of aggregation trees at least doubles with every level.",
        "002 Prop. 2.3",
    )
    def doubly_exponential(self, found: Found) -> Evidence:
        """Smallest factor from one depth to the next; the classes' bound must grow slower."""
        factors = _factors(lambda k: count_aggregation_trees(self.branching, k), self.depth)
        bound = _factors(lambda k: feature_class_bound(self.branching, k), self.depth)
        control = ("the bound on classes of Prop. 2.4", single(bound[-1]))
        return compare(at_least(2), single(min(factors)), control)

    @claim(
        "poly-exponential",
        "The logarithm of the bound on classes grows by less and less with every level.",
        "002 Prop. 2.4",
    )
    def poly_exponential(self, found: Found) -> Evidence:
        """Largest change of the growth factor; that of the trees must rise."""
        bound = np.diff(_factors(lambda k: feature_class_bound(self.branching, k), self.depth))
        trees = np.diff(_factors(lambda k: count_aggregation_trees(self.branching, k), self.depth))
        control = ("aggregation trees", single(float(trees.max())))
        return compare(at_most(0), single(float(bound.max())), control)

    @claim(
        "bound-on-classes",
        "Classes of full trees under fixed operators stay below the bound of Prop. 2.4.",
        "002 Prop. 2.4",
    )
    def bound_on_classes(self, found: Found) -> Evidence:
        """Largest excess in log10 over depths; the number of trees must exceed it in the end."""

        def excess(count: Any) -> float:
            return max(
                log10(count(m, k)) - log10(feature_class_bound(m, k))
                for m, k in product((2, 3), range(1, self.depth + 4))
            )

        control = ("full trees themselves", single(excess(count_full_trees)))
        return compare(at_most(0), single(excess(count_level_classes)), control)

    @claim(
        "balanced-trees",
        "Every balanced choice of zeros per level leaves at least 2^(2^(K-1) - 1) trees.",
        "002 Prop. 2.6, Lemma A.7",
    )
    def balanced_trees(self, found: Found) -> Evidence:
        """Smallest ratio to the bound; choices outside the range must fall below."""
        inside, outside = (
            min(n[i] / balanced_tree_bound(k) for (_, k), n in found.balanced.items())
            for i in (0, 1)
        )
        return compare(at_least(1), single(inside), ("choices outside the range", single(outside)))

    @claim(
        "separation",
        "Full ternary trees of depth 3 are at least a thousand times as many as the classes that "
        "any fixed operator sees.",
        "002 Prop. 2.6",
    )
    def separation(self, found: Found) -> Evidence:
        """Exact ratio; at depth 1 nothing is lost."""
        ratio = {k: count_full_trees(3, k) / count_level_classes(3, k) for k in (1, 3)}
        return compare(at_least(1000), single(ratio[3]), ("depth 1", single(ratio[1])))

    @claim(
        "level-counts-are-attained",
        "Powers 0..2 of A tell exactly 30 classes of the binary trees of depth 2.",
        "002 Prop. 2.6: prod(m^k + 1) classes",
    )
    def attained(self, found: Found) -> Evidence:
        """All 128 labelled trees, by their root; message passing must tell all 42 apart."""
        control = ("message passing", single(found.small["wl"]))
        return compare(near(30, 0), single(found.small["adjacency"]), control)

    @claim(
        "walk-family-one-class",
        "The trees of Prop. 2.7 are one class at the root for every fixed operator.",
        "002 Prop. 2.7",
    )
    def one_class(self, found: Found) -> Evidence:
        """Most classes over the families; message passing must tell them all apart."""
        most = max(found.classes[f] for f in FIXED)
        return compare(at_most(1), single(most), ("message passing", single(found.classes["wl"])))

    @claim(
        "walk-family-printed",
        "Read literally, with all walks, the count in those trees takes every value 0..m^(k-1).",
        "002 Prop. 2.7 with the definition (A.4)",
    )
    def family_printed(self, found: Found) -> Evidence:
        """Values of 0..9 that occur; walks that turn back shift all of them."""
        return compare(
            at_least(10), single(_covered(found.counts[0])),
            ("one class of message passing", single(found.within[0])),
            f"All walks: {found.counts[0][0]}..{found.counts[0][-1]}.",
        )  # fmt: skip

    @claim(
        "walk-family",
        "Walks that do not turn back take every value 0..m^(k-1) in those trees.",
        "002 Prop. 2.7, read as in its proof",
    )
    def family(self, found: Found) -> Evidence:
        """Values of 0..9 that occur; within one class of message passing only one may."""
        control = ("one class of message passing", single(found.within[1]))
        return compare(at_least(10), single(_covered(found.counts[1])), control)

    # --- charts --------------------------------------------------------------------------

    @chart
    def growth(self, found: Found) -> Chart:
        """Trees, classes and both bounds over depth, as numbers of digits."""
        m, x = self.branching, range(1, self.depth + 1)

        def digits(count: Any) -> list[float]:
            return [max(log10(count(m, k)), 0.01) for k in x]

        lines = (
            Line(x, digits(count_aggregation_trees), "aggregation trees", group=0),
            Line(x, digits(aggregation_tree_bound), "at least (Lemma A.6)", role="theory", group=0),
            Line(x, digits(count_level_classes), "classes of fixed operators", group=1),
            Line(x, digits(feature_class_bound), "at most (Prop. 2.4)", role="theory", group=1),
        )
        return Chart(
            "growth",
            "Trees outgrow what fixed operators see",
            "Digits of exact counts for three children, on a log scale: a straight line is doubly "
            "exponential growth. Trees keep their slope; what fixed operators can tell apart "
            "bends, and so does its bound.",
            (Panel(lines, x_label="depth", y_label="digits (log10 of the count)", y_scale="log"),),
        )

    @chart
    def walk_family(self, found: Found) -> Chart:
        """Walk counts in ten trees that no fixed operator tells apart."""
        x = range(len(found.counts[0]))
        marks = (
            Points(x, found.counts[0], "all walks"),
            Points(x, found.counts[1], "walks that do not turn back", group=1),
        )
        return Chart(
            "walk-family",
            "One class, ten answers",
            "Ten ternary trees whose roots have equal features under every fixed operator, with "
            "their numbers of walks of colours 0, 1, 0. A model on such features must give one "
            "answer for all; message passing of depth 3 can give all ten.",
            (Panel(marks, x_label="tree", y_label="walks from the root"),),
        )


def _factors(count: Any, depth: int) -> list[float]:
    """How much the logarithm of a count grows from each depth to the next."""
    logs = [log(count(k)) for k in range(1, depth + 1)]
    return [b / a for a, b in pairwise(logs)]


def _root_classes(trees: list, features: list, family: str, depth: int) -> int:
    return len(np.unique(_root_colours(trees, features, family, depth)))


def _root_colours(trees: list, features: list, family: str, depth: int) -> np.ndarray:
    """(trees,) the class of each tree's root."""
    everything = union(trees)
    rows = partitions(
        everything, depth, family, features=np.concatenate(features), include_identity=True
    )
    roots = np.searchsorted(everything.part, np.arange(len(trees)))
    return rows[-1][roots]


def _most_values(values: list[int], classes: np.ndarray) -> int:
    """How many different values occur within one class, at most."""
    return max(len(set(np.array(values)[classes == c].tolist())) for c in set(classes.tolist()))


def _all_binary_trees() -> dict[str, int]:
    """Classes at the root of all 2^7 labelled binary trees of depth 2."""
    tree = full_tree(2, 2)
    features = [np.array(bits) for bits in product((0, 1), repeat=tree.nodes)]
    trees = [tree] * len(features)
    return {f: _root_classes(trees, features, f, 2) for f in ("wl", "adjacency")}


def _covered(values: list[int]) -> int:
    """How many of 0..9 occur."""
    return len(set(range(10)) & set(values))
