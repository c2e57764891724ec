"""A study of two experiments that share one small program: for the command line's tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from dynascope.core.charts import Chart, Line, Panel
from dynascope.core.records import Headline
from dynascope.dynamics import GradientDescent
from dynascope.engine import Experiment
from dynascope.engine.record import Evenly
from dynascope.models import TiedLinear
from dynascope.probes import Loss, TestLoss
from dynascope.studies.base import Study, chart, claim, studies
from dynascope.studies.comparisons import Evidence, at_most, average, compare, single
from dynascope.tasks import IdentityMapping


@dataclass(frozen=True)
class Tiny(Study):
    """A loss falls."""

    name: ClassVar[str] = "tiny"
    title: ClassVar[str] = "A loss that falls"
    source: ClassVar[str] = "nowhere"
    scales: ClassVar[dict[str, dict[str, Any]]] = {
        "smoke": {"seeds": 2},
        "laptop": {},
        "paper": {"steps": 300},
    }

    task: IdentityMapping = IdentityMapping((1.0, 2.0), (0.05, 0.05))
    seeds: int = 3
    steps: int = 200

    def plan(self):
        return {"fast": self._experiment(0.05), "slow": self._experiment(1e-9)}

    def _experiment(self, rate):
        return Experiment(
            self.task, TiedLinear(2, 0.5), GradientDescent(rate), (Loss(), TestLoss()),
            steps=self.steps, record=Evenly(11), seeds=tuple(range(self.seeds)), dtype="float64",
        )  # fmt: skip

    def headline(self, found):
        run = found["fast"].isel(seed=0)
        x, y = run["time"].values.tolist(), run["test_loss"].values.tolist()
        return Headline("Test loss, seed 0", "time", "loss", tuple(x), tuple(y), None, "it falls")

    @claim("falls", "The loss falls to a tenth.", "nowhere 1")
    def falls(self, found) -> Evidence:
        share = {name: _share(run) for name, run in found.items()}
        return compare(at_most(0.1), average(share["fast"]), ("no time", single(share["slow"][0])))

    @claim("vanishes", "The loss vanishes.", "nowhere 2")
    def vanishes(self, found) -> Evidence:
        share = {name: _share(run) for name, run in found.items()}
        return compare(
            at_most(0.0), single(share["fast"][0]), ("no time", single(share["slow"][0]))
        )

    @chart
    def curve(self, found):
        run = found["fast"].isel(seed=0)
        line = Line(run["time"].values, run["loss"].values, "loss")
        return Chart("curve", "The loss", "It falls.", (Panel((line,)),))


# Contract tests walk the registry: only the command line's own tests put it back there.
del studies._things[Tiny.name]


def _share(run):
    return run["loss"].values[:, -1] / run["loss"].values[:, 0]
