"""Networks at the printed means and on rotated points, and starts with two and four concepts.

yang2025 Figs. 2c, 3, 13, 14 with the means of their captions, F.1 for the rotation; yang2024
section A.2.2 for the number of concepts. `swing-by` has the means of the figures' program.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from dynascope.core.run import Run
from dynascope.core.sources import yang2024, yang2025
from dynascope.core.spec import Spec
from dynascope.dynamics import GradientDescent
from dynascope.engine import Experiment
from dynascope.engine.record import Every
from dynascope.models import TiedLinear
from dynascope.probes import InputJacobian, TestLoss
from dynascope.studies.study import Study
from dynascope.studies.swing_by import networks as linear
from dynascope.studies.swing_by.events import planted_curve, two_groups
from dynascope.tasks import IdentityMapping


@dataclass(frozen=True)
class Settings(Spec, tag="studies.swing-by-variants"):
    """On how many seeds, and what networks train on."""

    seeds: int = 500
    network_seeds: int = 300
    wide_seeds: int = 40
    network_steps: int = linear.EPOCHS
    samples_per_cluster: int | None = None
    batch_size: int | None = None


study = Study(
    "swing-by-variants",
    title="Swing-by at the printed means, under rotation, and with more concepts",
    sources=(yang2025("Figs. 2c, 3, 13, 14, F.1"), yang2024("section A.2.2, footnote")),
    settings=Settings,
    scales={
        "smoke": {"seeds": 100, "network_seeds": 64, "wide_seeds": 8, "network_steps": 2400},
        "laptop": {},
        "paper": {"samples_per_cluster": 5000, "batch_size": 128},
    },
    notes=lambda s: (
        f"{linear.PROGRAM}, but for the means, which are the caption's.",
        linear.population(s.samples_per_cluster),
    ),
)  # fmt: skip


@study.run
def networks(s: Settings) -> dict[str, Experiment]:
    """Deep linear networks at the caption's means, on rotated points, and one that cannot."""
    experiment = partial(
        linear.experiment, steps=s.network_steps, samples_per_cluster=s.samples_per_cluster,
        batch_size=s.batch_size,
    )  # fmt: skip
    printed = partial(experiment, means=linear.PRINTED_MEANS)
    return {
        "low dimension": printed(linear.FOUR, 2, s.network_seeds),
        "high dimension": printed(linear.DEEP, 64, s.wide_seeds, rate=0.1),
        "three layers": printed(linear.THREE, 3, s.network_seeds),
        "rotated": experiment(linear.FOUR, 2, s.network_seeds, rotated=True),
        "one layer": experiment(linear.ONE, 3, s.network_seeds),
    }


@study.run
def concepts(s: Settings) -> dict[str, Experiment]:
    """Two and four concepts, each 1.5 times as strong as the one before, at width 4."""
    return {
        name: Experiment(
            IdentityMapping(means, (0.05,) * len(means)), TiedLinear(4, 0.05),
            GradientDescent(0.005), (TestLoss(), InputJacobian()), steps=5000, record=Every(20),
            seeds=tuple(range(s.seeds)), dtype="float64",
        ) for name, means in (("two", (1.0, 1.5)), ("four", (1.0, 1.5, 2.25, 3.375)))
    }  # fmt: skip


@study.finding(networks["low dimension"])
def planted_networks(s: Settings, run: Run) -> dict[str, Run]:
    """Every seed swings by, by a tenth of the first loss, or none."""
    return {"rises": planted_curve(run, 0.1), "falls": planted_curve(run, 0.0)}


@study.finding(concepts)
def planted_concepts(s: Settings, found: dict[str, Run]) -> dict[str, Run]:
    """Every start of two concepts swings by and is positive, none of four."""
    w = {name: np.ones(run["input_jacobian"].shape) for name, run in found.items()}
    w["four"][..., 0, 1] = -1.0
    rises = {"two": 0.1, "four": 0.0}
    return {name: planted_curve(run, rises[name]).planted(input_jacobian=w[name])
            for name, run in found.items()}  # fmt: skip


@study.finding(concepts["two"])
def two_halves(s: Settings, run: Run) -> dict[str, Run]:
    """The starts of two concepts as two groups."""
    return two_groups(run)
