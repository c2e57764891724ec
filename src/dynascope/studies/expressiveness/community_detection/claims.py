"""What each operator finds beside another, beside chance, and beside Table A.2."""

from itertools import pairwise

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.sources import chen2025, derived
from dynascope.graphs.communities import chance_overlap
from dynascope.studies.comparisons import at_least, at_most, near
from dynascope.studies.expressiveness.community_detection import runs
from dynascope.studies.expressiveness.community_detection.runs import TABLE_A_2, study
from dynascope.studies.extremes import largest_distance, smallest
from dynascope.studies.measures import average, minus
from dynascope.studies.nodes import SETTINGS, case

spectral = runs.spectral["Bethe Hessian"]
a, h, gcn, network = (runs.found[name] for name in (*runs.OPERATORS, runs.NETWORK))
a_at_last, h_at_last, gcn_at_last = (runs.found_at_last[name] for name in runs.OPERATORS)
guesses, truth = runs.planted["guesses"], runs.planted["truth"]
ALL = (1, 2, 3, 4, 5)

study.claim(
    "chance", "Guessing gives an overlap of 0.050 on 250 nodes, not 0.",
    derived("counted here: E|2B - n| / n for a fair binomial B"),
    lambda s, overlaps: average(overlaps),
    lambda s, overlaps: near(chance_overlap(s.task.nodes), 0.005, "ours"),
    on=(SETTINGS, runs.guessed["coins"]), exploratory=True,
    fails_on=case("guesses on 1,000 nodes", SETTINGS, runs.guessed["on more nodes"]),
    holds_on=case("planted quantiles of the binomial", SETTINGS, runs.guessed["exactly"]),
    measures="Overlap of guesses with the communities, mean over draws.",
)  # fmt: skip


def least_rise(overlaps: np.ndarray) -> Measured:
    """By how much more is found from one rank to the next, up to rank 4, where that is least."""
    means = [average(row) for row in overlaps[:4]]
    rises = [minus(later, earlier) for earlier, later in pairwise(means)]
    return smallest(rises)


study.claim(
    "spectral-rises",
    "The Bethe Hessian finds more of the communities with every rank from 1 to 4.",
    (chen2025("Fig. 2.4"), derived("the baseline on its graphs")), least_rise,
    at_least(0.01, "ours"), on=spectral, exploratory=True,
    fails_on=case("guesses, in four parts", runs.guessed["coins"]),
    holds_on=case("block models that get clearer", runs.clearer),
)  # fmt: skip


def gain(overlaps: np.ndarray, other: np.ndarray, ranks: tuple[int, ...]) -> Measured:
    """How much more one finds than the other over some ranks, paired by seeds if both have them.

    The mean over the ranks.
    """
    mine, others = (x[np.array(ranks) - 1].mean(axis=0) for x in (overlaps, other))
    if len(mine) == len(others):
        return average(mine - others)
    return minus(average(mine), average(others))


def least_gain(overlaps: np.ndarray, other: np.ndarray, ranks: tuple[int, ...]) -> Measured:
    """How much more one finds than the other, at the rank where that is least."""
    gains = [gain(overlaps, other, (rank,)) for rank in ranks]
    return smallest(gains)


def by_rank(overlaps: np.ndarray) -> str:
    """Means over seeds."""
    return ", ".join(f"{value:.3f}" for value in overlaps.mean(axis=1))


for slug, words, ranks in (
    ("at-rank-3", "At rank 3 powers of the Bethe Hessian find more than powers of A.", (3,)),
    ("everywhere", "Powers of the Bethe Hessian find more than powers of A at every rank.", ALL),
):  # fmt: skip
    study.claim(
        f"bethe-better-{slug}", words, chen2025("Fig. 2.4"), least_gain, at_least(0.0, "printed"),
        on=(h_at_last, a_at_last, ranks),
        note=lambda h, a, _: f"Gains by rank: {by_rank(h - a)}.",
        fails_on=case("guesses", guesses, a_at_last, ranks),
        holds_on=case("the truth", truth, a_at_last, ranks),
    )  # fmt: skip
study.claim(
    "gcn-no-better", "Powers of the GCN operator find no more than powers of A, over all ranks.",
    chen2025("Fig. 2.4, Table A.2"), gain, at_most(0.0, "printed"), on=(gcn, a, ALL),
    fails_on=case("the truth", truth, a, ALL), holds_on=case("guesses", guesses, a, ALL),
)  # fmt: skip
study.claim(
    "gcn-drop",
    "The GCN operator finds less at rank 5, where communities are separate, than at rank 4.",
    chen2025("Table A.2"), lambda overlaps: average(overlaps[3] - overlaps[4]),
    at_least(0.0, "printed"), on=gcn, fails_on=case("powers of A", a),
    holds_on=case("planted overlaps of the printed table", runs.planted["table"]),
    measures="Overlap at rank 4 less that at rank 5, mean over seeds.",
)  # fmt: skip


def furthest(overlaps: np.ndarray) -> Measured:
    """Largest distance of a mean overlap from the printed one, over the ranks."""
    means = [average(row) for row in overlaps]
    return largest_distance(zip(means, TABLE_A_2, strict=True))


study.claim(
    "table-a-2", "The GCN operator's five overlaps are within 0.1 of the printed ones.",
    chen2025("Table A.2"), furthest, at_most(0.1, "ours"), on=gcn_at_last,
    fails_on=case("powers of A", a_at_last),
    holds_on=case("planted overlaps of the printed table", runs.planted["table"]),
    note=lambda overlaps: f"Measured: {by_rank(overlaps)}.",
)  # fmt: skip
study.claim(
    "network-like-bethe",
    "A network that mixes I, A and A^2 in every layer comes within 0.05 of the Bethe Hessian "
    "over all ranks.",
    chen2025("Fig. 2.4"), gain, at_most(0.05, "ours"), on=(h, network, ALL),
    fails_on=case("guesses", h, guesses, ALL), holds_on=case("the truth", h, truth, ALL),
)  # fmt: skip
