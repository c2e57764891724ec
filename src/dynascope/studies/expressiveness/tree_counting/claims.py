"""Bounds on numbers of trees and of classes, and the trees that no fixed operator tells apart."""

from math import log10

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.sources import chen2025
from dynascope.graphs import tree_counts
from dynascope.studies.comparisons import at_least, at_most, near
from dynascope.studies.expressiveness.tree_counting import runs
from dynascope.studies.expressiveness.tree_counting.runs import (
    Choice,
    Count,
    Fewest,
    Settings,
    study,
)
from dynascope.studies.measures import exact
from dynascope.studies.nodes import SETTINGS, case

trees, full, classes = (runs.counts[k] for k in ("aggregation trees", "full trees", "classes"))
least, most = runs.counts["least aggregation trees"], runs.counts["most classes"]
DEEP = 20  # where 2^K has outgrown every power of K that occurs


def digits(count: Count, branchings: tuple[int, ...], depths: range) -> np.ndarray:
    """(branchings, depths) log10 of a count, which may be too long for a floating number."""
    return np.array([[log10(count(m, k)) for k in depths] for m in branchings])


def least_surplus(
    count: Count, bound: Count, branchings: tuple[int, ...], depths: range
) -> Measured:
    """Smallest surplus of one count over the other, in powers of ten."""
    return exact((digits(count, branchings, depths) - digits(bound, branchings, depths)).min())


study.claim(
    "aggregation-trees",
    "There are at least (m - 1)^(2^K - 1) aggregation trees with m children, m = 3 and 4, "
    "K up to 4.",
    chen2025("Prop. 2.3, Lemma A.6"), least_surplus, at_least(0, "printed"),
    on=(trees, least, (3, 4), range(1, 5)),
    fails_on=case("classes under fixed operators", classes, least, (3, 4), range(1, 5)),
    holds_on=case("all full trees, which contain them", full, least, (3, 4), range(1, 5)),
)  # fmt: skip


def growth(s: Settings, count: Count) -> np.ndarray:
    """By which factor the logarithm of a count grows from each depth to the next."""
    logs = digits(count, (s.branching,), range(1, s.depth + 1))[0]
    return logs[1:] / logs[:-1]


study.claim(
    "doubly-exponential",
    "The logarithm of the number of aggregation trees at least doubles with every level.",
    chen2025("Prop. 2.3"), lambda s, count: exact(growth(s, count).min()),
    at_least(2, "derived"), on=(SETTINGS, trees),
    fails_on=case("classes under fixed operators", SETTINGS, classes),
    holds_on=case("a planted count, 2^(3^K)", SETTINGS, runs.counts["2^(3^K)"]),
    measures="Smallest factor by which the logarithm of the count grows from level to level.",
)  # fmt: skip
study.claim(
    "poly-exponential",
    "The logarithm of the bound on classes grows by less and less with every level.",
    chen2025("Prop. 2.4"), lambda s, count: exact(np.diff(growth(s, count)).max()),
    at_most(0, "derived"), on=(SETTINGS, most),
    fails_on=case("aggregation trees", SETTINGS, trees),
    holds_on=case("a planted count, 2^(K^3)", SETTINGS, runs.counts["2^(K^3)"]),
    measures="Largest change of the logarithm's growth factor from level to level.",
)  # fmt: skip
study.claim(
    "vc-dimension",
    f"At depth {DEEP} and with three children the least VC dimension of message passing, "
    "(m - 1)^(2^K - 1), exceeds the largest of graph-augmented MLPs, the bound of Prop. 2.4.",
    chen2025("Cor. 2.5"), least_surplus, at_least(0, "derived"),
    on=(least, most, (3,), range(DEEP, DEEP + 1)),
    fails_on=case(
        "classes under fixed operators in its place", classes, most, (3,), range(DEEP, DEEP + 1)
    ),
    holds_on=case(
        "a planted count, 4^(2^K), in its place",
        runs.counts["4^(2^K)"], most, (3,), range(DEEP, DEEP + 1),
    ),
    note="A set is shattered if all its members are told apart, so that the dimension is the "
    "number of classes.",
)  # fmt: skip
study.claim(
    "bound-on-classes",
    "Classes of full trees under fixed operators stay below the bound of Prop. 2.4, for two and "
    "three children and depths up to 11.",
    chen2025("Prop. 2.4"), least_surplus, at_least(0, "derived"),
    on=(most, classes, (2, 3), range(1, 12)),
    fails_on=case("full trees themselves", most, full, (2, 3), range(1, 12)),
    holds_on=case(
        "two classes, those of the root's feature", most, runs.counts["two"], (2, 3), range(1, 12)
    ),
)  # fmt: skip


def ratio_to_lemma(fewest: Fewest) -> Measured:
    """Smallest number of trees over Lemma A.7's bound."""
    bound = tree_counts.balanced_tree_bound
    return exact(min(count / bound(depth) for (_, depth), count in fewest.items()))


study.claim(
    "balanced-trees",
    "Every balanced choice of zeros per level leaves at least 2^(2^(K-1) - 1) trees.",
    chen2025("Prop. 2.6, Lemma A.7"), ratio_to_lemma, at_least(1, "printed"),
    on=runs.fewest["balanced"],
    fails_on=case("choices outside the range", runs.fewest["outside"]),
    holds_on=case("the largest class, never below the mean", runs.fewest["largest class"]),
)  # fmt: skip


def cannot_be_completed(choices: list[Choice]) -> Measured:
    """Choices for which no numbers from 1 to the room of each other path add up to q_K."""
    left = ((q - sum(own), room) for q, own, room in choices)
    return exact(sum(not len(room) <= rest <= sum(room) for rest, room in left))


study.claim(
    "completions",
    "For three children, K = 2 and 3 and q_K in the range of (A.20), every choice of one or two "
    "zeros under the half of the paths with the fewest nodes can be completed.",
    chen2025("Lemma A.8"), cannot_be_completed, at_most(0, "printed"),
    on=runs.completions["range"],
    fails_on=case("q_K above the range", runs.completions["above"]),
    holds_on=case("q_K = 2^K", runs.completions["2^K"]),
    note=lambda choices: f"{len(choices)} choices.",
)  # fmt: skip


def ratio(count: Count, other: Count, depth: int) -> Measured:
    """Full trees over classes, for three children."""
    return exact(count(3, depth) / other(3, depth))


study.claim(
    "separation",
    "Full ternary trees of depth 3 are at least a thousand times as many as the classes that "
    "any fixed operator sees.",
    chen2025("Prop. 2.6, in numbers"), ratio, at_least(1000, "ours"), exploratory=True,
    on=(full, classes, 3), fails_on=case("depth 1", full, classes, 1),
    holds_on=case("a planted count, 2^(3^K), for the trees", runs.counts["2^(3^K)"], classes, 3),
)  # fmt: skip


def number_of_classes(classes: np.ndarray) -> Measured:
    """How many classes there are at the root."""
    return exact(len(np.unique(classes)))


study.claim(
    "level-counts-are-attained",
    "Powers 0..2 of A tell exactly 30 classes of the binary trees of depth 2.",
    chen2025("Prop. 2.6: prod(m^k + 1) classes"), number_of_classes, near(30, 0, "derived"),
    on=runs.binary_trees["adjacency"],
    fails_on=case("message passing", runs.binary_trees["wl"]),
    holds_on=case("thirty roots with a feature each", runs.binary_trees["roots"]),
)  # fmt: skip


def most_told(classes: dict[str, np.ndarray]) -> Measured:
    """Most classes at the root over the families."""
    return exact(max(len(np.unique(found)) for found in classes.values()))


study.claim(
    "walk-family-one-class",
    "The trees of Prop. 2.7 are one class at the root for every fixed operator.",
    chen2025("Prop. 2.7"), most_told, at_most(1, "derived"), on=runs.walk_classes["operators"],
    fails_on=case("message passing", runs.walk_classes["rounds"]),
    holds_on=case("ten copies of the first tree", runs.walk_classes["copies"]),
)  # fmt: skip


def values_in_a_class(walks: np.ndarray, classes: dict[str, np.ndarray], family: str) -> Measured:
    """How many of 0..9 the numbers of walks take within one class of trees, at most."""
    own = classes[family]
    found = [set(walks[own == c].tolist()) & set(range(10)) for c in np.unique(own)]
    return exact(max(map(len, found)))


operators, rounds = runs.walk_classes["operators"], runs.walk_classes["rounds"]
planted = {
    kind: case("planted trees with 0..9 walks, put into one class",
               runs.walks[f"{kind}, planted"], runs.walk_classes["one"], "planted")
    for kind in ("all", "forward")
}  # fmt: skip
for slug, words, place, kind, partner in (
    ("walk-family-printed",
     "Read literally, with all walks, the count in the trees of Prop. 2.7 takes every value "
     "0..m^(k-1).", "Prop. 2.7 with the definition (A.4)", "all", "walk-family"),
    ("walk-family",
     "Walks that do not turn back take every value 0..m^(k-1) in the trees of Prop. 2.7.",
     "Prop. 2.7, read as in its proof", "forward", "walk-family-printed"),
):  # fmt: skip
    study.claim(
        slug, words, chen2025(place), values_in_a_class, at_least(10, "printed"),
        on=(runs.walks[kind], operators, "adjacency"),
        fails_on=case("one class of message passing", runs.walks[kind], rounds, "wl"),
        holds_on=planted[kind],
        note=lambda walks, *_: f"Numbers of walks: {walks[0]}..{walks[-1]}.", partner=partner,
    )  # fmt: skip

# --- operators that are equivariant and not linear --------------------------------------------


def most_merged(trees: dict[str, np.ndarray], operator: str) -> Measured:
    """Most trees, no two of them isomorphic, in one class of an operator."""
    return exact(np.bincount(np.unique(trees[operator], return_inverse=True)[1]).max())


own = case("as many roots with a feature each", runs.ternary_trees, "roots")
fewest = tree_counts.balanced_tree_bound(2)
study.claim(
    "equivariant-printed",
    "Read literally, any equivariant operator, two rounds of message passing for one, has a class "
    f"with {fewest} ternary trees of depth 2 that message passing tells apart.",
    chen2025("Prop. A.2"), most_merged, at_least(fewest, "printed"),
    on=(runs.ternary_trees, "wl"), fails_on=own,
    holds_on=case("powers of A", runs.ternary_trees, "adjacency"),
    note="The rounds are an operator in the sense of (A.1): they commute with permutations.",
    partner="equivariant-linear",
)  # fmt: skip
study.claim(
    "equivariant-linear",
    f"Powers of 8 I - H, which are linear in the features, have a class with {fewest} ternary "
    "trees of depth 2 that message passing tells apart.",
    chen2025("Prop. A.2, for operators that are linear"), most_merged,
    at_least(fewest, "printed"), on=(runs.ternary_trees, "bethe"), fails_on=own,
    holds_on=case("powers of A", runs.ternary_trees, "adjacency"),
    partner="equivariant-printed",
)  # fmt: skip
forward = runs.walks["forward"]
study.claim(
    "equivariant-walks-printed",
    "Read literally, walks take every value 0..m^(k-1) within a class of any equivariant operator, "
    "message passing of three rounds for one.",
    chen2025("Prop. A.3"), values_in_a_class, at_least(10, "printed"),
    on=(forward, rounds, "wl"),
    fails_on=case(
        "numbers 0..9 in trees whose roots have a feature each",
        runs.walks["numbers"], runs.walk_classes["roots"], "wl",
    ),
    holds_on=planted["forward"], partner="equivariant-walks-linear",
)  # fmt: skip
study.claim(
    "equivariant-walks-linear",
    "Walks take every value 0..m^(k-1) within a class of the powers of personalised PageRank, "
    "which are linear in the features.",
    chen2025("Prop. A.3, for operators that are linear"), values_in_a_class,
    at_least(10, "printed"), on=(forward, operators, "ppr"),
    fails_on=case("one class of message passing", forward, rounds, "wl"),
    holds_on=planted["forward"], partner="equivariant-walks-printed",
)  # fmt: skip
