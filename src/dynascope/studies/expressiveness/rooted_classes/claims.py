"""Printed numbers of classes, and what is always finer."""

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.sources import chen2025, derived
from dynascope.studies.comparisons import at_most, in_all_seeds, near
from dynascope.studies.expressiveness.rooted_classes import runs
from dynascope.studies.expressiveness.rooted_classes.runs import (
    Classes,
    Small,
    Table,
    planted,
    printed,
    study,
)
from dynascope.studies.measures import exact, share
from dynascope.studies.nodes import case


def mismatches(counts: Classes, table: Table, start: int) -> Measured:
    """How many numbers of classes differ from the printed ones."""
    counted = [counts[family][start:] for family in runs.PRINTED]
    return exact(sum(a != b for c, p in zip(counted, table) for a, b in zip(c, p)))


for name in runs.TABLE_2_1:
    study.claim(
        f"table-2-1-{name}", f"{name.capitalize()} has the ten printed numbers of classes.",
        chen2025("Table 2.1"), mismatches, at_most(0, "printed"),
        on=(runs.nodes[name], printed[name], 1),
        fails_on=case("rounds counted from zero", runs.nodes[name], printed[name], 0),
        holds_on=case("a path, whose classes are known", planted["path"], printed["path"], 1),
    )  # fmt: skip


def depth_of_largest_gap(counts: Classes) -> Measured:
    """The depth 1..5 at which the powers of A miss the largest share of what refinement tells."""
    told, powers = (np.array(counts[family][1:6], float) for family in runs.PRINTED)
    return exact(1 + int(np.argmax(1 - powers / told)))


study.claim(
    "gap-at-two-rounds",
    "On Cora the difference between rounds and powers of A, as a share, is largest at depth 2.",
    chen2025("section 2.6.1"), depth_of_largest_gap, near(2, 0, "printed"),
    on=runs.nodes["cora"], fails_on=case("a path, where there is none", planted["path"]),
    holds_on=case("a graph whose counts differ at depth 2 alone", planted["gap"]),
)  # fmt: skip

binary = runs.graphs["imdb-binary"]
study.claim(
    "table-a-1-imdb-binary-printed",
    "Read literally, IMDB-BINARY falls into 51, 537, 537 classes after 1, 2, 3 rounds.",
    chen2025("Table A.1"), mismatches, at_most(0, "printed"),
    on=(binary, printed["imdb-binary"], 1),
    fails_on=case("counting from 2 rounds", binary, printed["imdb-binary"], 2),
    holds_on=case("ten cycles, which differ in size", planted["cycles"], printed["cycles"], 1),
    partner="table-a-1-imdb-binary",
)  # fmt: skip


def off_truth(counts: Classes, table: Table, family: str) -> Measured:
    """Difference of a family's first number of classes to the last number of a table's row."""
    return exact(abs(counts[family][0] - table[0][-1]))


for name, row in runs.TABLE_A_1.items():
    counts, table = runs.graphs[name], printed[name]
    study.claim(
        f"table-a-1-{name}",
        f"{name.upper()} falls into {row[0]}, {row[1]}, {row[2]} classes after 0, 1, 2 rounds.",
        chen2025("Table A.1 with K - 1 for K"), mismatches, at_most(0, "printed"),
        on=(counts, table, 0), fails_on=case("counting from 1 rounds", counts, table, 1),
        holds_on=case("ten cycles, which differ in size", planted["cycles"], printed["cycles"], 0),
        partner="table-a-1-imdb-binary-printed" if name == "imdb-binary" else None,
    )  # fmt: skip
    study.claim(
        f"table-a-1-truth-{name}", f"{name.upper()} has {row[-1]} graphs up to isomorphism.",
        chen2025("Table A.1, ground truth"), off_truth, at_most(0, "printed"),
        on=(counts, table, "isomorphism"),
        fails_on=case("graphs with as many nodes taken as one", counts, table, "wl"),
        holds_on=case("ten cycles", planted["cycles"], printed["cycles"], "isomorphism"),
    )  # fmt: skip


ALL, ONCE, TWICE = slice(None), slice(1, 2), slice(2, 3)  # which of the depths


def unlike_refinement(small: Small, family: str, depths: slice, rounds: slice) -> Measured:
    """Sizes and depths at which a family has another number of classes than refinement."""
    tables = small.values()
    return exact(sum(a != b for t in tables for a, b in zip(t[family][depths], t["wl"][rounds])))


renumbered = "refinement of the same graphs, renumbered"
study.claim(
    "small-graphs-adjacency",
    "On all small graphs powers of A tell as many graphs apart as refinement, at every depth.",
    (derived("counted here"), chen2025("compares the two families in Tables 2.1 and A.1")),
    unlike_refinement, at_most(0, "ours"), on=(runs.small_graphs, "adjacency", ALL, ALL),
    fails_on=case("powers of the GCN operator", runs.small_graphs, "self_loop", ALL, ALL),
    holds_on=case(renumbered, runs.small_graphs, "renumbered", ALL, ALL), exploratory=True,
)  # fmt: skip
study.claim(
    "small-graphs-injective",
    "On all small graphs D and A D^-alpha tell apart exactly as many as two rounds.",
    chen2025("Prop. 2.2, Lemma A.4"), unlike_refinement, at_most(0, "derived"),
    on=(runs.small_graphs, "injective", ONCE, TWICE),
    fails_on=case("one round", runs.small_graphs, "injective", ONCE, ONCE),
    holds_on=case(renumbered, runs.small_graphs, "renumbered", TWICE, TWICE),
)  # fmt: skip


def merged_by_refinement(small: Small, sizes: tuple[int, ...]) -> Measured:
    """How many graphs of some sizes are missing among the classes of refinement."""
    return exact(sum(small[n]["isomorphism"][-1] - small[n]["wl"][-1] for n in sizes))


study.claim(
    "small-graphs-refinement-complete",
    "Refinement to the end tells all graphs with up to five nodes apart.",
    (derived("counted here"), chen2025("section 2.2", how="the limit of message passing in")),
    merged_by_refinement, at_most(0, "ours"), on=(runs.small_graphs, (2, 3, 4, 5)),
    fails_on=case("six nodes", runs.small_graphs, (6,)),
    holds_on=case("two and three nodes, where edges are enough", runs.small_graphs, (2, 3)),
    exploratory=True,
)  # fmt: skip
study.claim(
    "one-round-more-is-enough",
    "Nodes alike after K + 1 rounds are alike for the powers 0..K of a normalised adjacency.",
    chen2025("Prop. 2.6, second half"), share, in_all_seeds("printed"),
    on=runs.kept["K + 1 rounds"], fails_on=case("K rounds", runs.kept["K rounds"]),
    holds_on=case("a node and itself", runs.kept["itself"]),
    measures="Share of random graphs in which nodes alike after so many rounds are alike for "
    "the powers.",
)  # fmt: skip
