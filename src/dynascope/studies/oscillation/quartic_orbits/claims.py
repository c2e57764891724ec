"""The orbit of period 2 in closed form, its doublings, chaos, and where descent escapes."""

import math

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.sources import chen2025, derived
from dynascope.instruments.orbits.bifurcation import Diagram
from dynascope.instruments.orbits.descent import Observed
from dynascope.studies.comparisons import at_least, at_most, in_all_seeds, near
from dynascope.studies.measures import exact, share
from dynascope.studies.nodes import case
from dynascope.studies.oscillation.quartic_orbits import runs
from dynascope.studies.oscillation.quartic_orbits.places import places
from dynascope.studies.oscillation.quartic_orbits.runs import ACCUMULATION, ONSET, Said, study
from dynascope.theories.oscillation import quartic
from dynascope.theories.oscillation.doubling import FEIGENBAUM

Seen = dict[float, Observed]
cascade, wide = runs.doublings[quartic.QUARTIC], runs.doublings[runs.WIDE]


def at_every_rate(settled: np.ndarray) -> Measured:
    """Share of starts that settle on the orbit at every rate of a list."""
    return share(np.asarray(settled.all(axis=0)))


for _slug, _words, _source, _rates, _bound in (
    ("orbit", "For 1 < K < 1.1213 every start in (0, 1) ends on the orbit of period 2.",
     chen2025("Thm. 3.3"), "printed", in_all_seeds("printed")),
    ("orbit-until-doubling", "Every start in (0, 1) ends on the orbit of period 2 up to "
     "K = sqrt(5) - 1, beyond the printed bound.",
     chen2025("Thm. 3.3", how="derived; extends"), "until doubling",
     in_all_seeds("derived")),
):  # fmt: skip
    _listed = ", ".join(f"{rate:.4g}" for rate in runs.ATTRACTING[_rates])
    study.claim(
        _slug, _words, _source, at_every_rate, _bound, on=runs.settled[_rates],
        fails_on=case("K = 1.25, beyond the doubling", runs.settled["beyond"]),
        holds_on=case("starts within 0.001 of the orbit of K = 1.1", runs.settled["on the orbit"]),
        note=lambda flags, listed=_listed: f"{flags.shape[1]} random starts at K = {listed}, "
        "within 1e-9.",
    )  # fmt: skip


def step(x: float, rate: float) -> float:
    """Where a step of descent on (x^2 - 1)^2 / 4 leads."""
    return x - rate * x * (x * x - 1)


def two_steps(x: float, rate: float) -> float:
    """Where two steps lead.

    Example:
        >>> two_steps(1.0, 1.3)
        1.0
    """
    return step(step(x, rate), rate)


def printed_error(places: np.ndarray) -> Measured:
    """Largest distance of the rate that (3.4) gives for a place from that at which it is."""
    return exact(np.max([abs(quartic.printed_rate(x, 1.0) - k) for k, x in places]))


def last_return(places: np.ndarray) -> Measured:
    """Largest K at which two steps, but not one, lead a place back; not a number if none does."""
    back = [k for k, x in places if abs(two_steps(x, k) - x) < 1e-9 and abs(step(x, k) - x) > 1e-3]
    return exact(max(back, default=math.nan))


def multiplier_error(places: np.ndarray) -> Measured:
    """Largest distance of central differences of two steps from 9 - 2 (K + 1)^2."""
    slopes = [(two_steps(x + 1e-5, k) - two_steps(x - 1e-5, k)) / 2e-5 for k, x in places]
    return exact(np.abs(slopes - (9 - 2 * (places[:, 0] + 1) ** 2)).max(), error=1e-9)


def growth(places: np.ndarray) -> Measured:
    """Smallest relative growth over two steps."""
    return exact(np.min([two_steps(x, k) / x - 1 for k, x in places]))


study.claim(
    "equation", "Both points of the orbit solve (3.4) as long as K is at most 1.5.",
    chen2025("(3.4)"), printed_error, at_most(1e-9, "ours"), on=places["until 1.5"],
    fails_on=case("K = 1.9", places["at 1.9"]),
    holds_on=case("states with the rate that (3.4) gives them", places["planted"]),
)  # fmt: skip
study.claim(
    "existence-as-printed", "On the quartic the orbit of period 2 exists only up to K = 1.5.",
    chen2025("(B.17)"), last_return, at_most(1.5, "printed"), on=places["larger"],
    fails_on=case("roots of the two-step polynomial, K from 1.6 to 1.9", places["roots"]),
    holds_on=case("larger roots of (3.4), which end at 1.5", places["printed"]),
    note="Two steps lead the closed form's larger point back within 1e-9 at every K up to 2.",
)  # fmt: skip
study.claim(
    "multiplier", "An error of the orbit is multiplied by 9 - 2 (K + 1)^2 in two steps.",
    chen2025("Thm. 3.3", how="derived from"), multiplier_error, at_most(1e-6, "ours"),
    on=places["lower"], fails_on=case("places 1% beside the orbit", places["beside"]),
    holds_on=case("the minimum at K = 1, and the orbit that has the turning point on it",
                  places["edge and superstable"]),
)  # fmt: skip
study.claim(
    "turning-point", "For 1 < K < 1.1213 two steps from where the map turns lead upwards.",
    chen2025("(B.20)"), growth, at_least(0.0, "printed"), on=places["turning"],
    fails_on=case("K from 1.13 to 1.23, beyond it", places["turning, beyond"]),
    holds_on=case("x = 0.1, where both steps grow", places["low"]),
    note="So every start comes to the stretch from there to the minimum, on which two steps are "
    "monotone; the bound 1.1213 is where the turning point itself is on the orbit.",
)  # fmt: skip


def as_said(said: Said) -> Measured:
    """Share of rates with the verdict that is said."""
    return exact(float(np.mean([seen.verdict == word for word, seen in said])))


study.claim(
    "figure", "Descent has period 2 at rates 1.05 and 1.235 and period 4 at 1.237.",
    chen2025("Fig. B.5"), as_said, at_least(1.0, "printed"), on=runs.verdicts["figure"],
    fails_on=case("the words for 1.235 and 1.237 exchanged", runs.verdicts["exchanged"]),
    holds_on=case("1.1, 1.2 and 1.26, far from the doublings", runs.verdicts["certain"]),
)  # fmt: skip
study.claim(
    "doubling", "On the quartic period 4 begins at K = sqrt(5) - 1.",
    chen2025("B.12"), lambda doublings, number: exact(doublings[number], error=1e-12),
    near(quartic.DOUBLING, 1e-9, "printed"), on=(cascade, 1),
    fails_on=case("the next doubling", cascade, 2),
    holds_on=case("(x^2 - 2)^2 / 8, the same map in other units", wide, 1),
    measures="Strength K at which the period doubles.",
)  # fmt: skip


def ratios(doublings: tuple[float, ...]) -> list[float]:
    """Ratios of successive gaps between doublings."""
    gaps = np.diff(doublings)
    return (gaps[:-1] / gaps[1:]).tolist()


study.claim(
    "feigenbaum", "Successive doublings come closer by Feigenbaum's ratio.",
    derived("universality; the values are ours"),
    lambda doublings, number: exact(ratios(doublings)[number]),
    near(round(FEIGENBAUM, 6), 0.005, "derived"), on=(cascade, -1),
    fails_on=case("the first ratio, before the law holds", cascade, 0),
    holds_on=case("planted doublings", runs.planted_doublings, -1),
    note=lambda found, _: f"Ratios: {', '.join(f'{r:.4f}' for r in ratios(found))}.",
    measures="Ratio of successive gaps between doublings.",
)  # fmt: skip


def first_chaotic(seen: Seen) -> Measured:
    """Lowest chaotic rate of a scan; not a number without any."""
    return exact(min((k for k, x in seen.items() if x.verdict == "chaotic"), default=math.nan))


study.claim(
    "chaos", "The first chaotic rate is where the doublings end, at 1.3023.",
    chen2025("Fig. 3.3 (4)", how="derived; for one dimension makes exact"), first_chaotic,
    lambda seen: near(ACCUMULATION, 3 * (ONSET[1] - ONSET[0]) / len(seen), "derived"),
    on=runs.scans["onset"], fails_on=case("a scan from 1.307 on", runs.scans["late"]),
    holds_on=case("a quadratic map whose cascade ends there", runs.scans["quadratic map"]),
    note=lambda seen: f"{len(seen)} rates from {ONSET[0]:g} to {ONSET[1]:g}.",
)  # fmt: skip


def visits_on_orbit(diagram: Diagram, points: np.ndarray) -> Measured:
    """Share of visits within a bin of given points, over the rates at which the orbit attracts."""
    width = diagram.values[1] - diagram.values[0]
    shares = []
    for rate, counts, own in zip(diagram.learning_rates, diagram.counts, points, strict=True):
        if 1.01 < rate < 1.23:
            close = np.abs(diagram.values[:, None] - own).min(axis=1) < 1.5 * width
            shares.append(counts[close].sum() / counts.sum())
    return exact(float(np.mean(shares)))


study.claim(
    "diagram", "In the diagram descents lie on the predicted orbit wherever it attracts.",
    chen2025("Thm. 3.3 over the bifurcation diagram"),
    visits_on_orbit, at_least(0.99, "ours"), on=(runs.diagram, runs.predicted["orbit"]),
    fails_on=case("the orbits of rates 3% larger", runs.diagram,
                  runs.predicted["a rate 3 % larger"]),
    holds_on=case("planted visits", runs.planted_diagram, runs.predicted["orbit"]),
)  # fmt: skip
study.claim(
    "positive",
    "On the quartic iterates stay positive up to K = 3 sqrt(3) / 2 - 1, and not beyond.",
    chen2025("appendix B.6", how="derived; sharpens"), exact, at_least(0.0, "derived"),
    on=runs.lowest["below"], fails_on=case("0.001 above", runs.lowest["above"]),
    holds_on=case("K = 1.2, far below", runs.lowest["K = 1.2"]),
    note="99 starts, 0.001 below the change.",
    measures="The lowest iterate over all starts.",
)  # fmt: skip
study.claim(
    "bounded", "On the quartic descent stays bounded up to K = 2.",
    chen2025("appendix B.6", how="derived; beyond"),
    lambda seen: exact(seen.verdict != "diverges"), at_least(1.0, "derived"),
    on=runs.single_rates[quartic.BOUNDED_UNTIL],
    fails_on=case("K = 2.01", runs.single_rates[2.01]),
    holds_on=case("K = 1.05, on its orbit", runs.single_rates[1.05]),
    note=lambda seen: f"At K = 2 the Lyapunov exponent is {seen.lyapunov:.4f} "
    f"(log 3 = {math.log(3):.4f}).",
    measures="Whether descent stays bounded: 1 if it does, 0 if not.",
)  # fmt: skip
