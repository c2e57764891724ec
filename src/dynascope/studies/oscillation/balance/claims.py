"""What balances two factors, how fast and where that ends; what the stable set forgets."""

from typing import Any

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.sources import chen2025
from dynascope.studies.comparisons import at_least, at_most, in_all_seeds, near
from dynascope.studies.measures import exact, share
from dynascope.studies.nodes import case
from dynascope.studies.oscillation.balance import runs
from dynascope.studies.oscillation.balance.runs import BEFORE, BEYOND, FAR, PAST, RATES, study
from dynascope.theories.oscillation.balance import (
    factor_step,
    in_stable_set,
    in_tracking_set,
    nearest_minimiser,
    product_sharpness,
    stable_sum,
)
from dynascope.theories.oscillation.quartic import orbit_points

Rates = tuple[float, ...]
Ratios = dict[float, runs.Ratios]
Descents = dict[float, runs.Descents]
Paths = dict[float, np.ndarray]


def counted(ratios: Ratios, rates: Rates, what: str) -> Measured:
    """Share of states whose two-step ratio is below 1, or keeps the bound of its case."""
    total = sum(ratios[rate].states for rate in rates)
    return share(np.arange(total) < sum(getattr(ratios[rate], what) for rate in rates))


study.claim(
    "two-steps",
    "For 1 < K < 1.5 two steps from x y > 1 bring positive factors closer, whatever they are.",
    chen2025("Thm. 3.4"), counted, in_all_seeds("printed"), on=(runs.ratios, RATES, "below"),
    fails_on=case(f"K = {BEYOND:g}", runs.ratios, (BEYOND,), "below"),
    holds_on=case("beside the orbit of K = 1.1, whose ratio is 0.8", runs.ratios_on_orbit, (1.1,),
                  "below"),
    note=lambda ratios, rates, _: f"{sum(ratios[rate].states for rate in rates):,} random states "
    "that stay positive. Ratios near 1 belong to x y near 1. At K = 1.5 the largest is "
    f"{ratios[1.5].largest:.5f}, at {BEYOND:g} some exceed 1.",
)  # fmt: skip
study.claim(
    "proof-cases",
    "In each case of the proof the two-step factor of x - y keeps the bound of that case.",
    chen2025("(B.38), (B.42), (B.45), (B.46)"), counted, in_all_seeds("printed"),
    on=(runs.ratios, RATES, "bounded"),
    fails_on=case("states with x y < 1", runs.ratios_below, RATES, "bounded"),
    holds_on=case("beside the orbit of K = 1.1, whose ratio is 0.8", runs.ratios_on_orbit, (1.1,),
                  "bounded"),
    note="In (B.41) mu - 1 / (2 eta) stands for mu + 1 / (2 eta), in (B.45) a factor eta is "
    "missing; the bounds hold.",
)  # fmt: skip


def on_orbit(descents: Descents, rates: Rates) -> Measured:
    """Share of starts that Lemma B.2 covers and that end on x = y = delta."""
    flags = []
    for rate in rates:
        ends = descents[rate].ends[descents[rate].promised]
        gaps = np.abs(ends[:, :, None] - orbit_points(1.0, rate)).min(axis=2)
        flags.append(np.maximum(gaps.max(axis=1), np.ptp(ends, axis=1)) < 1e-6)
    return share(np.concatenate(flags))


def balanced(descents: Descents, rates: Rates) -> Measured:
    """Share of bounded descents whose factors are equal in the end."""
    ends = np.concatenate([descents[rate].ends for rate in rates])
    ends = ends[np.abs(ends).sum(axis=1) < 1e3]  # false for what is not finite
    return share(np.ptp(ends, axis=1) < 1e-6)


def kept(descents: Descents, rates: Rates, promised: bool) -> Measured:
    """Share of starts, covered by Lemma B.2 or not, that keep both factors positive."""
    found = [descents[rate] for rate in rates]
    return share(np.concatenate([d.kept[d.promised == promised] for d in found]))


near_orbit = "starts within 0.001 of the orbit of K = 1.1"
study.claim(
    "balanced-orbit", "For 1 < K < 1.121 both factors end on the same orbit of period 2.",
    chen2025("Prop. 3"), on_orbit, in_all_seeds("printed"), on=(runs.descents, (1.05, 1.1)),
    fails_on=case("K = 1.25, where period 4 has taken over", runs.descents, (1.25,)),
    holds_on=case(near_orbit, runs.near_orbit, (1.1,)),
    note="Of random starts for which Lemma B.2 promises that both factors stay positive.",
)  # fmt: skip
study.claim(
    "beyond", "Beyond K = 1.5 too every descent that stays bounded balances its factors.",
    chen2025("Remark 5, which allows unbalanced limits there", how="derived; against"),
    balanced, in_all_seeds("derived"), on=(runs.descents, FAR),
    fails_on=case(f"K = {BEFORE:g}", runs.descents, (BEFORE,)),
    holds_on=case(near_orbit, runs.near_orbit, (1.1,)),
    note=lambda descents, rates: f"{balanced(descents, rates).n:,} bounded descents at K = "
    f"{', '.join(f'{r:g}' for r in rates)}; the theorem's step-wise argument ends at 1.5, the "
    "balancing does not.",
)  # fmt: skip


def four_steps(x: Any, y: Any, rate: float) -> np.ndarray:
    """Where four steps lead, (2,)."""
    state = np.array([x, y])
    for _ in range(4):
        state = np.array(factor_step(state[0], state[1], 1.0, rate))
    return state


def return_error(orbits: np.ndarray) -> Measured:
    """Largest distance of a place from where four steps lead it."""
    return exact(np.max([np.abs(four_steps(x, y, k) - (x, y)).max() for k, x, y in orbits]))


def weakest_growth(orbits: np.ndarray) -> Measured:
    """Largest multiplier of an error in four steps, for the place where it is smallest."""
    found = []
    for k, x, y in orbits:
        along_x = four_steps(x + 1e-6, y, k) - four_steps(x - 1e-6, y, k)
        along_y = four_steps(x, y + 1e-6, k) - four_steps(x, y - 1e-6, k)
        jacobian = np.stack([along_x, along_y], axis=1) / 2e-6
        found.append(np.abs(np.linalg.eigvals(jacobian)).max())
    return exact(np.min(found), error=1e-6)


study.claim(
    "unbalanced-orbit", "For 1.618 < K < 2 there is an orbit of period 4 with unequal factors.",
    chen2025("Remark 5", how="derived; makes exact"), return_error, at_most(1e-9, "derived"),
    on=runs.orbits["unbalanced"],
    fails_on=case("the same places at a K lower by 0.02", runs.orbits["of another rate"]),
    holds_on=case("balanced orbits of period 2", runs.orbits["balanced"]),
    note=lambda orbits: f"At K = {orbits[-2][0]:g} it passes ({orbits[-2][1]:.4f}, "
    f"{orbits[-2][2]:.4f}); both factors stay positive.",
)  # fmt: skip
study.claim(
    "unbalanced-repels", "The unbalanced orbit of period 4 repels.",
    chen2025("Remark 5", how="derived; against"), weakest_growth, at_least(1.0, "derived"),
    on=runs.orbits["unbalanced"],
    fails_on=case("balanced orbits of K up to 1.2", runs.orbits["balanced"]),
    holds_on=case("the minimum, with (1 - 2K)^4", runs.orbits["minimum"]),
    note="So no descent ends there, unless it begins there.",
)  # fmt: skip


def decay(path: np.ndarray) -> Measured:
    """Two-step factor of |x - y| where the path has settled and nothing is rounded yet."""
    gap = np.abs(path[:, 0] - path[:, 1])
    return exact(gap[102] / gap[100])


study.claim(
    "rate-of-balance", "On the orbit of period 2 two steps multiply |x - y| by 3 - 2K.",
    chen2025("Thm. 3.4", how="derived from"), decay, near(0.9, 1e-3, "derived"),
    on=runs.paths[1.05],
    fails_on=case(f"K = {PAST:g}, whose factor is {3 - 2 * PAST:.2f}", runs.paths[PAST]),
    holds_on=case("a planted decay", runs.planted_paths["factor 0.9"]),
)  # fmt: skip
study.claim(
    "period-four", "At K = 1.25, where the orbit has period 4, the factors balance too.",
    chen2025("Fig. B.4"), lambda path: exact(abs(path[-1, 0] - path[-1, 1])),
    at_most(1e-9, "ours"), on=runs.paths[1.25], fails_on=case("K = 0.2", runs.paths[0.2]),
    holds_on=case("a planted gap that halves in every step", runs.planted_paths["factor 0.25"]),
    measures="Difference of the factors, |x - y|, in the last state.",
)  # fmt: skip
study.claim(
    "positivity", "The condition of the lemma keeps both factors positive forever.",
    chen2025("Lemma B.2"), kept, in_all_seeds("printed"),
    on=(runs.descents, (1.02, 1.1, 1.2), True),
    fails_on=case("starts without the promise", runs.descents, (1.02, 1.1, 1.2), False),
    holds_on=case(near_orbit, runs.near_orbit, (1.1,), True),
    note=lambda descents, rates, _: f"{kept(descents, rates, True).n:,} promised starts; "
    f"{kept(descents, rates, False).value:.0%} of the others stay positive too: the condition is "
    "sufficient, not necessary.",
)  # fmt: skip


def stable(places: np.ndarray) -> Measured:
    """Share of places with sharpness below 2 / eta and no slope along the top eigenvector."""
    return exact(in_stable_set(*places).mean())


def not_as_printed(places: np.ndarray) -> Measured:
    """Share of places that are in the stable set, or are said to be, and not both."""
    x, y, rate = places
    said = np.isclose(x * y, 1) & (x + y < np.sqrt(2 + 2 / rate))
    return exact((in_stable_set(x, y, rate) != said).mean())


def tracked_not_as_printed(places: np.ndarray) -> Measured:
    """Share of places that are in the set of Definition 4, or have x y = 1, and not both."""
    x, y, rate = places
    return exact((in_tracking_set(x, y, rate) != np.isclose(x * y, 1)).mean())


past, before = ({kind: runs.places[kind, rate] for kind in runs.KINDS} for rate in (PAST, BEFORE))
study.claim(
    "stable-set-as-printed",
    "For eta > 1 no point x, y > 0 has sharpness below 2 / eta and no slope along the top "
    "eigenvector.",
    chen2025("Prop. 5"), stable, at_most(0.0, "printed"), on=past["quadrant"],
    fails_on=case(f"minimisers at eta = {BEFORE:g}", before["minimisers"]),
    holds_on=case("places off the diagonal and off x y = 1", past["off"]), partner="stable-set",
    note="Counterexample: (0.5, 0.5) at eta = 1.08 has sharpness 0.75 < 1.85.",
)  # fmt: skip
study.claim(
    "stable-set", "For eta > 1 no minimiser is in the stable set.",
    chen2025("Prop. 5", how="corrects"), stable, at_most(0.0, "derived"), on=past["minimisers"],
    fails_on=case(f"eta = {BEFORE:g}, before the edge", before["minimisers"]),
    holds_on=case("minimisers of sharpness 9 and 16", past["sharp"]),
    partner="stable-set-as-printed",
)  # fmt: skip
study.claim(
    "stable-minimisers-as-printed",
    "For eta < 1 the stable set is x y = 1 with x + y < sqrt(2 + 2 / eta).",
    chen2025("Prop. 6"), not_as_printed, at_most(0.0, "printed"), on=before["quadrant"],
    fails_on=case("the diagonal below 1 / sqrt(2)", before["diagonal"]),
    holds_on=case("the flattest minimiser and a sharp one", before["flattest and sharp"]),
    partner="stable-minimisers",
)  # fmt: skip
study.claim(
    "stable-minimisers",
    "For eta < 1 a minimiser is in the stable set if x + y < sqrt(2 + 2 / eta), and only then.",
    chen2025("Prop. 6, for minimisers"), not_as_printed, at_most(0.0, "printed"),
    on=before["minimisers"],
    fails_on=case("the diagonal below 1 / sqrt(2)", before["diagonal"]),
    holds_on=case("the flattest minimiser and a sharp one", before["flattest and sharp"]),
    partner="stable-minimisers-as-printed",
)  # fmt: skip
study.claim(
    "tracking-set-as-printed",
    "The set in which only the second eigenvalue has to be below 2 / eta is all of x y = 1.",
    chen2025("Def. 4"), tracked_not_as_printed, at_most(0.0, "printed"), on=past["quadrant"],
    fails_on=case("the diagonal below 1 / sqrt(2)", past["diagonal"]),
    holds_on=case("the flattest minimiser and a sharp one", past["flattest and sharp"]),
    partner="tracking-set", note="It has the same forgotten points x = y < 1 / sqrt(2).",
)  # fmt: skip
study.claim(
    "tracking-set", "Every minimiser is in the set of Definition 4, past the edge too.",
    chen2025("Def. 4, for minimisers"), tracked_not_as_printed, at_most(0.0, "printed"),
    on=past["minimisers"], fails_on=case("the diagonal below 1 / sqrt(2)", past["diagonal"]),
    holds_on=case("the flattest minimiser and a sharp one", past["flattest and sharp"]),
    partner="tracking-set-as-printed",
)  # fmt: skip


def unchanged(path: np.ndarray, onto: str) -> Measured:
    """How many first steps leave the projection onto the stable minimisers, or all, unchanged."""
    most = stable_sum(BEFORE) if onto == "stable" else np.inf
    seen = np.array([nearest_minimiser(x, y, most) for x, y in path[:40]])
    moved = np.abs(seen - seen[0]).max(axis=1) > 1e-6
    return exact(moved.argmax() if moved.any() else len(seen))


study.claim(
    "projection-stays",
    "Before the edge the nearest stable minimiser stays the same for the first three steps at "
    "least, though descent moves.",
    chen2025("Fig. 3.4 (b)"), unchanged, at_least(4, "ours"), on=(runs.paths[BEFORE], "stable"),
    fails_on=case("the nearest of all minimisers, as Definition 4 has it", runs.paths[BEFORE],
                  "all"),
    holds_on=case("a path along minimisers that are not stable",
                  runs.planted_paths["along the minimisers"], "stable"),
    note=lambda path, onto: f"The first {unchanged(path, onto).value:.0f} states have one nearest "
    "stable minimiser, the end of the stable stretch.",
)  # fmt: skip


def flat(drawn: list[np.ndarray]) -> Measured:
    """Share of minimisers, over all numbers of factors, whose sharpness is at least 2."""
    return share(np.concatenate([product_sharpness(x) >= 2 for x in drawn]))


study.claim(
    "many-factors",
    "For n factors and eta > 1 no minimiser is stable: its sharpness is at least 2.",
    chen2025("Prop. 7"), flat, in_all_seeds("printed"), on=runs.factors["product 1"],
    fails_on=case("the same sum where the product is not 1", runs.factors["free"]),
    holds_on=case("factors 2 and 1/2, of sharpness 4.25", runs.factors["twice and half"]),
)  # fmt: skip


def end_of(path: np.ndarray) -> Measured:
    """Sum of the factors, x + y, in the last state; infinite where it is no minimiser."""
    x, y = path[-1]
    return exact(x + y if abs(x * y - 1) < 1e-3 else np.inf)


study.claim(
    "two-rates", "Before the edge descent ends at a minimiser in the stable set.",
    chen2025("Fig. 3.4"), end_of, at_most(stable_sum(BEFORE), "derived"), on=runs.paths[BEFORE],
    fails_on=case("rate 0.2, from the same start", runs.paths[0.2]),
    holds_on=case("a start near the flattest minimiser", runs.planted_paths["near the flattest"]),
    note=lambda path: "At 0.95 it ends at ({:.4f}, {:.4f}).".format(*path[-1]),
)  # fmt: skip
