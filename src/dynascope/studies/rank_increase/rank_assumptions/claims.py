"""What noise leaves behind, and when the assumptions of the theorem hold."""

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.sources import boix2023
from dynascope.studies.comparisons import at_least, at_most, in_all_seeds
from dynascope.studies.measures import exact
from dynascope.studies.nodes import Missing, case
from dynascope.studies.rank_increase.draws import from_to, share_within
from dynascope.studies.rank_increase.rank_assumptions import runs
from dynascope.studies.rank_increase.rank_assumptions.noise import Perturbed
from dynascope.studies.rank_increase.rank_assumptions.runs import study
from dynascope.theories import Stages

Arrays = dict[int, np.ndarray]  # by draw
ABOVE = at_least(1e-6, "ours")


def smallest(values: np.ndarray) -> float:
    """The smallest of some numbers."""
    return float(np.min(values))


def all_above(draws: Arrays) -> Measured | Missing:
    """Share of draws all of whose numbers are at least a millionth."""
    return share_within([smallest(one) for one in draws.values()], ABOVE)


study.claim(
    "one-is-first",
    "On the toy problem the coordinate that joins is alone at every stage: the runner-up would be "
    "later by more than a millionth of the time.",
    boix2023("assumption 4.3"), all_above, in_all_seeds("ours"), on=runs.gaps,
    fails_on=case("two heads in a layer, which tie", runs.tied["gaps"]),
    holds_on=case("diagonal linear networks with different targets", runs.linear_gaps),
    measures="Share of draws in which the runner-up is later at every stage, by a millionth of the "
    "time or more.",
    note=from_to(smallest, "Least lead, as a share of the time,"),
)  # fmt: skip
study.claim(
    "strict-minimum",
    "On the toy problem every plateau is a strict minimum on its support: the loss grows at least "
    "like c |u - u*|^2 with c above 1e-6.",
    boix2023("assumption 4.4"), all_above, in_all_seeds("ours"), on=runs.strictness,
    fails_on=case("two tied heads, of which only the sum is determined", runs.tied["strictness"]),
    holds_on=case("diagonal linear networks", runs.linear_strictness),
    measures="Share of draws whose c is a millionth or more on every plateau.",
    note=from_to(smallest, "Smallest c"),
)  # fmt: skip


Draws = dict[int, list[Perturbed]]


def weights_apart(found: list[Perturbed]) -> float:
    """Largest difference of a weight with noise and without it, at the end."""
    return float(np.max([np.abs(p.noisy[-1] - p.clean[-1]).max() for p in found]))


def products_apart(found: list[Perturbed]) -> float:
    """Largest difference of a product with noise and without it, at the end."""
    return float(np.max([np.abs(np.subtract(*(z[-1] for z in p.products))).max() for p in found]))


def ends_apart(found: list[Perturbed]) -> float:
    """Largest difference of a product where its stage ends, with noise and without it."""
    ends = [np.abs(p.products[0][p.end] - p.products[1][-1]).max() for p in found]
    return float(np.max(ends))


def weights_return(draws: Draws) -> Measured | Missing:
    """Share of draws in which all weights are at the end within 0.01 of those without noise."""
    return share_within([weights_apart(one) for one in draws.values()], at_most(0.01, "ours"))


def products_return(draws: Draws) -> Measured | Missing:
    """Share of draws in which all products are at the end within 1e-4 of those without noise."""
    return share_within([products_apart(one) for one in draws.values()], at_most(1e-4, "ours"))


def same_ends(draws: Draws) -> Measured | Missing:
    """Share of draws in which every noisy stage ends within 1e-6 of the one without noise."""
    return share_within([ends_apart(one) for one in draws.values()], at_most(1e-6, "ours"))


study.claim(
    "weights-return",
    "Weights on a plateau that get Gaussian noise of deviation 0.05 return to within 0.01 of where "
    "they were.",
    boix2023("Figs. 3a, 10"), weights_return, in_all_seeds("ours"), on=runs.noisy["free"],
    fails_on=case("at the moment of the noise", runs.just_after["free"]),
    holds_on=case("noise along v = s u on diagonal linear networks", runs.linear["balanced"]),
    partner="products-return",
    note=from_to(weights_apart, "Noise on u and v apart changes u^2 - v^2, which the flow "
                 "conserves. Largest difference of a weight"),
)  # fmt: skip
study.claim(
    "products-return",
    "After Gaussian noise of deviation 0.05 on the weights of a plateau all products u v return to "
    "within 1e-4.",
    boix2023("Figs. 3a, 10", how="corrects"), products_return, in_all_seeds("ours"),
    on=runs.noisy["free"],
    note=from_to(products_apart, "Noise falls like exp(-2 c t), and is not gone where the next "
                 "coordinate comes up sooner. Largest difference of a product"),
    fails_on=case("at the moment of the noise", runs.just_after["free"]),
    holds_on=case("a diagonal linear network", runs.linear["free"]), partner="weights-return",
)  # fmt: skip
study.claim(
    "same-end-after-escape",
    "After Gaussian noise of deviation 0.01 as a new coordinate exceeds 1e-5, the products end "
    "the stage within 1e-6 of where they end without it.",
    boix2023("assumption 4.5, Figs. 3b, 11"), same_ends, in_all_seeds("ours"),
    on=runs.noisy["escapes"], note=from_to(ends_apart, "Largest difference of a product"),
    fails_on=case("at the moment of the noise", runs.just_after["escapes"]),
    holds_on=case("a diagonal linear network", runs.linear["escapes"]),
)  # fmt: skip


def stages_found(stages: Stages) -> Measured:
    """How many stages Algorithm 1 can predict."""
    return exact(len(stages.order))


study.claim(
    "no-plateau-without-minimum",
    "With cross-entropy on separable data the first stage has no finite end, so that Algorithm 1 "
    "predicts no plateau.",
    boix2023("Discussion"), stages_found, at_most(0, "derived"),
    on=runs.separable["cross-entropy"],
    fails_on=case("squared error on the same data", runs.separable["squared"]),
    holds_on=case("exponential loss on the same data", runs.separable["exponential"]),
)  # fmt: skip
