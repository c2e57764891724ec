"""Gradient descent with more and more raises of the rate, on targets of low and of full rank.

zhu2024 Figs. 4.8, C.13-C.17: test loss falls and alignment rises with the number of catapults where
the target uses few directions; where it uses all of them neither improves. A start near zero does
better still. Ours: a rate that is raised past the critical one by measuring it.
"""

from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np

from dynascope.core.errors import bad
from dynascope.core.randomness import key_for
from dynascope.core.run import Run
from dynascope.core.sources import zhu2024
from dynascope.core.spec import Spec, later_field, static_field
from dynascope.dynamics import CatapultSchedule, GradientDescent, Multiple, Piecewise
from dynascope.engine import Experiment, kept_parameters
from dynascope.engine.record import Every, Keep, Stop
from dynascope.models import MLP
from dynascope.probes import (
    AGOPAlignment,
    CriticalLearningRate,
    Loss,
    TestSetLoss,
    ValidationLoss,
    agop,
)
from dynascope.studies.catapult.feature_tables import PICTURES, Table, planted, table_of, without
from dynascope.studies.catapult.panels import panel_of, refuse_unknown, unless_chosen
from dynascope.studies.nodes import Node
from dynascope.studies.study import Study
from dynascope.tasks import LowRank

SHALLOW, DEEP = MLP(2, 1024, parameterization="ntk"), MLP(4, 256, parameterization="ntk")
RANK_2 = LowRank("rank-2", 100, 2000, 5000, validation=5000)
RANK_3 = LowRank("rank-3", 100, 1000, 5000, validation=5000, unit_variance=True)
RANK_4 = replace(RANK_3, target="rank-4")
FULL = LowRank("full-rank", 100, 128, 2000, validation=2000)


@dataclass(frozen=True)
class Raises(Spec):
    """What is learned by what, the first rate, the later ones, and the steps of each raise."""

    task: LowRank
    model: MLP
    first: float
    rates: tuple[float, ...]
    at: tuple[int, ...]
    steps: int
    first_seed: int = later_field(0)

    def check(self) -> None:
        """Raise unless there is a step for each raise."""
        if len(self.rates) != len(self.at):
            raise bad("rates", self.rates, f"one for each of {len(self.at)} steps")

    def schedule(self, raises: int) -> Piecewise:
        """The rates with so many raises; later stretches keep the last rate."""
        used = (self.first, *self.rates[:raises])
        return Piecewise(used + used[-1:] * (len(self.rates) - raises), (0, *self.at))


PANELS = {
    "rank-2": ("x1 x2", "Figs. 4.8 a, C.13 a"),
    "rank-3": ("x1 x2 (x1 + ... + x10)", "Figs. 4.8 b, C.13 b"),
    "rank-3-raw": ("x1 x2 (x1 + ... + x10) with labels as they are", "Fig. 4.8 b, as printed"),
    "rank-4": ("the staircase of four inputs", "Fig. C.16 a"),
    "rank-4-raw": ("the staircase with labels as they are", "Fig. C.16 a, as printed"),
    "full-rank": ("|x| / sqrt(d)", "Fig. C.17"),
}


@dataclass(frozen=True)
class Settings(Spec, tag="studies.agop-multiple"):
    """The panels, a start near zero, and the schedule that measures."""

    panels: tuple[str, ...] = tuple(PANELS)
    rank_2: Raises = Raises(
        RANK_2, SHALLOW, 2.0, (8, 16, 30, 50, 75, 80), (50, 150, 220, 280, 350, 400), 520
    )
    rank_3: Raises = Raises(RANK_3, DEEP, 2.0, (40, 100, 150), (20, 60, 80), 300)
    rank_3_raw: Raises = Raises(
        replace(RANK_3, unit_variance=False), DEEP, 2.0, (40, 100, 150), (20, 60, 80), 300
    )
    rank_4: Raises = Raises(RANK_4, DEEP, 1.0, (15, 40, 60), (50, 75, 110), 300, 100)
    rank_4_raw: Raises = Raises(
        replace(RANK_4, unit_variance=False), DEEP, 1.0, (15, 40, 60), (50, 75, 110), 300, 100
    )
    full_rank: Raises = Raises(FULL, SHALLOW, 6.0, (7, 12, 40, 80), (30, 120, 180, 280), 400)
    near_zero: float = static_field(0.1)  # standard deviation of the start
    near_zero_rate: float = 20.0
    near_zero_steps: int = 920
    near_zero_rank_3_rate: float = 80.0
    near_zero_rank_3_steps: int = 1500
    factor: float = 1.5  # of the schedule that measures
    most: int = 6
    every: int = 5
    patience: int = 200  # steps without a lower validation loss, after which both stop
    seeds: int = 8
    record_every: int = 10

    def check(self) -> None:
        """Raise for panels that there are none of."""
        refuse_unknown(self.panels, PANELS)


study = Study(
    "agop-multiple",
    title="Raises of the rate lower the test loss and align the features, if few matter",
    sources=(zhu2024("Figs. 4.8, C.13-C.17"),),
    settings=Settings,
    scales={
        "smoke": {
            "panels": ("rank-2", "full-rank"), "near_zero_steps": 300, "most": 2, "seeds": 6,
            "rank_2": Raises(
                LowRank("rank-2", 30, 300, 1000, validation=500), replace(SHALLOW, width=256),
                2.0, (8.0, 16.0), (50, 110), 180,
            ),
            "full_rank.model.width": 256, "full_rank.task.test": 500,
            "full_rank.task.validation": 500,
        },
        "laptop": {},
        "paper": {"seeds": 16},
    },
    notes=lambda s: (
        "Not given: the rate before the first raise (that of Table C.1 here), label scaling of the "
        "targets of rank 3 and 4 (unit variance here; as they are, the first raise diverges), and "
        "where rates are decayed (nowhere here).",
        "Each row is the checkpoint of the best validation loss of its own run; runs with fewer "
        "raises keep their last rate for the rest.",
        "The rates of starts near zero are not given either. That of rank 3 was found on seed 100: "
        "of 5, 20, 80 and 300 it is the one at which the loss falls within 1,500 steps.",
        "That gains of rank 4 are of the seeds that diverge with neither was chosen on seeds 0 to "
        f"7; its seeds begin at {s.rank_4.first_seed}.",
        f"The schedule that measures raises the rate to {s.factor:g} times the critical one, at "
        f"most {s.most} times, looking every {s.every} steps; the constant one takes 0.9 of it.",
    ),
)  # fmt: skip

PROBES = (Loss(), TestSetLoss(), ValidationLoss(), AGOPAlignment())
KEPT = Keep(best="validation_loss")


def _experiment(s: Settings, name: str, rate: Any, **changes: Any) -> Experiment:
    r = panel_of(s, name)
    plan: dict[str, Any] = {"model": r.model, "steps": r.steps, "probes": PROBES} | changes
    return Experiment(
        r.task, dynamics=GradientDescent(rate), record=Every(s.record_every), keep=KEPT,
        seeds=tuple(range(r.first_seed, r.first_seed + s.seeds)), **plan,
    )  # fmt: skip


def _seconds(s: Settings, name: str, runs: int) -> float:
    r = panel_of(s, name)
    size = r.task.train * (r.task.dimension + r.model.width * (r.model.depth - 2)) * r.model.width
    return runs * r.steps * s.seeds * size * 3e-11


def _panel(name: str) -> Node:
    """Runs with no raise, one, two and so on."""

    def trained(s: Settings) -> dict[str, Experiment]:
        """By the number of raises."""
        r = panel_of(s, name)
        return {str(k): _experiment(s, name, r.schedule(k)) for k in range(len(r.rates) + 1)}

    seconds = lambda s: _seconds(s, name, len(panel_of(s, name).rates) + 1)  # noqa: E731
    return study.run(name=f"raises, {name}", only_if=unless_chosen(name), seconds=seconds)(trained)


raised = {name: _panel(name) for name in PANELS}
tables = {
    name: study.finding(node, name=f"table, {name}")(lambda s, runs: table_of(runs))
    for name, node in raised.items()
}
on_pictures = {name: without(study, name, "test", "alignment") for name in PICTURES}


@study.run(only_if=unless_chosen("rank-2"), seconds=lambda s: _seconds(s, "rank-2", 3))
def others(s: Settings) -> dict[str, Experiment]:
    """A start near zero."""
    start = replace(s.rank_2.model, init_scale=s.near_zero)
    return {
        "near zero": _experiment(
            s, "rank-2", s.near_zero_rate, model=start, steps=s.near_zero_steps
        )
    }


@study.run(only_if=unless_chosen("rank-3"), seconds=lambda s: _seconds(s, "rank-3", 5))
def near_zero_rank_3(s: Settings) -> dict[str, Experiment]:
    """A start near zero on the target of rank 3."""
    start = replace(s.rank_3.model, init_scale=s.near_zero)
    rate, steps = s.near_zero_rank_3_rate, s.near_zero_rank_3_steps
    return {"near zero": _experiment(s, "rank-3", rate, model=start, steps=steps)}


@study.finding(near_zero_rank_3, raised["rank-3"])
def compared_rank_3(s: Settings, near: dict[str, Run], raises: dict[str, Run]) -> Table:
    """Every number of raises and the start near zero, a row each."""
    return table_of(raises | near)


@study.run(only_if=unless_chosen("rank-2"), seconds=lambda s: _seconds(s, "rank-2", 6))
def measured_rates(s: Settings) -> dict[str, Experiment]:
    """A rate raised past the critical one by measuring it; and 0.9 of the critical one."""
    critical = CriticalLearningRate("tangent_kernel", tolerance=1e-2)
    probes = (*PROBES, critical)
    stop = (Stop("validation_loss", patience=s.patience),)
    adaptive = CatapultSchedule(s.factor, s.most, every=s.every)
    below = Multiple(factor=0.9, every=s.every)
    return {
        name: _experiment(s, "rank-2", rate, probes=probes, stop=stop)
        for name, rate in (("catapult schedule", adaptive), ("below critical", below))
    }


@study.finding(others, measured_rates, raised["rank-2"])
def compared(
    s: Settings, near: dict[str, Run], rates: dict[str, Run], raises: dict[str, Run]
) -> Table:
    """No raise, all raises, the start near zero and both measured rates, a row each."""
    return table_of({"0": raises["0"], "all": raises[str(len(raises) - 1)]} | near | rates)


@study.compute(raised["rank-2"], others, seconds=lambda s: 5.0)
def maps(s: Settings, raises: dict[str, Run], near: dict[str, Run]) -> dict[str, np.ndarray]:
    """The AGOP of seed 0 at its best validation loss, by number of raises."""
    found = {}
    for name, run in (raises | near).items():
        lane = run.sel(seed=0)
        params = kept_parameters(lane, "best")
        task = s.rank_2.task
        model = run.experiment.model
        network = model.build(task.input_size, 1)
        x, _ = task.samples(key_for(0, "data"))
        found[name] = agop(network.apply, jax.tree.map(np.asarray, params), x)
    return found


# Names, test losses, alignments and catapults of planted rows in which every raise gains.
GAINS = (("0", "1", "2", "3"), [1.0, 0.6, 0.4, 0.2], [0.3, 0.8, 0.9, 0.98], [0, 1, 2, 3])


@study.finding
def made(s: Settings) -> dict[str, Table]:
    """Tables whose answer is known."""
    good = planted(*GAINS)
    backwards = Table(good.names, *(part[::-1] for part in good[1:]))
    wide = planted(
        ("0", "all", "near zero", "catapult schedule", "below critical"),
        [1.0, 0.3, 0.1, 0.2, 0.8], [0.3, 0.9, 0.99, 0.95, 0.5], [0, 6, 0, 6, 0],
    )  # fmt: skip
    narrow = planted(
        wide.names, [0.3, 0.2, 0.9, 0.8, 0.1], [0.9, 0.95, 0.3, 0.5, 0.99], [0, 6, 0, 6, 0]
    )
    lost = planted(*GAINS, diverged=True)
    return {"better": good, "worse": backwards, "compared": wide, "opposite": narrow, "lost": lost}


@study.finding
def misaligned(s: Settings) -> Table:
    """Test losses that fall while the alignment falls too."""
    good = planted(*GAINS)
    return good._replace(alignment=good.alignment[::-1])


@study.finding(raised["full-rank"])
def last_values(s: Settings, runs: dict[str, Run]) -> Table:
    """Test loss and alignment of the full-rank target at the last record instead of the best."""
    table, worst = table_of(runs), {"test_set_loss": np.inf, "agop_alignment": 0.0}
    ends = {
        name: np.array([
            np.where(run["diverged"].values, lost, run[name].values[:, -1]) for run in runs.values()
        ])
        for name, lost in worst.items()
    }
    return table._replace(test=ends["test_set_loss"], alignment=ends["agop_alignment"])
