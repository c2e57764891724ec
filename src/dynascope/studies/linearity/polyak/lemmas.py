"""The lemmas of appendix A behind Theorem 2.3.6: tails of Gaussian norms, orders in the width."""

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.sources import zhu2024
from dynascope.numerics.intervals import of_share
from dynascope.probes.slopes import fit_slope, log_slope
from dynascope.studies.comparisons import at_most, in_all_seeds
from dynascope.studies.linearity.polyak import runs
from dynascope.studies.linearity.polyak.draws import Blocks
from dynascope.studies.linearity.polyak.orders import POWERS, RADIUS
from dynascope.studies.linearity.polyak.runs import Drawn, OrderTable, Settings, study
from dynascope.studies.measures import exact, share
from dynascope.studies.nodes import SETTINGS, case

LOGARITHMS = 0.2  # what they may add to a slope: -1/2 to -0.3


def excess(drawn: Drawn, limit: str) -> Measured:
    """The share of draws beyond a limit over the share that is allowed."""
    found = drawn[limit]
    spread, allowed = (found.share * (1 - found.share)) ** 0.5, found.allowed
    low, high = of_share(round(found.share * found.draws), found.draws) or (0.0, 1.0)
    return Measured(
        found.share / allowed, spread / allowed, found.draws, low / allowed, high / allowed
    )


drawn = runs.drawn
for slug, lemma, place, origin, words in (
    ("lemma-inner-product", "inner product", "Lemma A.11.4", "printed",
     "|a . b| exceeds t + |b| R for at most 2 exp(-t^2 / 2 |b|^2) of all draws."),
    ("lemma-image", "image", "Lemma A.11.7", "derived",  # which leaves the 1/2 open
     "|B a| exceeds t + |B|_F + |B| R for at most 2 exp(-t^2 / 2 |B|^2) of all draws."),
    ("lemma-series", "series", "Lemma A.11.8, as proved", "printed",
     "A matrix Gaussian series exceeds t + R sqrt(nu) for at most (d1 + d2) exp(-t^2 / 2 nu) of "
     "all draws."),
    ("lemma-moved-columns", "columns", "Lemma A.11.6", "ours",  # which leaves the sqrt(2) open
     "A matrix of columns B_i a_i that are moved by R exceeds sqrt(2) (max |B_i| (sqrt(n) + R + t) "
     "+ max |B_i|_F) for at most 2 exp(-t^2) of all draws."),
):  # fmt: skip
    study.claim(
        slug, words, zhu2024(place), excess, at_most(1.0, origin),  # type: ignore[arg-type]
        on=(drawn[lemma]["moved"], "lemma"),
        fails_on=case("the bound without its term in R", drawn[lemma]["moved"], "without"),
        holds_on=case("without an adversary", drawn[lemma]["still"], "lemma"),
        partner="lemma-series-printed" if lemma == "series" else None,
    )  # fmt: skip
study.claim(
    "lemma-columns",
    "A matrix of columns B_i a_i exceeds sqrt(2) (max |B_i| (sqrt(n) + t) + max |B_i|_F) for at "
    "most 2 exp(-t^2) of all draws.",
    zhu2024("Lemma A.11.5"), excess, at_most(1.0, "ours"),  # which leaves the sqrt(2) open
    on=(drawn["columns"]["still"], "lemma"),
    fails_on=case("the bound without sqrt(n)", drawn["columns"]["still"], "short"),
    holds_on=case("a single column", drawn["columns"]["one column"], "lemma"),
)  # fmt: skip
study.claim(
    "lemma-series-printed",
    "A matrix Gaussian series exceeds t + R nu for at most (d1 + d2) exp(-t^2 / 2 nu) of all "
    "draws.",
    zhu2024("Lemma A.11.8 as printed"), excess, at_most(1.0, "printed"),
    on=(drawn["series"]["moved"], "printed"),
    fails_on=case("the bound without its term in R", drawn["series"]["moved"], "without"),
    holds_on=case("matrices with nu above 1", drawn["series"]["large"], "printed"),
    partner="lemma-series",
)  # fmt: skip


def within(found: Blocks, of: str) -> Measured:
    """Share of matrices whose norm is at most the sum, or the largest, of those of its blocks."""
    bound = found.blocks.sum(axis=1) if of == "sum" else found.blocks.max(axis=1)
    return share(found.whole <= bound * (1 + 1e-12))


study.claim(
    "lemma-blocks", "The norm of a matrix is at most the sum of the norms of its blocks.",
    zhu2024("Lemma A.11.1"), within, in_all_seeds("printed"), on=(runs.blocks["full"], "sum"),
    fails_on=case("the largest of them", runs.blocks["full"], "largest"),
    holds_on=case("one block that is not 0", runs.blocks["alone"], "sum"),
)  # fmt: skip


def growth(s: Settings, orders: OrderTable, quantity: str) -> Measured:
    """The power of the width with which the quantity of the claim grows."""
    return fit_slope(np.array(s.order_widths, float), orders[quantity]).measured


divided, undivided, further = (runs.order_tables[name] for name in runs.DIVIDED)
for slug, quantity, place, words, squared in (
    ("order-neurons", "neurons", "Lemma A.11.2",
     "The largest neuron in the ball does not grow with the width but for logarithms.", 1),
    ("order-inputs", "inputs", "Lemma A.11.3",
     "The norm of what a neuron reads grows like sqrt(width) but for logarithms.", 1),
    ("order-derivative", "spectral", "Lemma A.2.1, (A.8)",
     "The norm of the derivative of a neuron's inputs by the weights of a layer does not grow with "
     "the width but for logarithms.", 1),
    ("order-derivative-frobenius", "frobenius", "Lemma A.2.1, (A.9)",
     "The Frobenius norm of the derivative of a neuron's inputs by the weights of a layer grows "
     "like sqrt(width) but for logarithms.", 1),
    ("order-blocks", "block", "Lemmas A.2.2, A.9.2",
     "The largest block of the output's Hessian falls like 1/sqrt(width) but for logarithms.", 1),
    ("order-variance", "variance", "Lemma A.11.9",
     "The matrix variance of the output's second derivatives falls like 1/width but for "
     "logarithms.", 2),
    ("order-chain", "chain", "Lemma A.11.10",
     "A sum of matrices of norm 1, weighted by the output's derivatives by a layer, does not grow "
     "with the width but for logarithms.", 1),
):  # fmt: skip
    study.claim(
        slug, words, zhu2024(place), growth,
        at_most(POWERS[quantity] + squared * LOGARITHMS, "ours"),
        on=(SETTINGS, divided, quantity),
        fails_on=case("products not over sqrt(in-degree)", SETTINGS, undivided, quantity),
        holds_on=case("products over the in-degree itself", SETTINGS, further, quantity),
        note=f"At distance {RADIUS:g} from the start, where the second layer is largest.",
    )  # fmt: skip


def degree(seen: dict[int, int]) -> Measured:
    """The power of m with which a count grows."""
    return exact(log_slope(list(seen), list(seen.values())))


seen = runs.weights_seen
study.claim(
    "weights-seen",
    "With in-degrees of up to m^2 the output of three layers depends on at most m^4 or so weights "
    "of the first layer: a polynomial.",
    zhu2024("Prop. A.9.1"), degree, at_most(4.0, "derived"), on=seen["mixed"],
    fails_on=case("in-degrees of 2^m", seen["exponential"]),
    holds_on=case("in-degrees of m", seen["fully connected"]),
)  # fmt: skip
