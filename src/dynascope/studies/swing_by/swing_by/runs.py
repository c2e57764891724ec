"""Correlated rows, random starts, networks, and clusters of other widths.

yang2025 Figs. 2c, 3, 5, 13, 14, 17, 18 and the remark on distributions in 4.2.2; yang2024
Figs. 3, 7 and appendix E (gradient flow on infinite data is enough).
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
import xarray as xr

from dynascope.core.run import Run
from dynascope.core.sources import yang2024, yang2025
from dynascope.core.spec import Spec, static_field
from dynascope.dynamics import GradientDescent, GradientFlow
from dynascope.engine import Experiment
from dynascope.engine.record import Evenly, Every
from dynascope.models import TiedLinear
from dynascope.probes import InputJacobian, Loss, OutputAt, TestLoss, bump
from dynascope.studies.study import Study
from dynascope.studies.swing_by import networks as linear
from dynascope.studies.swing_by import starts
from dynascope.studies.swing_by.events import (
    Shown,
    at_printed_clock,
    planted_curve,
    show,
    two_groups,
)
from dynascope.tasks import IdentityMapping
from dynascope.theories import SymmetricTwoLayer

SPREADS = (0.05, 0.2, 0.5, 1.0, 1.5, 2.0, 3.0)  # of the clusters


@dataclass(frozen=True)
class Settings(Spec, tag="studies.swing-by"):
    """What is trained, and on how many seeds."""

    task: IdentityMapping = IdentityMapping(means=(1.0, 2.0), scales=(0.05, 0.05))
    correlation: float = static_field(0.9)  # of the two rows of U
    size: float = static_field(0.01)  # of the diagonal of U U^T at the start
    seeds: int = 500
    network_seeds: int = 300
    wide_seeds: int = 40
    network_steps: int = linear.EPOCHS
    samples_per_cluster: int | None = None
    batch_size: int | None = None


study = Study(
    "swing-by",
    title="Swing-by: a detour past the strongest training cluster",
    sources=(yang2025("Figs. 2c, 3, 5, 13, 14, 17, 18, section 4.2"),
             yang2024("Figs. 3, 7, app. E")),
    settings=Settings,
    scales={
        "smoke": {"seeds": 100, "network_seeds": 64, "wide_seeds": 8, "network_steps": 2400},
        "laptop": {},
        "paper": {"samples_per_cluster": 5000, "batch_size": 128},
    },
    notes=lambda s: (
        "Time is true gradient-flow time; the printed flow (4.3) runs twice as fast.",
        "U is moved, never W: the printed recursion on W leaves the positive semidefinite "
        "cone and diverges for some starts.",
        "Figure 5 is run with A, as the text says, and with A squared, as the authors' "
        "program has it.",
        f"{linear.PROGRAM}; the text's hidden width 64 is run beside the program's 4.",
        linear.population(s.samples_per_cluster),
    ),
)  # fmt: skip


def _start(s: Settings, correlation: float) -> TiedLinear:
    return TiedLinear(width=2, initial_jacobian=starts.correlated(s.size, correlation))


@study.run
def rows(s: Settings) -> dict[str, Experiment]:
    """Two correlated rows, opposed ones, uncorrelated ones, and two equal signals."""
    first, second = s.task.means
    probes = (
        Loss(), TestLoss(), OutputAt(), InputJacobian(),
        OutputAt((first, 0.0), name="output_at_weak"),
        OutputAt((0.0, second), name="output_at_strong"),
    )  # fmt: skip

    def experiment(correlation: float, task: IdentityMapping = s.task) -> Experiment:
        return Experiment(
            task, _start(s, correlation), GradientDescent(0.001), probes,
            steps=8000, record=Evenly(1001), dtype="float64",
        )  # fmt: skip

    return {
        "correlated": experiment(s.correlation),
        "opposed": experiment(-s.correlation),
        "uncorrelated": experiment(0.0),
        "equal signals": experiment(s.correlation, replace(s.task, means=(second, second))),
    }


@study.run
def random_starts(s: Settings) -> dict[str, Experiment]:
    """Fig. 5 with A, as the text says, and with A squared, as the program has it."""

    def experiment(spec: Literal["text", "code"], means: tuple = (1.0, 1.5)) -> Experiment:
        task = IdentityMapping(means=means, scales=(0.05, 0.05, 0.05)).as_in(spec)
        # The program's rate 0.01 is in paper time.
        return Experiment(
            task, TiedLinear(3, 0.2, "uniform"), GradientDescent(0.005),
            (Loss(), TestLoss(), OutputAt()), steps=4000, record=Every(10),
            seeds=tuple(range(s.seeds)), dtype="float64",
        )  # fmt: skip

    equal = experiment("text", means=(1.0, 1.0))
    return {"text": experiment("text"), "code": experiment("code"), "equal signals": equal}


@study.run
def networks(s: Settings) -> dict[str, Experiment]:
    """Deep linear networks in few and many dimensions, narrow and wide."""
    experiment = partial(
        linear.experiment, steps=s.network_steps, samples_per_cluster=s.samples_per_cluster,
        batch_size=s.batch_size,
    )  # fmt: skip
    return {
        "low dimension": experiment(linear.FOUR, 2, s.network_seeds),
        "low dimension, wide": experiment(linear.DEEP, 2, s.wide_seeds),
        "high dimension": experiment(linear.DEEP, 64, s.wide_seeds, rate=0.1),
        "three layers": experiment(linear.THREE, 3, s.network_seeds),
        "one layer": experiment(linear.ONE, 3, s.network_seeds),
    }


@study.run
def clusters(s: Settings) -> dict[str, Experiment]:
    """Gradient flow on the exact population, for clusters of any of the spreads.

    Both clusters are widened, or the weak one alone, or both with opposed rows at the start.
    """

    def experiment(both: bool, correlation: float) -> Experiment:
        values = tuple((spread, spread if both else s.task.scales[1]) for spread in SPREADS)
        return Experiment(
            s.task, _start(s, correlation), GradientFlow(), (TestLoss(),), time=30.0,
            dtype="float64", over=(("task.scales", values),),
        )  # fmt: skip

    return {
        "both": experiment(both=True, correlation=s.correlation),
        "weak": experiment(both=False, correlation=s.correlation),
        "opposed": experiment(both=True, correlation=-s.correlation),
    }


@study.finding(clusters)
def flows(s: Settings, clusters: dict[str, Run]) -> dict[str, Run]:
    """The flows whose clusters have the narrowest spread, that of the figures."""
    narrow = {"task.scales": SPREADS.index(0.05)}
    return {"correlated": clusters["both"].isel(**narrow),
            "opposed": clusters["opposed"].isel(**narrow)}  # fmt: skip


@study.finding(rows["correlated"])
def theory(s: Settings, correlated: Run) -> xr.Dataset:
    """The exact flow over the run from correlated rows."""
    return SymmetricTwoLayer().predict(correlated)


@study.finding(theory)
def slow_theory(s: Settings, theory: xr.Dataset) -> xr.Dataset:
    """The same flow at the printed clock."""
    return at_printed_clock(theory)


@study.finding(theory, rows["correlated"])
def planted_theory(s: Settings, theory: xr.Dataset, run: Run) -> Run:
    """The run, had it been the flow to half a percent."""
    return run.planted(test_loss=theory["test_loss"].values * 1.005)


@study.finding(rows["correlated"])
def planted_turn(s: Settings, run: Run) -> Run:
    """A test loss that turns twice, and an output that turns from the target to a cluster."""
    first, second = s.task.means
    along = np.linspace(0, 3, run.sizes["step"])
    # From 0 towards the target, then to the strong cluster, then to the target.
    corners = np.array([
        [0, 0],
        [0.6 * first, 0.9 * second],
        [0.2 * first, second],
        [first, second],
    ])
    path = np.stack([np.interp(along, np.arange(4), c) for c in corners.T], axis=-1)
    return planted_curve(run, rise=0.1).planted(output_at=path[None])


@study.finding(flows["correlated"])
def planted_flow(s: Settings, run: Run) -> Run:
    """A test loss that falls twice."""
    return planted_curve(run, 0.1)


@study.finding(rows["correlated"])
def planted_clusters_paths(s: Settings, run: Run) -> Run:
    """Outputs at the cluster centres that turn aside: the weak one's early, the strong one's late.

    By a fifth of their length, with a tenth and with nine tenths of their way behind them.
    """
    first, second = s.task.means
    along = np.linspace(0, 2, run.sizes["step"])

    def path(at: float) -> tuple[np.ndarray, np.ndarray]:
        way = np.interp(along, [0, 1, 2], [0.0, at, 1.0])
        return way, np.interp(along, [0, 1, 2], [0.0, 0.2, 0.0])

    (weak, aside), (strong, beside) = path(0.1), path(0.9)
    return run.planted(
        output_at_weak=first * np.stack([weak, aside], axis=-1)[None],
        output_at_strong=second * np.stack([beside, strong], axis=-1)[None],
    )


@study.finding(random_starts["text"], networks["low dimension"])
def planted_rises(s: Settings, random: Run, network: Run) -> dict[str, Run]:
    """Every seed swings by: a rise of a tenth of the first loss."""
    return {"random starts": planted_curve(random, 0.1), "networks": planted_curve(network, 0.1)}


@study.finding(networks["low dimension"])
def planted_falls(s: Settings, network: Run) -> Run:
    """No seed swings by."""
    return planted_curve(network, 0.0)


@study.finding(clusters["both"])
def planted_clusters(s: Settings, run: Run) -> Run:
    """No swing-by at any spread."""
    return planted_curve(run, 0.0)


@study.finding(random_starts["text"])
def halves(s: Settings, random: Run) -> dict[str, Run]:
    """The seeds of one run as two groups."""
    return two_groups(random)


@study.finding(random_starts["text"])
def shown(s: Settings, random: Run) -> Shown:
    """The random start with the largest rise, which the headline shows."""
    return show(random, int(np.argmax(bump(random["test_loss"].values))))
