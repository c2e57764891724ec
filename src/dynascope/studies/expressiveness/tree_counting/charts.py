"""Growth over depth, and ten trees in one class."""

import numpy as np

from dynascope.core.charts import Chart, Line, Panel, Points
from dynascope.graphs import tree_counts
from dynascope.graphs.tree_counts import count_full_trees, count_level_classes
from dynascope.studies.expressiveness.tree_counting.claims import digits
from dynascope.studies.expressiveness.tree_counting.runs import Settings, study, walks
from dynascope.studies.headlines import headline_chart


@study.chart(headline=True)
def headline(s: Settings) -> Chart:
    """Digits of the number of trees and of the classes, over depth."""
    x, counts = range(1, s.depth + 1), (count_full_trees, count_level_classes)
    trees, classes = (digits(count, (s.branching,), x)[0] for count in counts)
    return headline_chart(
        "Full ternary trees with two features, and what a fixed operator sees of them",
        ("depth", x), ("log10 of their number", trees),
        ("classes that any fixed operator sees", classes), name="trees", y_scale="log",
        note=f"depth 3: {count_full_trees(3, 3):,} trees, {count_level_classes(3, 3):,} classes",
    )  # fmt: skip


@study.chart()
def growth(s: Settings) -> Chart:
    """Trees, classes and both bounds over depth, as numbers of digits."""
    x, lines = range(1, s.depth + 1), []
    for group, (count, label, bound, bound_label) in enumerate((
        (tree_counts.count_aggregation_trees, "aggregation trees",
         tree_counts.aggregation_tree_bound, "at least (Lemma A.6)"),
        (count_level_classes, "classes of fixed operators",
         tree_counts.feature_class_bound, "at most (Prop. 2.4)"),
    )):  # fmt: skip
        counts = (digits(c, (s.branching,), x)[0] for c in (count, bound))
        # A count of 1 has no digits, which a logarithmic axis cannot show.
        measured, limit = (np.where(np.asarray(c) > 0, c, np.nan) for c in counts)
        lines.append(Line(x, measured, label, group=group))
        lines.append(Line(x, limit, bound_label, "theory", group))
    return Chart(
        "growth", "Trees outgrow what fixed operators see",
        "Digits of exact counts for three children, on a log scale: a straight line is doubly "
        "exponential growth. Trees keep their slope; what fixed operators can tell apart "
        "bends, and so does its bound.",
        (Panel(tuple(lines), "", "depth", "digits (log10 of the count)", y_scale="log"),),
    )  # fmt: skip


@study.chart(walks)
def walk_family(s: Settings, walks: dict[str, np.ndarray]) -> Chart:
    """Walk counts in ten trees that no fixed operator tells apart."""
    x = range(len(walks["all"]))
    forward = Points(x, walks["forward"], "walks that do not turn back", group=1)
    return Chart(
        "walk-family", "One class, ten answers",
        "Ten ternary trees whose roots have equal features under every fixed operator, with "
        "their numbers of walks of colours 0, 1, 0. A model on such features must give one "
        "answer for all; message passing of depth 3 can give all ten.",
        (Panel((Points(x, walks["all"], "all walks"), forward), x_label="tree",
               y_label="walks from the root"),),
    )  # fmt: skip
