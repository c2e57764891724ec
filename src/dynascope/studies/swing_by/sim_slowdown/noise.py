"""What the initial weights of one layer contribute to its output: the noise of Theorem 4.1."""

from typing import NamedTuple

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.run import Run
from dynascope.core.sources import yang2025
from dynascope.studies.comparisons import at_most, in_all_seeds
from dynascope.studies.measures import exact, share
from dynascope.studies.nodes import case
from dynascope.studies.swing_by.sim_slowdown import runs
from dynascope.studies.swing_by.sim_slowdown.runs import BEYOND, Settings, study
from dynascope.studies.swing_by.starts import signal, start_of
from dynascope.theories.swing_by import closed_form as form


class Noise(NamedTuple):
    """The noise of every start at the test point, and what is said to bound it."""

    over_time: np.ndarray  # output minus its predicted growth, (seed, time, d)
    largest: np.ndarray  # of its absolute value, (seed, d)
    printed: np.ndarray  # the bound without absolute values, (seed, d)
    absolute: np.ndarray  # with them


def noise_of(run: Run) -> Noise:
    """The noise of a run."""
    task, start = run.experiment.task, start_of(run.experiment)
    growth = form.output_growth(form.flow_decay(signal(task), run["time"].values), task.means)
    over_time = run["output_at"].values - growth
    bounds = form.printed_noise_bound(start, task.means), form.noise_bound(start, task.means)
    return Noise(over_time, np.abs(over_time).max(axis=1), *bounds)


@study.finding(runs.signs, runs.by_size[1.0])
def noise(s: Settings, signs: dict[str, Run], default: Run) -> dict[str, Noise]:
    """From weights of mixed and of positive signs, and from the default start."""
    return {name: noise_of(run) for name, run in (*signs.items(), ("default", default))}


@study.finding(runs.by_size[1.0])
def no_noise(s: Settings, default: Run) -> Noise:
    """Of planted outputs mean (1 - exp(-a t)): only growth."""
    a = np.square(s.task.means) / 2 + np.square(s.task.scales)
    grown = -np.expm1(-np.multiply.outer(default["time"].values, a)) * np.asarray(s.task.means)
    shape = default["output_at"].shape
    return noise_of(default.planted(output_at=np.broadcast_to(grown, shape).copy()))


def excess(noise: Noise, row: int) -> Measured:
    """Largest noise of an output from one certain start, minus the printed bound."""
    return exact((noise.largest - noise.printed)[0, row])


study.claim(
    "noise-bound-as-printed",
    "The noise of output k never exceeds the sum of w_ki(0) mean_i, read as printed, without "
    "absolute values: the excess is at most 0, to round-off.",
    yang2025("section 4.1 after Theorem 4.1"), excess, at_most(1e-9, "printed"),
    on=(noise["mixed"], 0), fails_on=case("weights (-0.3, -0.3)", noise["mixed"], 1),
    holds_on=case("weights (0.05, 0.05)", noise["positive"], 0), partner="noise-bound-absolute",
)  # fmt: skip


def within_bound(noise: Noise, bound: str) -> Measured:
    """Share of starts whose noise stays within a bound for every output, to 1e-6 of it."""
    allowed = getattr(noise, bound)
    return share((noise.largest <= allowed + 1e-6 * np.abs(allowed)).all(axis=1))


study.claim(
    "noise-bound-absolute",
    "The noise of output k never exceeds the sum of |w_ki(0)| mean_i, from all starts.",
    yang2025("Theorem 4.1", how="derivation of"), within_bound, in_all_seeds("derived"),
    on=(noise["default"], "absolute"),
    fails_on=case("the bound without absolute values", noise["default"], "printed"),
    holds_on=case("planted outputs without noise", no_noise, "absolute"),
    note=lambda noise, _: "The printed bound is kept by "
    f"{within_bound(noise, 'printed').value:.0%} of the starts.",
    partner="noise-bound-as-printed",
)  # fmt: skip


def predicted_output(
    run: Run, start: np.ndarray, point: tuple[float, ...], inputs: int | None
) -> np.ndarray:
    """Output predicted at a point, the noise summed over the first inputs: (seed, time, d)."""
    decay = form.flow_decay(signal(run.experiment.task), run["time"].values)
    noise = form.output_noise(decay, start, point, inputs)
    return form.output_growth(decay, point) + noise


def told(run: Run, start: np.ndarray, where: str, inputs: int | None) -> Measured:
    """Share of seeds whose output at a point is the predicted one, to 1e-6, at all times."""
    point = BEYOND if where == "output_beyond" else (*run.experiment.task.means, 0.0)
    gap = np.abs(run[where].values - predicted_output(run, start, point, inputs))
    return share(gap.max(axis=(1, 2)) <= 1e-6)


flow = (runs.exact["flow"], runs.weights)
study.claim(
    "noise-sum-as-printed",
    "At any input, the noise summed over the s concepts gives the output, in all seeds.",
    yang2025("(4.2); (C.20), (C.21) sum to n instead"), told, in_all_seeds("printed"),
    on=(*flow, "output_beyond", 2),
    fails_on=case("sum over the first concept only", *flow, "output_beyond", 1),
    holds_on=case("at the test point, which has no other coordinate", *flow, "output_at", 2),
    partner="noise-sum-over-all-inputs",
)  # fmt: skip
study.claim(
    "noise-sum-over-all-inputs",
    "At any input, the noise summed over all d inputs gives the output, in all seeds.",
    yang2025("(4.2)", how="derivation of"), told, in_all_seeds("derived"),
    on=(*flow, "output_beyond", None),
    fails_on=case("sum over the s concepts", *flow, "output_beyond", 2),
    holds_on=case("at the test point", *flow, "output_at", None), partner="noise-sum-as-printed",
)  # fmt: skip
