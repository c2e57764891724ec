"""Networks on four concepts, one layer from zero, and the pair that swings by.

yang2025 Fig. 7, appendix B.1 and B.2; yang2024 Fig. 8.
"""

from dataclasses import dataclass, replace

import numpy as np

from dynascope.core.run import Run
from dynascope.core.sources import yang2024, yang2025
from dynascope.core.spec import Spec, static_field
from dynascope.dynamics import SGD, GradientDescent
from dynascope.engine import Experiment
from dynascope.engine.record import Evenly, Every
from dynascope.models import MLP, Linear, TiedLinear
from dynascope.probes import InputJacobian, LatticeLoss
from dynascope.probes.lattice import OrderViolations, corners, order_violations
from dynascope.studies.study import Study
from dynascope.studies.swing_by.starts import correlated, signal
from dynascope.tasks import IdentityMapping
from dynascope.theories import SymmetricTwoLayer

PAIR = IdentityMapping((1.0, 2.0), (0.05, 0.05))  # the weak and the strong concept of swing-by
RECORDS = 4  # in an epoch


@dataclass(frozen=True)
class Settings(Spec, tag="studies.topological-order"):
    """What is trained, for how long, and on how many seeds."""

    task: IdentityMapping = IdentityMapping((1.0, 2.0, 3.0, 4.0), (0.5, 0.5, 0.5, 0.5))
    dimension: int = 64
    width: int = 64
    seeds: int = 8
    epochs: int = 20
    samples_per_cluster: int = 5000
    batch_size: int = 128
    rotated: bool = False
    correlation: float = static_field(0.9)  # of the rows of U in the swing-by start

    @property
    def epoch(self) -> int:
        """Steps of one epoch; a last, shorter batch is left out."""
        return len(self.task.means) * self.samples_per_cluster // self.batch_size


study = Study(
    "topological-order",
    title="Topological order: parts before combinations, but not always",
    sources=(yang2025("Fig. 7, appendix B.1, B.2"), yang2024("Fig. 8")),
    settings=Settings,
    scales={"smoke": {"seeds": 4, "epochs": 10}, "laptop": {},
            "paper": {"rotated": True, "seeds": 20, "epochs": 40}},
    notes=(
        "The caption names a two-layer ReLU network, the program trains one layer; both are "
        "run, with offsets as in the program, and ReLU without offsets too.",
        "Scales are deviations and there is no cluster at the origin, as in text and program; "
        "the loss is averaged over coordinates, as in the program.",
        "Epochs 1, 3 and 5 of the figure are networks after 0, 2 and 4 epochs of training.",
        "The text says that the order holds strictly, for every pair and at all times. That "
        "is true for one layer from zero; elsewhere the rate and the worst gap are measured.",
    ),
)  # fmt: skip


@study.run
def networks(s: Settings) -> dict[str, Experiment]:
    """The network of the caption, the same without offset, and the one of the program."""
    task = replace(
        s.task, dimension=s.dimension, reduction="mean", rotated=s.rotated,
        samples_per_cluster=s.samples_per_cluster,
    )  # fmt: skip

    def experiment(model: MLP) -> Experiment:
        return Experiment(
            task, model, SGD(0.1, s.batch_size), (LatticeLoss(),), steps=s.epochs * s.epoch,
            record=Every(s.epoch // RECORDS), seeds=tuple(range(s.seeds)),
        )  # fmt: skip

    return {
        "two-layer ReLU": experiment(MLP(2, s.width, "relu")),
        "ReLU without offset": experiment(MLP(2, s.width, "relu", bias=False)),
        "one layer": experiment(MLP(1, 1, "linear")),
    }


@study.run
def from_zero(s: Settings) -> Experiment:
    """One layer from zero, on the exact population."""
    return Experiment(
        s.task, Linear(0.0), GradientDescent(0.001), (LatticeLoss(),), steps=6000,
        record=Every(20), dtype="float64",
    )  # fmt: skip


@study.run
def pair(s: Settings) -> dict[str, Experiment]:
    """Two concepts from correlated rows, which swing by, and from opposed ones."""

    def experiment(correlation: float) -> Experiment:
        model = TiedLinear(2, initial_jacobian=correlated(0.01, correlation))
        # True time 15 is paper time 30.
        return Experiment(
            PAIR, model, GradientDescent(0.001), (LatticeLoss(), InputJacobian()), steps=15_000,
            record=Evenly(1001), dtype="float64",
        )  # fmt: skip

    return {"swing-by": experiment(s.correlation), "opposed": experiment(-s.correlation)}


@study.finding(pair["swing-by"])
def pair_theory(s: Settings, swing: Run) -> np.ndarray:
    """Losses at the corners of the swing-by pair by the exact flow, (record, corner)."""
    error = SymmetricTwoLayer().predict(swing)["input_jacobian"].values[0] - np.eye(2)
    points = corners(2) * np.array(PAIR.means)
    return ((points @ error.transpose(0, 2, 1)) ** 2).sum(axis=-1) / 2


def losses_from_zero(task: IdentityMapping, times: np.ndarray) -> np.ndarray:
    """Losses at all corners from zero: sum over concepts of mean^2 exp(-2 a t) / 2."""
    each = np.square(task.means) / 2 * np.exp(-2 * np.multiply.outer(times, signal(task)))
    return each @ corners(len(task.means)).T


def order(run: Run) -> OrderViolations:
    """How badly a run breaks the order; arrays are (seed, record)."""
    return order_violations(run["lattice_loss"].values)


@study.finding(from_zero)
def formula(s: Settings, run: Run) -> dict[str, np.ndarray]:
    """The closed form of the losses from zero: as it is, and with a cluster at the origin."""
    times = run["time"].values
    return {
        "own": losses_from_zero(s.task, times),
        "with origin": losses_from_zero(replace(s.task, origin=True), times),
    }


def with_losses(run: Run, each: np.ndarray) -> Run:
    """The run with a loss that is the sum of its concepts' own, (time, concept), at 12 seeds."""
    many = run.isel(seed=[0] * 12)
    losses = each @ corners(each.shape[-1]).T
    return many.planted(lattice_loss=np.broadcast_to(losses, many["lattice_loss"].shape).copy())


@study.finding(from_zero)
def planted_zero(s: Settings, run: Run) -> Run:
    """Losses that fall as one layer's do, written out concept by concept."""
    a = np.square(s.task.means) / len(s.task.means) + np.square(s.task.scales)
    rates = np.exp(-2 * a * run["time"].values[:, None])
    return with_losses(run, 0.5 * np.square(s.task.means) * rates)


@study.finding(networks)
def planted_networks(s: Settings, networks: dict[str, Run]) -> dict[str, dict[str, Run]]:
    """Networks that keep the order at all times, and networks that break it by a tenth and more."""
    kept, broken = {}, {}
    for name, run in networks.items():
        decay = np.linspace(1.0, 0.1, run.sizes["step"])
        kept[name] = with_losses(run, decay[:, None] * np.ones(len(s.task.means)))
        losses = kept[name]["lattice_loss"].values.copy()
        losses[:, -1, 1] = losses[:, -1, -1] + 0.1 * losses[:, 0, -1]  # one concept alone
        broken[name] = kept[name].planted(lattice_loss=losses)
    return {"kept": kept, "broken": broken}


@study.finding(networks)
def shuffled(s: Settings, networks: dict[str, Run]) -> dict[str, Run]:
    """The networks with their combinations in an order drawn anew at every record."""
    rng = np.random.default_rng(0)
    return {
        name: run.planted(lattice_loss=rng.permuted(run["lattice_loss"].values, axis=-1))
        for name, run in networks.items()
    }


@study.finding(pair["swing-by"])
def planted_pair(s: Settings, run: Run) -> Run:
    """The weak concept alone is worse than both in the first 0.37 of the records."""
    losses = np.ones(run["lattice_loss"].shape) * np.array([0.0, 0.1, 0.2, 0.3])
    losses[:, : round(0.37 * run.sizes["step"]), 2] = 0.4
    return run.planted(lattice_loss=losses)
