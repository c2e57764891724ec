"""The printed statements on pairs, the wrong one beside its correction."""

from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, islice
from math import inf

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.sources import chen2025, derived
from dynascope.graphs import families, union
from dynascope.graphs.operators import normalized
from dynascope.graphs.pairs import BRANCHES, FOURTEEN, HEXAGON, REGULAR, GraphPair
from dynascope.graphs.powers import integer_powers
from dynascope.studies.comparisons import at_least, at_most, in_all_seeds
from dynascope.studies.expressiveness.graph_pairs import runs
from dynascope.studies.expressiveness.graph_pairs.runs import (
    CYCLE,
    LARGEST,
    OTHER_CHILDREN,
    RENUMBERED,
    SAME_TREE,
    STAR,
    Settings,
    Told,
    pairs,
    roots_told,
    study,
    told,
)
from dynascope.studies.measures import exact, share
from dynascope.studies.nodes import SETTINGS, case

Names = tuple[str, ...]
FIXED = tuple(family for family in families.names() if family != "wl")  # on the topology alone
Sums = tuple[tuple[tuple[int, ...], ...], ...]  # of walk counts w(i), equal at every length
LEMMA_A_9: Sums = (((1,), (2,)), ((3, 9), (6, 8)), ((5, 7), (4, 10)))
ROUNDING = 1e-12


def largest_gap(s: Settings, pair: GraphPair) -> Measured:
    """Largest difference of (D^-a A D^-(1-a))^k 1 between the graphs of a pair."""
    graphs, gaps = (pair.first, pair.second), []
    for a in (0.0, 0.3, 0.5, 1.0):
        steps, values = [normalized(g, a, 1 - a) for g in graphs], np.ones((2, pair.first.nodes))
        for _ in range(s.powers):
            values = np.array([step @ v for step, v in zip(steps, values)])
            gaps.append(np.abs(values[0] - values[1]).max())
    return exact(np.max(gaps))


study.claim(
    "regular-normalised",
    "Regular graphs of one size and different degree have equal features under every power "
    "of D^-a A D^-(1-a).",
    chen2025("Prop. 2.1 (i)"), largest_gap, at_most(ROUNDING, "derived"),
    on=(SETTINGS, pairs[REGULAR.name]), fails_on=case(STAR, SETTINGS, pairs[STAR]),
    holds_on=case("a cycle and itself", SETTINGS, pairs["a cycle twice"]),
)  # fmt: skip


def pairs_told(told: Told, pairs: Names, families: Names, within: float = inf) -> Measured:
    """How often one of the families tells one of the pairs within so many rounds."""
    depths = [told[pair][family] for pair in pairs for family in families]
    return exact(sum(depth <= within and depth < inf for depth in depths))


for slug, words, place, depths, pair, rounds, alike, certain in (
    ("regular-one-round",
     "One round of message passing tells regular graphs of one size and different degree apart.",
     "Prop. 2.1 (i)", told, REGULAR.name, 1, RENUMBERED, STAR),
    ("fourteen-two-rounds",
     "Two rounds of message passing tell the two graphs with 14 nodes apart.",
     "Prop. 2.1 (ii)", told, FOURTEEN.name, 2, RENUMBERED, STAR),
    ("branches-two-rounds",
     "Two rounds of message passing tell the roots of the two trees of Fig. 2.3 apart.",
     "Fig. 2.3", roots_told, BRANCHES.name, 2, SAME_TREE, OTHER_CHILDREN),
):  # fmt: skip
    study.claim(
        slug, words, chen2025(place), pairs_told, at_least(1, "derived"),
        on=(depths, (pair,), ("wl",), rounds),
        fails_on=case(alike, depths, (alike,), ("wl",), rounds),
        holds_on=case(certain, depths, (certain,), ("wl",), rounds),
    )  # fmt: skip
study.claim(
    "branches-operators",
    "No operator on the topology tells the roots of the two trees of Fig. 2.3 apart, at any "
    "depth tried.",
    chen2025("Fig. 2.3"), pairs_told, at_most(0, "derived"),
    on=(roots_told, (BRANCHES.name,), FIXED),
    fails_on=case("message passing", roots_told, (BRANCHES.name,), ("wl",)),
    holds_on=case(SAME_TREE, roots_told, (SAME_TREE,), FIXED),
)  # fmt: skip

both = (FOURTEEN.name, REGULAR.name)
study.claim(
    "injective-operator", "D and A D^-alpha tell both pairs of Prop. 2.1 apart.",
    chen2025("Prop. 2.2"), pairs_told, at_least(2, "derived"), on=(told, both, ("injective",)),
    fails_on=case("D^-1/2 A D^-1/2", told, both, ("normalized",)),
    holds_on=case("two pairs with other degrees", told, (STAR, CYCLE), ("injective",)),
)  # fmt: skip


def every_node(n: int) -> Sums:
    """Each node of the first graph and the same node of the second, which follows it."""
    return tuple(((i,), (n + i,)) for i in range(1, n + 1))


def unequal_sums(s: Settings, pair: GraphPair, sums: Sums) -> Measured:
    """Lengths at which sums of walk counts differ, over all sums; nodes count from 1."""
    both = union([pair.first, pair.second])
    w = np.stack([*islice(integer_powers(both.adjacency, np.ones(both.nodes, int)), s.powers)])
    totals = ([w[:, np.array(nodes) - 1].sum(axis=1) for nodes in equal] for equal in sums)
    return exact(sum(int((a != b).sum()) for a, b in totals))


study.claim(
    "fourteen-powers",
    "The two graphs with 14 nodes have equal numbers of walks of every length at every node.",
    chen2025("Prop. 2.1 (ii), Figs. 2.1, A.1"), unequal_sums, at_most(0, "derived"),
    on=(SETTINGS, pairs[FOURTEEN.name], every_node(14)),
    fails_on=case("the regular pair", SETTINGS, pairs[REGULAR.name], every_node(8)),
    holds_on=case(
        "the first graph twice", SETTINGS, pairs["the first graph twice"], every_node(14)
    ),
)  # fmt: skip
study.claim(
    "fourteen-sums",
    "Walk counts of the first graph with 14 nodes satisfy w(1) = w(2), w(3) + w(9) = w(6) + w(8) "
    "and w(5) + w(7) = w(4) + w(10) at every length.",
    chen2025("Lemma A.9"), unequal_sums, at_most(0, "printed"),
    on=(SETTINGS, pairs[FOURTEEN.name], LEMMA_A_9),
    fails_on=case(
        "w(3) + w(9) = w(6) + w(4)", SETTINGS, pairs[FOURTEEN.name], (((3, 9), (6, 4)),)
    ),
    holds_on=case(
        "a cycle of 14, all of whose nodes are alike",
        SETTINGS, pairs["a longer cycle twice"], LEMMA_A_9,
    ),
)  # fmt: skip


def collisions(terms: list[Fraction]) -> Measured:
    """Multisets of at most n of n terms whose sum another one has too."""
    sizes = range(len(terms) + 1)
    sums = Counter(sum(m) for size in sizes for m in combinations_with_replacement(terms, size))
    return exact(sum(count for count in sums.values() if count > 1))


study.claim(
    "injective-exponent",
    "With the alpha of Lemma A.4, sums of u^-alpha differ for all multisets of numbers 1..n "
    f"with at most n members, n = {LARGEST}.",
    chen2025("Lemma A.4"), collisions, at_most(0, "printed"), on=runs.terms["lemma"],
    fails_on=case("alpha = 1", runs.terms["alpha = 1"]),
    holds_on=case("planted: digits in base n + 1", runs.terms["digits"]),
    note="For n = 100 alpha is 459, and 100^-459 is 0 in float64.",
)  # fmt: skip


def gap_of_rows(row_sums: dict[tuple[str, str], np.ndarray], operator: str, pair: str) -> Measured:
    """Largest difference of an operator's row sums, in order, between the graphs of a pair."""
    first, second = row_sums[operator, pair]
    return exact(float(abs(first - second).max()))


remark = chen2025("section 2.3, corrected", how="the remark of")
for slug, words, source, operator, note, partner in (
    ("hexagon-printed", "Read literally, min(A^2, 1)",
     chen2025("section 2.3, remark on powers of the graph"), "min(A^2, 1)",
     "Every node reaches itself and two others in two steps, in both graphs.", "hexagon-closed"),
    ("hexagon-closed", "The operator min((I + A)^2, 1)", remark, "min((I + A)^2, 1)", "",
     "hexagon-printed"),
    ("hexagon-triangles", "The operator A ∘ A^2", (remark, derived("SIGN's triangle operator")),
     "A ∘ A^2", "", "hexagon-printed"),
):  # fmt: skip
    study.claim(
        slug, f"{words} tells a hexagon from two triangles.", source, gap_of_rows,
        at_least(1, "derived"), on=(runs.row_sums, operator, HEXAGON.name),
        fails_on=case("the hexagon from itself", runs.row_sums, operator, "the hexagon twice"),
        holds_on=case(
            "a hexagon from one with chords", runs.row_sums, operator, "a hexagon with chords"
        ),
        note=note, partner=partner,
    )  # fmt: skip
study.claim(
    "equivariant",
    "Entry-wise functions and products of A, and what is composed of them, commute with "
    "permutations of the nodes.",
    chen2025("Prop. A.1"), lambda gaps: share((gaps <= ROUNDING).all(axis=1)),
    in_all_seeds("printed"), on=runs.permuted["products"],
    fails_on=case("the upper triangle of A", runs.permuted["numbering"]),
    holds_on=case("the identity", runs.permuted["identity"]),
    measures="Share of draws in which all operators commute with the permutation, to rounding.",
)  # fmt: skip
study.claim(
    "random-pairs",
    "D and A D^-alpha tell apart almost all pairs of non-isomorphic random graphs, even when all "
    "degrees agree.",
    chen2025("Prop. 2.2 (with o(1) for the printed 1 - o(1))"), share, at_least(0.95, "ours"),
    on=runs.random_pairs["injective"],
    fails_on=case("the degrees alone", runs.random_pairs["degrees"]),
    holds_on=case("pairs with an edge more", runs.random_pairs["an edge more"]),
    measures="Share of pairs of graphs that are told apart.",
)  # fmt: skip


def highest_distinct(degrees: dict[int, np.ndarray], n: int, highest: int) -> Measured:
    """Share of random graphs whose highest degrees are all different."""
    return share(np.all(np.diff(degrees[n][:, :highest]) < 0, axis=1))


study.claim(
    "highest-degrees",
    "The floor(3 log2 n) highest degrees of a random graph are distinct, as the proof of Prop. 2.2 "
    "wants, for half of all graphs at n = 1000.",
    chen2025("Lemma A.5, read at a size that can be computed"), highest_distinct,
    at_least(0.5, "ours"), exploratory=True, on=(runs.degrees, 1000, runs.SIZES[1000]),
    fails_on=case("the n - 1 highest", runs.degrees, 1000, 999),
    holds_on=case("planted degrees, all different", runs.planted_degrees, 1000, runs.SIZES[1000]),
    note=lambda degrees, *_: "Shares " + ", ".join(
        f"{highest_distinct(degrees, n, k).value:.2f} at n = {n}" for n, k in runs.SIZES.items()
    ) + ": the lemma speaks of the limit, far beyond these sizes. What it is used for, telling "
    "graphs apart, works long before (random-pairs).",
)  # fmt: skip
