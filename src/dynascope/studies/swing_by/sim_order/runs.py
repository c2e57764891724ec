"""Three models in seven settings, and one layer from zero for the exact statements."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from dynascope.core.run import Run
from dynascope.core.sources import yang2024, yang2025
from dynascope.core.spec import Spec
from dynascope.dynamics import SGD, Dynamics, GradientDescent
from dynascope.engine import Experiment
from dynascope.engine.record import Every
from dynascope.models import MLP, Linear
from dynascope.probes import OutputAt
from dynascope.probes.trajectories import half_times
from dynascope.studies.study import Study
from dynascope.studies.swing_by.sim_order.paths import growth_from_zero, half_way
from dynascope.studies.swing_by.starts import signal, start_of
from dynascope.tasks import IdentityMapping
from dynascope.theories.swing_by.closed_form import flow_decay, one_layer_output

Reading = Literal["text", "code"]
FIRST_MEANS = (1.0, 2.0, 3.0)  # Fig. 2a; the second mean is 2
FIRST_SCALES = (0.05, 0.1, 0.5, 1.0, 2.0)  # Fig. 2b; the second scale is 0.05
# From zero; no pair of these has equal signals, which would be a tie.
GRID_MEANS = tuple(np.linspace(0.52, 3.04, 22).round(2).tolist())
GRID_SCALES = tuple(np.linspace(0.04, 2.0, 50).round(2).tolist())


@dataclass(frozen=True)
class Settings(Spec, tag="studies.sim-order"):
    """What is trained, and on how many seeds."""

    dimension: int = 64
    width: int = 64
    steps: int = 4720  # 40 epochs of 118 batches
    seeds: int = 32
    network_seeds: int = 8  # four left the order of networks undecided
    samples_per_cluster: int = 5000
    batch_size: int = 128
    linear_samples: bool = False  # whether linear models see samples too, or the population
    rotated: bool = False  # networks only: Theorem 4.1 is drawn seed by seed over one layer


study = Study(
    "sim-order",
    title="Order of learning: the stronger signal first",
    sources=(yang2025("Figs. 2a, 2b, 11, 12, Theorem 4.1"), yang2024("Fig. 3, Theorem A.1")),
    settings=Settings,
    scales={
        "smoke": {"dimension": 16, "width": 16, "seeds": 16, "network_seeds": 4, "steps": 2360},
        "laptop": {},
        "paper": {"linear_samples": True, "rotated": True, "seeds": 40, "network_seeds": 20},
    },
    notes=lambda s: (
        "Linear models follow the text: scales are deviations, K = 2 clusters, no offset.",
        "ReLU networks follow the authors' program: scales are variances, K = 3 clusters with "
        "the one at the origin, offsets. The two readings flip at different scales.",
        "The loss is averaged over coordinates as in the program: with (2.1) itself the "
        "learning rate 0.1 ends the run within its first epoch.",
        "All models train on samples in batches."
        if s.linear_samples
        else "Linear models train on the exact population, ReLU networks on "
        f"{s.samples_per_cluster} samples per cluster in batches of {s.batch_size}.",
        "Half-way is the moment at which the two outputs, as shares of their targets, add up "
        "to 1, interpolated; read once per epoch from one seed it moves by up to 0.1.",
    ),
)


def plain_task(reading: Reading) -> IdentityMapping:
    """Means (1, 2) and scales 0.05, as the text or as the authors' program reads them."""
    task = IdentityMapping((1.0, 2.0), (0.05, 0.05))
    return task if reading == "text" else replace(task, origin=True, scale_is="variance")


@study.run
def models(s: Settings) -> dict[str, Experiment]:
    """Three means, then the wider scales, for one layer, two linear layers and ReLU."""

    def experiment(model: MLP, reading: Reading) -> Experiment:
        network, sampled = model.depth > 1, s.linear_samples or model.activation == "relu"
        samples = s.samples_per_cluster if sampled else None
        task = replace(plain_task(reading), dimension=s.dimension, reduction="mean",
                       rotated=s.rotated and network, samples_per_cluster=samples)  # fmt: skip
        tasks = (*(replace(task, means=(m, 2.0)) for m in FIRST_MEANS),
                 *(replace(task, scales=(x, 0.05)) for x in FIRST_SCALES[1:]))  # fmt: skip
        rate = 0.1 * s.dimension / 64  # 0.1 at dimension 64, and the same clock at any other
        dynamics: Dynamics = SGD(rate, s.batch_size) if sampled else GradientDescent(rate)
        return Experiment(
            tasks[0], model, dynamics, (OutputAt(),), steps=s.steps, record=Every(10),
            seeds=tuple(range(s.network_seeds if network else s.seeds)), over=(("task", tasks),),
        )  # fmt: skip

    return {
        "one layer": experiment(MLP(1, 1, "linear", bias=False), "text"),
        "two layers": experiment(MLP(2, s.width, "linear", bias=False), "text"),
        "relu": experiment(MLP(2, s.width, "relu"), "code"),
    }


@study.run
def from_zero(s: Settings) -> dict[str, Experiment]:
    """One layer from zero over scales of concept 1, in the text's reading over means too."""
    scales, means = ("task.scales[0]", GRID_SCALES), ("task.means[0]", GRID_MEANS)
    axes: dict[Reading, tuple] = {"text": (means, scales), "code": (scales,)}
    return {
        reading: Experiment(  # two dimensions are enough: from zero the others never move
            plain_task(reading), Linear(0.0), GradientDescent(0.002), (OutputAt(),), steps=6000,
            record=Every(20), dtype="float64", over=over,
        )
        for reading, over in axes.items()
    }  # fmt: skip


@study.compute(models["one layer"], seconds=lambda s: 1.0)
def start(s: Settings, run: Run) -> np.ndarray:
    """W(0) of every seed of the one-layer runs, (seed, d, d)."""
    return start_of(run.experiment)


@study.finding(from_zero["text"])
def times_by_mean(s: Settings, run: Run) -> np.ndarray:
    """t_1 and t_2, when each output has half its target, (mean, scale, 2)."""
    targets = np.array([(m, 2.0) for m in GRID_MEANS])[:, None, None]
    return half_times(run["output_at"].values[:, :, 0] / targets, (1.0, 1.0), run["time"].values)


@study.finding(times_by_mean, from_zero["code"])
def delays(s: Settings, times: np.ndarray, code: Run) -> dict[Reading, np.ndarray]:
    """t_1 - t_2 with means (1, 2) over GRID_SCALES."""
    of_code = half_times(code["output_at"].values[:, 0], (1.0, 2.0), code["time"].values)
    return {"text": times[GRID_MEANS.index(1.0)] @ (1, -1), "code": of_code @ (1, -1)}


def theorem(task: IdentityMapping, start: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Theorem 4.1 at the test point for every seed's W(0), (seed, time, d)."""
    decay = flow_decay(task.gradient_factor * signal(task), times)
    return one_layer_output(decay, start, task.test_point)


@study.finding(models["one layer"], start)
def closed_form(s: Settings, run: Run, start: np.ndarray) -> dict[str, np.ndarray]:
    """Theorem 4.1 in all settings, (setting, seed, time, d): as it is, and with an origin."""
    tasks, times = run.experiment.over[0][1], run["time"].values
    return {
        "own": np.stack([theorem(t, start, times) for t in tasks]),
        "with origin": np.stack([theorem(replace(t, origin=True), start, times) for t in tasks]),
    }


def written_out(task: IdentityMapping) -> np.ndarray:
    """Signals of the two concepts in the task's own reading: mean^2 / K + variance."""
    spread = np.asarray(task.scales) if task.scale_is == "variance" else np.square(task.scales)
    return np.square(task.means) / (2 + task.origin) + spread


@study.finding(models["one layer"], start)
def planted_one_layer(s: Settings, run: Run, start: np.ndarray) -> Run:
    """One layer that moves as each error w_ki - 1(k = i) decays at its own rate."""
    outputs = run["output_at"].values.copy()
    for output, task in zip(outputs, run.experiment.over[0][1], strict=True):
        point = np.asarray(task.test_point)
        rates = np.pad(written_out(task), (0, len(point) - 2)) * task.gradient_factor
        decay = np.exp(-np.multiply.outer(run["time"].values, rates))  # (time, d)
        error = np.einsum("ti,ski,i->stk", decay, start - np.eye(len(point)), point)
        output[:] = point + error
    return run.planted(output_at=outputs)


@study.finding(models)
def planted_growth(s: Settings, models: dict[str, Run]) -> dict[str, Run]:
    """Outputs that grow as from zero, each at the rate of its own signal."""
    return {name: run.planted(output_at=_grown(run)) for name, run in models.items()}


def _grown(run: Run) -> np.ndarray:
    outputs = np.zeros(run["output_at"].shape)
    for output, task in zip(outputs, run.experiment.over[0][1], strict=True):
        a = written_out(task)
        # As far as the slower concept needs, whatever the run's own clock.
        times = np.linspace(0, 12 / a.min(), output.shape[1])
        output[..., :2] = -np.expm1(-np.multiply.outer(times, a)) * np.asarray(task.means)
    return outputs


@study.finding(models)
def planted_bends(s: Settings, models: dict[str, Run]) -> dict[str, dict[str, Run]]:
    """Outputs that have one quarter and three quarters of their way behind them at half-way."""
    bends = {"second first": (0.25, 0.75), "first first": (0.75, 0.25)}
    return {kind: {name: run.planted(output_at=_bent(run, corner)) for name, run in models.items()}
            for kind, corner in bends.items()}  # fmt: skip


def _bent(run: Run, corner: tuple[float, float]) -> np.ndarray:
    outputs = np.zeros(run["output_at"].shape)
    along = np.linspace(0, 2, outputs.shape[2])
    for k, share in enumerate(corner):
        means = np.array([task.means[k] for task in run.experiment.over[0][1]])
        path = np.interp(along, [0, 1, 2], [0.0, share, 1.0])
        outputs[..., k] = means[:, None, None] * path
    return outputs


Predicted = dict[str, np.ndarray]


@study.finding(models)
def predicted(s: Settings, models: dict[str, Run]) -> dict[str, Predicted]:
    """Concept 1's share at half-way from zero, (setting,): by the signals, by means alone."""
    return {
        name: {
            "signals": np.array([_half_from_zero(task, True) for task in tasks]),
            "means alone": np.array([_half_from_zero(task, False) for task in tasks]),
        }
        for name, tasks in ((n, run.experiment.over[0][1]) for n, run in models.items())
    }


def _half_from_zero(task: IdentityMapping, spread: bool) -> float:
    return float(half_way(growth_from_zero(task, spread), task.means)[0])


@study.finding
def larger(s: Settings) -> dict[str, np.ndarray]:
    """Whether concept 1 is the stronger one, (mean, scale): by its signal, by its mean alone."""
    means, scales = np.meshgrid(GRID_MEANS, GRID_SCALES, indexing="ij")
    by_mean = (means**2 - 2.0**2) / 2
    return {"signal": by_mean + scales**2 - 0.05**2 > 0, "means alone": by_mean > 0}


@study.finding(from_zero)
def planted_times(s: Settings, from_zero: dict[Reading, Run]) -> dict[Reading, np.ndarray]:
    """t_1 and t_2 of outputs (1 - exp(-a t)) mean written out, over the grids."""
    times = from_zero["text"]["time"].values
    means, scales = np.meshgrid(GRID_MEANS, GRID_SCALES, indexing="ij")
    text = np.stack([means**2 / 2 + scales**2, np.full(means.shape, 2 + 0.05**2)], axis=-1)
    code = np.array([[1 / 3 + x, 4 / 3 + 0.05] for x in GRID_SCALES])
    return {
        "text": half_times(_shares(text, times), (1.0, 1.0), times),
        "code": half_times(_shares(code, times), (1.0, 1.0), times),
    }


def _shares(signals: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Of the way to the target, (..., time, 2)."""
    return -np.expm1(-signals[..., None, :] * times[:, None])


@study.finding(planted_times)
def planted_delays(s: Settings, times: dict[Reading, np.ndarray]) -> dict[Reading, np.ndarray]:
    """t_1 - t_2 of the planted outputs with means (1, 2)."""
    return {"text": times["text"][GRID_MEANS.index(1.0)] @ (1, -1), "code": times["code"] @ (1, -1)}
