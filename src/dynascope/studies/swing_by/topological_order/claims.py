"""How often, and by how much, a combination is learned better than a part of it."""

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.run import Run
from dynascope.core.sources import derived, yang2024, yang2025
from dynascope.studies.comparisons import at_least, at_most, between, in_all_seeds
from dynascope.studies.measures import average, exact, share
from dynascope.studies.nodes import case
from dynascope.studies.swing_by.topological_order import runs
from dynascope.studies.swing_by.topological_order.runs import RECORDS, order, study

SHOWN_EPOCHS = (0, 2, 4)  # trained for so many: the figure's epochs 1, 3 and 5
ROUND_OFF = 1e-12  # a loss is worse only if it is worse by more than this

relu, one_layer = runs.networks["two-layer ReLU"], runs.networks["one layer"]
swinging = runs.pair["swing-by"]


kept = runs.planted_networks["kept"]


def most_out_of_order(run: Run) -> Measured:
    """Largest number of pairs out of order at any time; of one certain run."""
    return exact(order(run).count[0].max())


study.claim(
    "one-layer-from-zero",
    "One layer from zero learns no combination before a part of it: no pair is out of order "
    "at any time.",
    (yang2025("B.2"), derived("derivation")), most_out_of_order,
    at_most(0, "derived"), on=runs.from_zero,
    fails_on=case("two tied layers that swing by", swinging),
    holds_on=case("planted losses that add up over concepts", runs.planted_zero),
)  # fmt: skip


def gap_to_formula(run: Run, formula: np.ndarray) -> Measured:
    """Largest gap over corners and times to a closed form, over the largest loss."""
    measured = run["lattice_loss"].values[0]
    return exact(np.abs(measured - formula).max() / measured.max())


study.claim(
    "closed-form",
    "From zero, the loss at a combination is the sum of mean^2 exp(-2 a t) / 2 over its "
    "concepts, within 0.5 % of the first loss.",
    yang2025("Theorem 4.1 at the corners of B.1"), gap_to_formula, at_most(0.005, "ours"),
    on=(runs.from_zero, runs.formula["own"]),
    fails_on=case("the formula with a cluster at the origin", runs.from_zero,
                  runs.formula["with origin"]),
    holds_on=case("planted losses that fall so", runs.planted_zero, runs.formula["own"]),
)  # fmt: skip


def keeps_the_order(run: Run) -> Measured:
    """Share of seeds in which no pair is out of order at any time."""
    return share(order(run).count.max(axis=1) == 0)


for slug, words, source, network, name, partner in (
    ("always-in-order", "As printed: in all seeds the two-layer ReLU network never has a pair "
     "out of order.",
     (yang2025("B.2, Fig. 7 as captioned"), yang2024("Fig. 8")), relu, "two-layer ReLU",
     "mostly-in-order"),
    ("always-in-order-one-layer", "As printed, for one layer from a random start, as the program "
     "trains it: in all seeds no pair is ever out of order.",
     (yang2025("B.2; authors' program for Fig. 7"),), one_layer, "one layer", "gaps-are-small"),
):  # fmt: skip
    study.claim(
        slug, words, source, keeps_the_order, in_all_seeds("printed"), on=network,
        note=lambda run: f"At worst {order(run).rate.max(axis=1).mean():.0%} of the pairs are out "
        f"of order, on average; the worst gap is {order(run).gap.max():.3f} where the losses "
        "start near 15.",
        fails_on=case("two tied layers that swing by", swinging),
        holds_on=case("planted losses in order", kept[name]), partner=partner,
    )  # fmt: skip


def share_out_of_order(networks: dict[str, Run], epochs: int) -> Measured:
    """Share of pairs out of order after some epochs, in the worst network of each seed."""
    rates = [order(run).rate[:, RECORDS * epochs] for run in networks.values()]
    return average(np.max(rates, axis=0))


study.claim(
    "in-order-at-first",
    "After the first epoch at most 5 % of the pairs are out of order on average, in the worst "
    "kind of network.",
    yang2025("Fig. 7, corrected"), share_out_of_order, at_most(0.05, "ours"),
    on=(runs.networks, 1), fails_on=case("after ten epochs", runs.networks, 10),
    holds_on=case("planted losses in order", kept, 1),
)  # fmt: skip


def share_in_order(networks: dict[str, Run]) -> Measured:
    """Share of pairs in order at the worst of the figure's epochs, in the worst network."""
    shown = [RECORDS * e for e in SHOWN_EPOCHS]
    shares = [1 - order(run).rate[:, shown].max(axis=1) for run in networks.values()]
    return average(np.min(shares, axis=0))


study.claim(
    "mostly-in-order",
    "At the figure's epochs at least 80 % of the pairs are in order on average, in the worst "
    "kind of network.",
    yang2025("Fig. 7, corrected"), share_in_order, at_least(0.8, "ours"), on=runs.networks,
    fails_on=case("combinations shuffled", runs.shuffled),
    holds_on=case("planted losses in order", kept), partner="always-in-order",
)  # fmt: skip


def worst_gap(networks: dict[str, Run]) -> Measured:
    """Largest gap of the worst network of each seed, over the first loss with all concepts."""
    found = networks.values()
    gaps = [order(run).gap.max(axis=1) / run["lattice_loss"].values[:, 0, -1] for run in found]
    return average(np.max(gaps, axis=0))


study.claim(
    "gaps-are-small",
    "Where the order is broken in two-layer ReLU networks or in one layer, a part is worse than "
    "the combination by at most 3 % of the first loss, on average over seeds.",
    yang2025("B.2, corrected"), worst_gap, at_most(0.03, "ours"), on=runs.networks,
    fails_on=case("planted losses that break the order by a tenth and more",
                  runs.planted_networks["broken"]),
    holds_on=case("planted losses in order", kept), partner="always-in-order-one-layer",
)  # fmt: skip


def weak_worse(run: Run) -> np.ndarray:
    """At which records the weak concept alone has a larger loss than both together."""
    losses = run["lattice_loss"].sel(corner=["10", "11"]).values[0]
    return losses[:, 0] > losses[:, 1] + ROUND_OFF


study.claim(
    "swing-by-breaks-the-order",
    "During swing-by the order must fail: the weak concept alone is worse than both together "
    "for 30 to 45 % of the time until paper time 30.",
    yang2025("B.2 against section 4.2"), lambda run: exact(weak_worse(run).mean()),
    between(0.3, 0.45, "ours"), on=swinging,
    fails_on=case(lambda s: f"rows correlated at {-s.correlation}", runs.pair["opposed"]),
    holds_on=case("planted losses, out of order for 37 % of the time", runs.planted_pair),
    note=lambda run: f"The gap reaches {order(run).gap.max():.3f}.",
    measures="Share of the time in which the weak concept alone is worse.",
)  # fmt: skip
