"""The system, the theorem with the stages of its proof, and what the neuron settles on."""

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.sources import chen2025
from dynascope.probes.orbits import period
from dynascope.studies.comparisons import at_least, at_most, in_all_seeds, near
from dynascope.studies.measures import average, exact, share
from dynascope.studies.nodes import case
from dynascope.studies.oscillation.single_neuron import runs, stages, witnesses
from dynascope.studies.oscillation.single_neuron.runs import BEYOND, DOUBLED, FIGURE, SLOW, study
from dynascope.theories.oscillation import neuron
from dynascope.theories.oscillation.neuron import Neuron
from dynascope.theories.oscillation.quartic import orbit_points

proof, large = stages.stages["theorem"], stages.stages["larger starts"]
trace = runs.population[FIGURE]


def squared_error(drawn: dict[int, witnesses.Gradients], said: dict[int, np.ndarray]) -> Measured:
    """Squared distance of a closed gradient from the true one.

    Without bias: the products of two batches' distances, which share no points.
    """
    products = []
    for d, seen in drawn.items():
        gaps = np.concatenate([seen.for_v[:, None], seen.for_w], axis=1) - said[d]
        products.append((gaps[0::2] * gaps[1::2]).sum(axis=1))
    return average(np.concatenate(products))


def spectrum_error(spectra: witnesses.Spectra) -> Measured:
    """Largest error of a printed eigenvalue."""
    return exact(np.max([np.abs(seen - said).max() for seen, said in spectra]))


def map_error(full: dict[int, Neuron], reduced: dict[int, Neuron]) -> Measured:
    """Largest difference of full descents from those of three numbers."""
    pairs = [(seen, reduced[d]) for d, seen in full.items()]
    gaps = [np.abs(np.array(one) - np.array(other)).max() for one, other in pairs]
    return exact(np.max(gaps))


study.claim(
    "gradient", "The population's gradient has the printed closed form, in any dimension.",
    chen2025("section 3.5"), squared_error, at_most(3e-3**2, "ours"),
    on=(witnesses.gradients, witnesses.said["printed"]),
    fails_on=case("a teacher turned by 0.1 rad", witnesses.gradients,
                  witnesses.said["turned by 0.1"]),
    holds_on=case("at w = u, where it follows from the mean of (x.u)^2",
                  witnesses.gradients_at_teacher, witnesses.said["at the teacher"]),
    note="Squared distance on a million points in 2 and in 5 dimensions, in 16 batches each.",
)  # fmt: skip
study.claim(
    "sharpness", "At a minimiser the Hessian's eigenvalues are (|w|^2 + v^2) / d, v^2 / d and 0.",
    chen2025("(3.5)"), spectrum_error, at_most(1e-6, "ours"), on=witnesses.spectra["minimisers"],
    fails_on=case("those said of the flattest minimiser, at v = 1.6",
                  witnesses.spectra["of another"]),
    holds_on=case("one dimension, where it is that of (v w - 1)^2 / 2",
                  witnesses.spectra["one dimension"]),
)  # fmt: skip
study.claim(
    "three-numbers",
    "Descent in any dimension is that of three numbers, and the dimension drops out.",
    chen2025("(B.58) to (B.61)"), map_error, at_most(1e-12, "ours"),
    on=(witnesses.full, witnesses.reduced[FIGURE]),
    fails_on=case("three numbers at a K larger by 0.001", witnesses.full,
                  witnesses.reduced[FIGURE + 0.001]),
    holds_on=case("descents that begin at the minimiser, and numbers that stay",
                  witnesses.at_rest, witnesses.resting),
)  # fmt: skip

# --- the theorem and its proof -----------------------------------------------------------------


def growth(seen: stages.Facts) -> Measured:
    """Smallest factors of v w_x and of w_x in the first stage, over those of the proof."""
    return exact(np.min([seen.fit_growth / 2.56, seen.along_growth / 1.55]))


def room_in_basin(seen: stages.Facts) -> Measured:
    """How far v w_x stays inside the printed basin, at the end where it comes closest."""
    low, high = seen.settled
    return exact(np.min([low - 0.181, 1.5 - high]))


def violations(seen: stages.Facts) -> Measured:
    """Number of checks in which the printed bound is exceeded."""
    return exact(seen.violations)


def spare_steps(seen: stages.Facts) -> Measured:
    """Steps left of the printed number when the part across stops growing, at least."""
    return exact(seen.spare_steps)


linear = case("small starts nearly along the teacher", stages.stages["nearly linear"])
for slug, words, place, measure, bound, note in (
    ("deviation", "For 1 < K <= 1.1 and starts of at most 0.1 the part across the teacher stays "
     "below 0.1 (1 - 0.03 K)^(t - T1 - 4).", "Thm. 3.5",
     violations, at_most(0.0, "printed"),
     lambda seen: f"{seen.checks:,} checks; at worst {seen.worst.max():.3f} of the bound."),
    ("first-stage", "The part across grows for at most log_2.56(1.35 / (pi beta^2)) steps.",
     "Thm. 3.5, T1", spare_steps, at_least(0.0, "printed"), ""),
    ("growth", "In the first stage every step multiplies v w_x by 2.56 and w_x by 1.55 at least.",
     "appendix B.9, facts 2 and 5", growth, at_least(1.0, "printed"),
     lambda seen: f"Smallest factors: {seen.fit_growth:.2f} and {seen.along_growth:.2f}."),
    ("basin", "From four steps after T1 of Theorem 3.5 on, v w_x stays between 0.181 and 1.5.",
     "appendix B.9, stage 2", room_in_basin, at_least(0.0, "printed"),
     lambda seen: "From {:.3f} to {:.3f}.".format(*seen.settled)),
):  # fmt: skip
    study.claim(
        slug, words, chen2025(place), measure, bound, note=note, on=proof,
        fails_on=case(f"K = {SLOW:g}", stages.stages["slow"]), holds_on=linear,
    )  # fmt: skip


def in_box(seen: stages.Facts) -> Measured:
    """Share of descents that end the first stage inside the proof's box."""
    across, imbalance = seen.ends.T
    inside = (across <= 0.44) & (imbalance >= -0.017) & (imbalance <= 0.17)
    entered = seen.entries <= 0.668
    return exact(np.min([inside.mean(), entered.mean(), seen.tilt <= 2.7]))


study.claim(
    "stage-end",
    "The first stage ends with w_y <= 0.44, v - w_x in [-0.017, 0.17], w_y / w_x <= 2.7 ever "
    "after its first step, and v w_x <= 0.668 one step later.",
    chen2025("appendix B.9, stage 1"), in_box, at_least(1.0, "printed"), on=proof,
    fails_on=case("starts up to 0.5", large), holds_on=linear,
    note=lambda seen: f"Measured: w_y <= {seen.ends[:, 0].max():.3f}, v - w_x in "
    f"[{seen.ends[:, 1].min():.1e}, {seen.ends[:, 1].max():.3f}], w_y / w_x <= {seen.tilt:.2f}, "
    f"v w_x <= {seen.entries.max():.3f}.",
)  # fmt: skip

# --- what it settles on ------------------------------------------------------------------------


def on_orbit(ends: dict[float, Neuron], strengths: tuple[float, ...]) -> Measured:
    """Share of a grid of starts whose last two steps are on the orbit's points, within 1e-9."""
    misses = []
    for k in strengths:
        points = orbit_points(1.0, k)[:, None]
        parts = [np.abs(np.sort(n[-2:], axis=0) - points).max(axis=0) for n in ends[k][:2]]
        misses.append(np.max([*parts, ends[k].across[-1]], axis=0))
    return exact((np.concatenate(misses) < 1e-9).mean())


settled = "the neuron ends with w_y = 0 and v = w_x on the quartic's orbit of period 2."
for slug, words, source, strengths, bound in (
    ("orbit", f"For 1 < K <= 1.1 {settled}", chen2025("Prop. 4"), runs.THEOREM,
     at_least(1.0, "printed")),
    ("orbit-beyond", f"Beyond the theorem, up to K = 1.23, {settled}",
     chen2025("Prop. 4", how="derived; extends"), BEYOND, at_least(1.0, "derived")),
):  # fmt: skip
    study.claim(
        slug, words, source, on_orbit, bound, on=(runs.ends, strengths),
        fails_on=case(f"K = {DOUBLED:g}, beyond the doubling", runs.ends, (DOUBLED,)),
        holds_on=case("starts within 0.001 of the orbit", runs.near_orbit, (FIGURE,)),
        note=lambda ends, strengths: f"A grid of {20 * len(strengths)} starts at K = "
        f"{', '.join(f'{k:g}' for k in strengths)}, obtuse angles too.",
    )  # fmt: skip


def with_period_four(ends: Neuron) -> Measured:
    """Share of a grid of starts from which v has period 4 in the end."""
    return exact(float(np.mean([period(v, tolerance=1e-6) == 4 for v in ends.output.T])))


def two_step_factor(trace: Neuron, part: str, at: int) -> Measured:
    """By how much two steps multiply a part of the neuron, from a step on."""
    values = getattr(trace, part)
    return exact(abs(values[at + 2] / values[at]))


def with_residual(seen: Neuron) -> Measured:
    """Share of seeds whose |w_y| is above 1e-6 on average over the last 50 steps."""
    return share(np.abs(np.atleast_2d(seen.across)[:, -50:]).mean(axis=1) > 1e-6)


study.claim(
    "period-four", f"At K = {DOUBLED:g} the neuron has period 4.",
    chen2025("Prop. 4", how="derived; beyond"), with_period_four, at_least(0.8, "ours"),
    on=runs.ends[DOUBLED], fails_on=case(f"K = {BEYOND[-1]:g}", runs.ends[BEYOND[-1]]),
    holds_on=case("four planted numbers in turn", runs.planted_cycle),
)  # fmt: skip


across, imbalance = map(float, neuron.decay_factors(FIGURE))
for slug, part, at, factor, words, source in (
    ("rate-across", "across", 18, across,
     "the part across the teacher by |1 - K|.", chen2025("(B.60)", how="derived from")),
    ("rate-imbalance", "imbalance", 60, imbalance,
     "the imbalance v - w_x by 3 - 2K, so the part across dies first.",
     chen2025("Fig. B.2", how="derived;")),
):  # fmt: skip
    study.claim(
        slug, f"On the orbit two steps multiply {words}", source,
        two_step_factor, near(factor, 0.005, "derived"), on=(trace, part, at),
        fails_on=case("steps 2 to 4, before it has settled", trace, part, 2),
        holds_on=case("planted decays", runs.planted_trace, part, at),
    )  # fmt: skip
study.claim(
    "three-phases", "From a start across the teacher w_y rises to step 3, then falls.",
    chen2025("Fig. B.2", how="derived for"), lambda trace: exact(trace.across.argmax()),
    near(3, 0, "derived"), on=trace, fails_on=case(f"K = {SLOW:g}", runs.population[SLOW]),
    holds_on=case("a planted rise until step 3", runs.planted_trace),
    measures="Step at which the part across the teacher is largest.",
)  # fmt: skip
study.claim(
    "points", "On 1000 points w_y stops at a residual, which the population does not have.",
    chen2025("Fig. B.2"), with_residual, in_all_seeds("ours"), on=runs.sampled,
    fails_on=case("the population", trace),
    holds_on=case("a planted part across of 0.01", runs.planted_residual),
)  # fmt: skip
