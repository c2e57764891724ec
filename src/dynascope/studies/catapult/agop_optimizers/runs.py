"""Seven optimisers on one task at the printed rates: test loss against alignment.

zhu2024 Fig. 4.11, Table C.1.
"""

from dataclasses import dataclass, replace
from typing import Any

from dynascope.core.sources import zhu2024
from dynascope.core.spec import Spec, static_field
from dynascope.dynamics import (
    SGD,
    Adadelta,
    Adagrad,
    Adam,
    Dynamics,
    GradientDescent,
    Momentum,
    RMSprop,
)
from dynascope.engine import Experiment
from dynascope.engine.record import Every, Stop
from dynascope.models import MLP
from dynascope.probes import AGOPAlignment, Loss, TestSetLoss, ValidationLoss
from dynascope.studies.catapult.feature_tables import Table, planted, table_of, without
from dynascope.studies.catapult.panels import panel_of, refuse_unknown, unless_chosen
from dynascope.studies.nodes import Node
from dynascope.studies.study import Study
from dynascope.tasks import LowRank

OPTIMIZERS = ("SGD", "GD", "SGD+M", "Adadelta", "Adagrad", "RMSprop", "Adam")
RATES = {  # Table C.1
    "rank-2": (2.0, 2.0, 2.0, 2.0, 0.1, 1e-2, 1e-2),
    "rank-3": (2.0, 2.0, 2.0, 2.0, 1e-2, 1e-2, 1e-3),
    "rank-4": (1.0, 1.0, 1.0, 1.0, 5e-3, 1e-3, 1e-3),
}
SHALLOW, DEEP = MLP(2, 1024, parameterization="ntk"), MLP(4, 256, parameterization="ntk")
RANK_2 = LowRank("rank-2", 100, 2000, 5000, validation=5000)
RANK_3 = LowRank("rank-3", 100, 1000, 5000, validation=5000, unit_variance=True)


@dataclass(frozen=True)
class Trained(Spec):
    """What is learned by what, for how long at most."""

    task: LowRank
    model: MLP
    steps: int = 3000


@dataclass(frozen=True)
class Settings(Spec, tag="studies.agop-optimizers"):
    """The tasks and how they are trained."""

    panels: tuple[str, ...] = tuple(RATES)
    rank_2: Trained = Trained(RANK_2, SHALLOW)
    rank_3: Trained = Trained(RANK_3, DEEP, 2000)
    rank_4: Trained = Trained(replace(RANK_3, target="rank-4"), DEEP, 2000)
    batch_size: int = 100
    record_every: int = 20
    seeds: int = 8
    enough: float = static_field(1e-3)

    def check(self) -> None:
        """Raise for panels that there are none of."""
        refuse_unknown(self.panels, RATES)


study = Study(
    "agop-optimizers",
    title="Over seven optimisers the test loss ranks as the alignment does",
    sources=(zhu2024("Fig. 4.11, Table C.1"),),
    settings=Settings,
    scales={
        "smoke": {
            "panels": ("rank-2",), "rank_2.task.train": 300, "rank_2.task.dimension": 30,
            "rank_2.task.test": 500, "rank_2.task.validation": 500, "rank_2.model.width": 256,
            "rank_2.steps": 400, "seeds": 6, "batch_size": 50,
        },
        "laptop": {},
        "paper": {"rank_2.steps": 20_000, "rank_3.steps": 20_000,
                  "rank_4.steps": 20_000},
    },
    notes=(
        "Momentum is 0.9, all other constants are PyTorch's. Text and panels disagree about rank 3 "
        "or rank 4: both are here, with labels of unit variance.",
        "Training ends below a loss of 0.001, or at the longest; the checkpoint is that of the "
        "best validation loss.",
    ),
)  # fmt: skip


def rule(name: str, rate: float, batch: int) -> Dynamics:
    """One of the seven by its name in Table C.1."""
    many: dict[str, Any] = {"batch_size": batch, "order": "shuffled"}
    return {
        "SGD": lambda: SGD(rate, **many),
        "GD": lambda: GradientDescent(rate),
        "SGD+M": lambda: Momentum(rate, **many),
        "Adadelta": lambda: Adadelta(rate, **many),
        "Adagrad": lambda: Adagrad(rate, **many),
        "RMSprop": lambda: RMSprop(rate, **many),
        "Adam": lambda: Adam(rate, **many),
    }[name]()


def _table(name: str) -> Node:
    """The seven runs on one task, and what they come to."""

    def trained(s: Settings) -> dict[str, Experiment]:
        """Every optimiser at its rate."""
        t: Trained = panel_of(s, name)
        return {
            optimizer: Experiment(
                t.task, t.model, rule(optimizer, rate, s.batch_size),
                (Loss(), TestSetLoss(), ValidationLoss(), AGOPAlignment()), steps=t.steps,
                record=Every(s.record_every), seeds=tuple(range(s.seeds)),
                stop=(Stop("loss", below=s.enough),),
            )
            for optimizer, rate in zip(OPTIMIZERS, RATES[name], strict=True)
        }  # fmt: skip

    def seconds(s: Settings) -> float:
        t: Trained = panel_of(s, name)
        return t.steps * s.seeds * t.task.train * t.model.width * 3e-9

    node = study.run(name=f"optimisers, {name}", only_if=unless_chosen(name), seconds=seconds)(
        trained
    )
    return study.finding(node, name=f"table, {name}")(lambda s, runs: table_of(runs))


tables = {name: _table(name) for name in RATES}
on_pictures = {name: without(study, name, "alignment") for name in ("svhn", "celeba")}


@study.finding
def made(s: Settings) -> dict[str, Table]:
    """Tables whose answer is known: ranks as the test loss, and the other way round."""
    good = planted(OPTIMIZERS, [0.75, 0.76, 0.71, 0.78, 0.88, 0.31, 0.91],
                   [0.79, 0.78, 0.82, 0.77, 0.61, 0.96, 0.55], [0] * 7)  # fmt: skip
    return {"follows": good, "opposite": good._replace(alignment=1 - good.alignment)}
