"""Two-layer networks and their quadratic models on one-dimensional data, at four rates."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from dynascope.core.run import Run
from dynascope.core.sources import zhu2024
from dynascope.core.spec import Spec
from dynascope.dynamics import GradientDescent
from dynascope.engine import Experiment
from dynascope.engine.record import Every
from dynascope.models import TwoLayerReLU
from dynascope.models.quadratic import Gates
from dynascope.probes import Loss
from dynascope.studies.catapult.quadratic_general.networks import TrainingOutput
from dynascope.studies.catapult.quadratic_multi.direction_kernel import DirectionKernel
from dynascope.studies.catapult.quadratic_multi.starts import Start, seeds_with_a_gap, start_of
from dynascope.studies.study import Study
from dynascope.tasks import TwoClusters
from dynascope.theories.catapult.directions import half_rate, printed_reduction

WIDTHS = np.logspace(5, 9, 17)  # at which peaks are sought
MODELS: dict[Gates, str] = {"frozen": "quadratic model", "moving": "network"}
BELOW, BETWEEN, ABOVE, PAST = range(4)  # the rates, against the two critical ones
PEAKS = [(BELOW, 0), (BETWEEN, 0), (BETWEEN, 1), (ABOVE, 0), (ABOVE, 1)]  # rate and direction


@dataclass(frozen=True)
class Settings(Spec, tag="studies.quadratic-multi"):
    """What is trained, and on how many seeds."""

    task: TwoClusters = TwoClusters(count=128)
    width: int = 5000
    starts: int = 8
    steps: int = 300
    draws: int = 10_000


study = Study(
    "quadratic-multi",
    title="One catapult per eigendirection of the tangent kernel",
    sources=(zhu2024("Figs. 3.3, B.1, Thm. 3.3.6, Props. B.11.1, B.11.2, B.11.3"),),
    settings=Settings,
    scales={
        "smoke": {"width": 1000, "starts": 6, "steps": 150, "draws": 2000},
        "laptop": {},
        "paper": {"starts": 16, "steps": 600},
    },
    notes=lambda s: (
        "The eigendirections of the tangent kernel are p1 and p2, the inputs of either sign; "
        "lambda1 is the larger eigenvalue.",
        "The critical values 0.37 and 0.39 of Fig. 3.3 are those of the mean of squares, "
        "n / lambda; for the half sum of the chapter's text they would be near 0.006.",
        f"Shown are the first {s.starts} seeds whose critical rates lie 5% to 50% apart; "
        "labels are balanced.",
        "Rates: 0.9 of the first critical rate, the geometric middle of both, 1.2 times the "
        "second, 2.1 times the first.",
        "(B.9) to (B.12) are used with |p|^2 and with unit vectors, without which they are "
        "another map.",
        "B.11 prints |I - eta K| < 2 for < 1, and Pi L(t) for Pi L(t + 1) in the proof.",
    ),
)


@study.compute(reads=("task", "width", "starts"), seconds=lambda s: 4 + 0.1 * s.starts)
def starts(s: Settings) -> tuple[Start, ...]:
    """The seeds that are shown, with their data and untrained network."""
    return seeds_with_a_gap(s.task, s.width, s.starts)


def _clusters(s: Settings) -> dict[str, TwoClusters]:
    """The figure's clusters, farther ones, and two kinds whose kernel is known: 5.29 a sample."""
    return {
        "as printed": s.task, "twice as far": replace(s.task, distance=2 * s.task.distance),
        "one point each": replace(s.task, distance=2.3, spread=0.01),
        "two inputs": TwoClusters(2, 2.3, 0.01),
    }  # fmt: skip


@study.compute(each=lambda s: [(name, half) for name in _clusters(s) for half in (False, True)],
               reads=("task", "width"), seconds=lambda s: 0.5)  # fmt: skip
def critical_rates(s: Settings, at: tuple[str, bool]) -> np.ndarray:
    """N / lambda of the larger kernel, or 2 / lambda for half the sum, over twenty seeds."""
    task, half = _clusters(s)[at[0]], at[1]
    rates = np.array([start_of(task, s.width, seed).critical[0] for seed in range(20)])
    return half_rate(1.0, task.count) * rates if half else rates


@study.run(starts, seconds=lambda s: 5 + 7e-6 * s.starts * s.width * s.steps)
def descents(s: Settings, starts: tuple[Start, ...]) -> dict[str, Experiment]:
    """Both models on every seed, each at four rates of its own."""
    probes = (Loss(), TrainingOutput(), DirectionKernel())
    return {
        f"{name}, seed {start.seed}": Experiment(
            s.task, TwoLayerReLU(s.width, gates), GradientDescent(1.0), probes,
            steps=s.steps, record=Every(1), seeds=(start.seed,), dtype="float64",
            over=(("dynamics.learning_rate", start.rates),),
        )
        for gates, name in MODELS.items() for start in starts
    }  # fmt: skip


class Sweep(NamedTuple):
    """One seed at its four rates: arrays are (rate, step), kernels of the larger one first."""

    start: Start
    width: int
    loss: np.ndarray
    kernels: np.ndarray  # (direction, rate, step)
    residual: np.ndarray  # (direction, rate, step): |K p - value p|
    outside: np.ndarray  # (rate, step): |K q| for a q outside both
    outputs: np.ndarray  # (rate, step, sample)
    diverged: np.ndarray  # (rate,)


@study.finding(starts, descents)
def sweeps(s: Settings, starts: tuple[Start, ...], runs: dict[str, Run]) -> dict[str, list[Sweep]]:
    """Both models, seed by seed."""
    found: dict[str, list[Sweep]] = {name: [] for name in MODELS.values()}
    for start, run in zip(starts * 2, runs.values(), strict=True):
        one, model = run.isel(seed=0), run.experiment.model
        kernel = one["direction_kernel"].transpose("number", "direction", ...)
        value, residual = kernel.sel(direction=[d.name for d in start.directions]).values
        outside = np.hypot(*kernel.sel(direction="outside").values)
        found[MODELS[model.gates]].append(Sweep(
            start, model.width, one["loss"].values, value, residual, outside,
            one["training_output"].values, one["diverged"].values,
        ))  # fmt: skip
    return found


@study.finding(sweeps)
def planted(s: Settings, sweeps: dict[str, list[Sweep]]) -> dict[str, list[Sweep]]:
    """Eigenvalues that stand to half a percent, or fall by 40 % (between) and 60 % (above both)."""
    falls = np.array([[0.005, 0.4, 0.6, 0.0], [0.005, 0.005, 0.6, 0.0]])  # (direction, rate)

    def fell(sweep: Sweep) -> Sweep:
        along = np.linspace(0, 1, sweep.kernels.shape[-1])
        kernels = sweep.kernels[..., :1] * (1 - falls[..., None] * along)
        return sweep._replace(kernels=kernels, diverged=np.arange(4) == PAST)

    return {name: [fell(sweep) for sweep in found] for name, found in sweeps.items()}


@study.finding(sweeps["quadratic model"])
def along_maps(s: Settings, sweeps: list[Sweep]) -> list[Sweep]:
    """Sweeps had the residuals moved by two maps of two numbers, and by nothing outside."""
    found = []
    for sweep in sweeps:
        start, steps = sweep.start, sweep.kernels.shape[-1] - 1
        rest = start.outputs - start.y
        units = np.array([d.unit for d in start.directions])
        rest = rest - (units @ rest) @ units
        paths = [[m.trajectory(steps) for m in start.maps(k, sweep.width)] for k in range(4)]
        outputs = [start.y + rest + np.array([p.residual for p in own]).T @ units for own in paths]
        kernels = np.array([[p.kernel for p in own] for own in paths]).swapaxes(0, 1)
        found.append(sweep._replace(outputs=np.array(outputs), kernels=kernels))
    return found


@study.finding(sweeps["quadratic model"])
def printed_paths(s: Settings, sweeps: list[Sweep]) -> list[Sweep]:
    """Sweeps whose first eigenvalue moves by (B.10) as printed, above both critical rates."""
    found = []
    for sweep in sweeps:
        start, kernels = sweep.start, sweep.kernels.copy()
        for step in range(kernels.shape[-1] - 1):
            state = sweep.outputs[ABOVE, step] - start.y, start.y, kernels[0, ABOVE, step]
            said = printed_reduction(*state, start.directions[0], sweep.width, start.half(ABOVE))
            kernels[0, ABOVE, step + 1] = said
        found.append(sweep._replace(kernels=kernels))
    return found


@study.finding(sweeps["quadratic model"])
def planted_growth(s: Settings, sweeps: list[Sweep]) -> dict[str, list[Sweep]]:
    """Sweeps whose first eigenvalue makes its last step by a law of growth: printed or right."""
    found: dict[str, list[Sweep]] = {"printed": [], "corrected": []}
    for sweep in sweeps:
        # From the kernels alone: what the claim measures with must not make its own plant.
        top = int(np.argmax(sweep.start.kernels))
        eta, d = 2 * 2.1 / sweep.start.kernels[top], sweep.start.found[top]
        step = int(np.isfinite(sweep.kernels[0, PAST]).sum()) - 2
        now, side = sweep.kernels[0, PAST, step], sweep.outputs[PAST, step][d.unit != 0]
        for law, form in (("printed", now - 4 * eta), ("corrected", eta * now - 4)):
            kernels = sweep.kernels.copy()
            kernels[0, PAST, step + 1] = now + side @ side * d.size / sweep.width * eta * form
            found[law].append(sweep._replace(kernels=kernels))
    return found


@study.compute(starts, each=lambda *_: (500, 3), reads=("draws",), seconds=lambda s: 1e-4 * s.draws)
def largest_kernels(s: Settings, starts: tuple[Start, ...], width: int) -> np.ndarray:
    """Largest eigenvalue for random weights, over the larger sum of squared inputs."""
    u = np.random.default_rng(0).normal(size=(s.draws, width))
    parts = [np.where(side, u**2 + 1, 0).mean(axis=1) for side in (u >= 0, u <= 0)]
    sizes = np.array([d.size for d in starts[0].found])
    return (sizes[:, None] * parts).max(axis=0) / sizes.max()


@study.finding
def planted_kernels(s: Settings) -> np.ndarray:
    """Kernels between 0.6 and 1.4."""
    return np.linspace(0.6, 1.4, s.draws)


@study.compute(starts, each=lambda *_: PEAKS, reads=(), seconds=lambda s: 1 + 0.05 * s.starts)
def rises(s: Settings, starts: tuple[Start, ...], at: tuple[int, int]) -> np.ndarray:
    """Peak over first loss along a direction at a rate, (seed, width of `WIDTHS`)."""
    maps = [start.maps(at[0], 1.0)[at[1]] for start in starts]
    first = np.array([[(descent.output - descent.label) ** 2 / 2] for descent in maps])
    return np.array([d.outcome(3000, width=WIDTHS).peak_loss for d in maps]) / first


@study.finding(rises[BETWEEN, 0])
def planted_rises(s: Settings, found: np.ndarray) -> np.ndarray:
    """Peaks in proportion to the width."""
    return np.broadcast_to(0.1 * WIDTHS, found.shape)


@study.compute(starts, each=lambda *_: (0.1, 0.45, 0.8), reads=(), seconds=lambda s: s.starts)
def rises_of_second(s: Settings, starts: tuple[Start, ...], part: float) -> np.ndarray:
    """Largest rise along p2 at any rate below 4 / lambda1, lambda2 a part of lambda1, (seed, 1)."""
    found = []
    for start in starts:
        first, second = start.maps(BETWEEN, 1.0)
        rates = np.linspace(0.2, 3.98, 200) / first.kernel
        seen = second.outcome(2000, learning_rate=rates, kernel=part * first.kernel, width=1e6)
        found.append([seen.peak_loss.max() / ((second.output - second.label) ** 2 / 2)])
    return np.array(found)
