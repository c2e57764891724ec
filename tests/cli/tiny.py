"""A study of two experiments that share one small program: for the command line's tests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynascope.core.charts import Chart, Line, Panel
from dynascope.core.sources import Source
from dynascope.core.spec import Spec
from dynascope.dynamics import GradientDescent
from dynascope.engine import Experiment
from dynascope.engine.record import Evenly
from dynascope.models import TiedLinear
from dynascope.probes import Loss, TestLoss
from dynascope.studies import (
    Study,
    at_most,
    average,
    case,
    headline_chart,
    in_all_seeds,
    share,
    studies,
)
from dynascope.tasks import IdentityMapping


@dataclass(frozen=True)
class Settings(Spec, tag="studies.tiny"):
    task: IdentityMapping = IdentityMapping((1.0, 2.0), (0.05, 0.05))
    seeds: int = 3
    steps: int = 200


tiny = Study(
    "tiny", title="A loss that falls", sources=(Source("nowhere"),), settings=Settings,
    scales={"smoke": {"seeds": 2}, "laptop": {}, "paper": {"steps": 300}},
)  # fmt: skip


@tiny.run
def rates(s) -> dict[str, Experiment]:
    """At a rate, and at almost none."""

    def experiment(rate):
        return Experiment(
            s.task, TiedLinear(2, 0.5), GradientDescent(rate), (Loss(), TestLoss()),
            steps=s.steps, record=Evenly(11), seeds=tuple(range(s.seeds)), dtype="float64",
        )  # fmt: skip

    return {"fast": experiment(0.05), "slow": experiment(1e-9)}


@tiny.finding(rates["fast"])
def gone(s, run):
    """Eight seeds whose loss vanishes at once."""
    loss = np.tile(np.arange(run.sizes["step"]) == 0, (8, 1)).astype(float)
    return run.isel(seed=[0] * 8).planted(loss=loss)


def left(run):
    """The share of the loss that is left."""
    return average(run["loss"].values[:, -1] / run["loss"].values[:, 0])


def vanished(run):
    """The share of seeds whose loss is zero at the end."""
    return share(run["loss"].values[:, -1] <= 0)


tiny.claim(
    "falls", "The loss falls to a tenth.", Source("nowhere 1"), left, at_most(0.1, "ours"),
    on=rates["fast"], fails_on=case("no time", rates["slow"]), holds_on=case("planted", gone),
)  # fmt: skip
tiny.claim(
    "vanishes", "The loss vanishes.", Source("nowhere 2"), vanished, in_all_seeds("ours"),
    on=rates["fast"], fails_on=case("no time", rates["slow"]), holds_on=case("planted", gone),
)  # fmt: skip


@tiny.chart(rates["fast"], headline=True)
def headline(s, run):
    """The test loss."""
    run = run.isel(seed=0)
    return headline_chart(
        "Test loss, seed 0", ("time", run["time"].values), ("loss", run["test_loss"].values),
        note="it falls",
    )  # fmt: skip


@tiny.chart(rates["fast"])
def curve(s, run):
    """The loss."""
    run = run.isel(seed=0)
    line = Line(run["time"].values, run["loss"].values, "loss")
    return Chart("curve", "The loss", "It falls.", (Panel((line,)),))


# Contract tests walk the registry: only the command line's own tests put it back there.
del studies._things[tiny.name]
