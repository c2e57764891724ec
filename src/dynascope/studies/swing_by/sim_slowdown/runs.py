"""One layer from zero, from random starts, and in 64 dimensions.

yang2025 section 3.2 and Theorem 4.1 with its remarks; yang2024 Theorem A.1 and (A.4).
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr

from dynascope.core.run import Run
from dynascope.core.sources import yang2024, yang2025
from dynascope.core.spec import Spec
from dynascope.dynamics import SGD, Dynamics, GradientDescent, GradientFlow
from dynascope.engine import Experiment
from dynascope.engine.record import Evenly, Every
from dynascope.models import MLP, Linear, TiedLinear
from dynascope.probes import OutputAt, TestLoss
from dynascope.studies.study import Study
from dynascope.studies.swing_by.events import planted_curve
from dynascope.studies.swing_by.starts import signal, start_of
from dynascope.tasks import IdentityMapping
from dynascope.theories import OneLayer
from dynascope.theories.base import initial_jacobian
from dynascope.theories.swing_by.closed_form import descent_decay, flow_decay, one_layer_output

DEFAULT = MLP(1, 1, "linear", bias=False)  # the program's start
PROBES = (TestLoss(), OutputAt())
START_SIZES = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0)  # factors on the program's default start
CROSS_WEIGHTS = tuple(np.linspace(0.0, 2.0, 101).round(2).tolist())  # w_12(0), all else zero
BEYOND = (1.0, 2.0, 1.5)  # an input with a coordinate that no cluster has
DESCENT_RATE = 0.05  # of the run that is held against the closed form
# Means (1, 1) and signals (0.5, 2). The printed bound is 0 for the first row and negative for
# the second.
MIXED_SIGNS = ((0.3, -0.3), (-0.3, -0.3))
POSITIVE = ((0.05, 0.05), (0.05, 0.05))  # the printed bound is 0.1 for both rows
MIXED_TASK = IdentityMapping((1.0, 1.0), (0.0, 1.5**0.5))


@dataclass(frozen=True)
class Settings(Spec, tag="studies.sim-slowdown"):
    """The task, and how many starts are tried on it."""

    task: IdentityMapping = IdentityMapping((1.0, 2.0), (0.05, 0.05))
    seeds: int = 2000
    wide_seeds: int = 16
    samples_per_cluster: int | None = None  # of the high-dimensional runs
    batch_size: int | None = None


study = Study(
    "sim-slowdown",
    title="Terminal slow-down: an exponential approach, concept by concept",
    sources=(yang2025("section 3.2, Theorem 4.1, (4.2), (C.20), (C.21)"), yang2024("A.1, (A.4)")),
    settings=Settings,
    scales={"smoke": {"seeds": 400, "wide_seeds": 6}, "laptop": {},
            "paper": {"samples_per_cluster": 5000, "batch_size": 128, "wide_seeds": 30}},
    notes=(
        "Scales are deviations, K = 2, and there is no offset, as in the theorem; one layer "
        "needs no factor 2 in time.",
        "The noise term is summed over all d inputs: the printed ranges, s in (4.2) and n in "
        "(C.20), (C.21), lose the inputs without signal, whose terms never decay.",
        "The bound on the noise is taken with absolute values; the printed one has none.",
        "The default start is the program's: uniform within 1/sqrt(inputs), so 0.71 in two "
        "dimensions. The text asks for weights far below 1 / (s max mean).",
        "The high-dimensional runs use the program's loss, averaged over coordinates.",
    ),
)  # fmt: skip


@study.run
def slow(s: Settings) -> dict[str, Experiment]:
    """One layer from zero, and two layers from a small start."""
    tied = TiedLinear(2, initial_jacobian=((0.01, 0.0), (0.0, 0.01)))
    return {
        name: Experiment(
            s.task, model, GradientDescent(0.001), PROBES, steps=12_000, record=Every(20),
            dtype="float64",
        ) for name, model in (("one layer", Linear(0.0)), ("two layers", tied))
    }  # fmt: skip


@study.run
def exact(s: Settings) -> dict[str, Experiment]:
    """Flow and descent from random starts, with one input more than there are concepts."""
    task, few = replace(s.task, dimension=3), {"seeds": tuple(range(8)), "dtype": "float64"}
    both = (OutputAt(), OutputAt(BEYOND, name="output_beyond"))
    flow: Any = {"time": 8.0, "record": Evenly(81), **few}
    descent: Any = {"steps": 160, **few}
    return {
        "flow": Experiment(task, DEFAULT, GradientFlow(), both, **flow),
        "descent": Experiment(task, DEFAULT, GradientDescent(DESCENT_RATE), both, **descent),
    }


@study.finding(exact["flow"])
def weights(s: Settings, flow: Run) -> np.ndarray:
    """The random starts W(0) of both, (seed, 3, 3)."""
    return start_of(flow.experiment)


@study.run
def signs(s: Settings) -> dict[str, Experiment]:
    """One layer from weights of mixed signs, and from positive ones."""
    return {
        name: Experiment(
            MIXED_TASK, Linear(initial_jacobian=start), GradientDescent(0.0005), (OutputAt(),),
            steps=12_000, record=Every(10), dtype="float64",
        ) for name, start in (("mixed", MIXED_SIGNS), ("positive", POSITIVE))
    }  # fmt: skip


@study.run
def starts(s: Settings) -> Experiment:
    """Random starts of several sizes in two dimensions."""
    return Experiment(
        s.task, DEFAULT, GradientDescent(0.01), PROBES, steps=1500, record=Every(10),
        seeds=tuple(range(s.seeds)), dtype="float64", over=(("model.init_scale", START_SIZES),),
    )  # fmt: skip


@study.run
def one_cross_weight(s: Settings) -> Experiment:
    """A single weight w_12(0), everything else at zero."""
    crossed = tuple(((0.0, w), (0.0, 0.0)) for w in CROSS_WEIGHTS)
    return Experiment(
        s.task, Linear(initial_jacobian=crossed[0]), GradientDescent(0.005), PROBES, steps=2000,
        record=Every(1), dtype="float64", over=(("model.initial_jacobian", crossed),),
    )  # fmt: skip


@study.run
def high_dimension(s: Settings) -> Experiment:
    """The default start in 64 dimensions."""
    samples, size = s.samples_per_cluster, s.batch_size
    task = replace(s.task, dimension=64, reduction="mean", samples_per_cluster=samples)
    dynamics: Dynamics = GradientDescent(0.1) if size is None else SGD(0.1, size)
    return Experiment(
        task, DEFAULT, dynamics, (TestLoss(),), steps=4720, record=Every(10),
        seeds=tuple(range(s.wide_seeds)),
    )  # fmt: skip


@study.finding(starts)
def by_size(s: Settings, starts: Run) -> dict[float, Run]:
    """The random starts, by their size."""
    return {size: starts.sel(**{"model.init_scale": size}) for size in START_SIZES}


@study.finding(high_dimension)
def wide_theory(s: Settings, high_dimension: Run) -> xr.Dataset:
    """The closed form over the runs in 64 dimensions, each from its own weights."""
    return OneLayer().predict(high_dimension)


def decays(s: Settings, times: np.ndarray) -> dict[str, np.ndarray]:
    """How much is left of each column's error, (time, 3): exp(-a t), and (1 - rate a)^n."""
    a = signal(replace(s.task, dimension=3))
    steps = np.rint(times / DESCENT_RATE)
    return {"exponential": flow_decay(a, times), "powers": descent_decay(a, DESCENT_RATE, steps)}


@study.finding(exact, weights)
def closed_forms(
    s: Settings, exact: dict[str, Run], start: np.ndarray
) -> dict[str, dict[str, np.ndarray]]:
    """Outputs at the test point by each closed form, (seed, time, 3), for flow and descent."""
    point = (*s.task.means, 0.0)
    return {
        name: {kind: one_layer_output(decay, start, point)
               for kind, decay in decays(s, run["time"].values).items()}
        for name, run in exact.items()
    }  # fmt: skip


@study.finding(exact)
def planted_exact(s: Settings, exact: dict[str, Run]) -> dict[str, Run]:
    """Outputs written out: every error w_ki - 1(k = i) shrinks at its own rate."""
    of = exact["flow"].experiment
    start = initial_jacobian(of.task, of.model, np.array(of.seeds))
    a = np.append(np.square(s.task.means) / 2 + np.square(s.task.scales), 0.0)
    left = {
        "flow": np.exp(-np.multiply.outer(exact["flow"]["time"].values, a)),
        "descent": (1 - DESCENT_RATE * a) ** np.arange(exact["descent"].sizes["step"])[:, None],
    }
    point = np.array([*s.task.means, 0.0])
    return {
        name: run.planted(
            output_at=point + np.einsum("ti,ski,i->stk", left[name], start - np.eye(3), point)
        )
        for name, run in exact.items()
    }


@study.finding(slow["one layer"])
def planted_slow(s: Settings, run: Run) -> Run:
    """Outputs (1 - exp(-t)) mean, and a loss that ends at twice the smallest signal."""
    t = run["time"].values
    output = -np.expm1(-t)[:, None] * np.asarray(s.task.means)
    weakest = (np.square(s.task.means) / 2 + np.square(s.task.scales)).min()
    return run.planted(output_at=output[None], test_loss=np.exp(-2 * weakest * t)[None])


@study.finding(by_size)
def planted_fall(s: Settings, by_size: dict[float, Run]) -> Run:
    """Test losses of two-dimensional starts that only fall."""
    return planted_curve(by_size[1.0], 0.0)


@study.finding(one_cross_weight)
def planted_cross(s: Settings, run: Run) -> Run:
    """Output 1 written out: mean_1 (1 - exp(-a_1 t)) + w_12(0) mean_2 exp(-a_2 t)."""
    (first, second), t = s.task.means, run["time"].values
    a = np.square(s.task.means) / 2 + np.square(s.task.scales)
    output = run["output_at"].values.copy()
    crossed = np.multiply.outer(CROSS_WEIGHTS, second * np.exp(-a[1] * t))
    output[:, 0, :, 0] = crossed - first * np.expm1(-a[0] * t)
    return run.planted(output_at=output)
