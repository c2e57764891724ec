"""SGD with several batch sizes at one learning rate, on targets that use few directions.

zhu2024 Table 4.1, Figs. 4.9, 4.10, C.18-C.21, C.23: at half the critical rate of the whole training
set small batches step above the critical rate of their own; at a fortieth none does.
"""

from dataclasses import dataclass, replace

import jax
import numpy as np

from dynascope.core.errors import bad
from dynascope.core.randomness import key_for
from dynascope.core.sources import zhu2024
from dynascope.core.spec import Spec, static_field
from dynascope.dynamics import SGD, GradientDescent
from dynascope.engine import Experiment
from dynascope.engine.record import Every, Stop
from dynascope.models import MLP
from dynascope.probes import (
    AGOPAlignment,
    Loss,
    SupercriticalSteps,
    TangentKernelNorm,
    TestSetLoss,
    ValidationLoss,
    tangent_kernel_top,
)
from dynascope.runtime.precision import precision
from dynascope.studies.catapult.feature_tables import (
    PICTURES,
    Table,
    planted,
    table_of,
    without,
)
from dynascope.studies.catapult.panels import panel_of, refuse_unknown, unless_chosen
from dynascope.studies.catapult.trials import built
from dynascope.studies.nodes import Missing, Node
from dynascope.studies.study import Study
from dynascope.tasks import LowRank

SHALLOW, DEEP = MLP(2, 1024, parameterization="ntk"), MLP(4, 256, parameterization="ntk")
RANK_2 = LowRank("rank-2", 100, 2000, 5000, validation=5000)
RANK_3 = replace(RANK_2, target="rank-3", unit_variance=True)
RANK_4 = replace(RANK_2, target="rank-4", unit_variance=True)

COMPILING = 4.0  # seconds a run


@dataclass(frozen=True)
class ByBatch(Spec):
    """One panel: what is learned, by what, at which rate, in which batches, the largest first."""

    task: LowRank
    model: MLP
    batches: tuple[int, ...] = ()
    share: float = static_field(0.5)  # of the critical rate of all samples
    rate: float | None = None  # instead of that
    steps: int = 20_000  # at most; training ends below a loss of `Settings.enough`
    record_every: int = 50  # steps between two records

    def check(self) -> None:
        """Raise for batches that are out of order or larger than the training set."""
        if sorted(set(self.batches), reverse=True) != list(self.batches) or not self.batches:
            raise bad("batches", self.batches, "sizes, the largest first")
        if self.batches[0] > self.task.train:
            raise bad("batches", self.batches[0], f"at most {self.task.train}, all samples")


ALL, TABLE = (2000, 100, 50, 10, 5), (2000, 50, 10, 5)  # of Fig. 4.9, of Table 4.1


@dataclass(frozen=True)
class Settings(Spec, tag="studies.agop-batch-size"):
    """The panels, and how many seeds each has."""

    panels: tuple[str, ...] = (
        "rank-2", "small-rate", "rank-3", "rank-4", "pytorch", "pytorch-rank-3",
        "small-rate-rank-3",
    )  # fmt: skip
    rank_2: ByBatch = ByBatch(RANK_2, SHALLOW, TABLE)
    small_rate: ByBatch = ByBatch(
        RANK_2, SHALLOW, (50, 5), share=1 / 40, steps=60_000, record_every=1000
    )
    rank_3: ByBatch = ByBatch(RANK_3, DEEP, TABLE, steps=4000)
    rank_4: ByBatch = ByBatch(RANK_4, DEEP, TABLE, steps=4000)
    pytorch: ByBatch = ByBatch(
        RANK_2, replace(SHALLOW, parameterization="pytorch"), (50, 10, 5), rate=0.01,
        steps=20_000, record_every=200,
    )  # fmt: skip
    pytorch_rank_3: ByBatch = ByBatch(
        RANK_3, replace(DEEP, parameterization="pytorch"), (50, 10, 5), rate=0.01, steps=20_000,
        record_every=200,
    )  # fmt: skip
    small_rate_rank_3: ByBatch = ByBatch(
        RANK_3, DEEP, (50, 5), share=1 / 40, steps=60_000, record_every=1000
    )
    seeds: int = 8
    enough: float = static_field(1e-3)

    def check(self) -> None:
        """Raise for panels that there are none of."""
        refuse_unknown(self.panels, PANELS)


PANELS = {
    "rank-2": ("x1 x2", "Table 4.1, Figs. 4.9 a, C.19 a"),
    "small-rate": ("x1 x2 at a fortieth of the critical rate", "Figs. 4.10, C.23 a"),
    "rank-3": ("x1 x2 (x1 + ... + x10)", "Figs. 4.9 b, C.19 b"),
    "rank-4": ("the staircase of four inputs", "Fig. C.21 a"),
    "pytorch": ("x1 x2 in PyTorch's parameterization", "Figs. C.18 a, C.20 a"),
    "pytorch-rank-3": (
        "x1 x2 (x1 + ... + x10) in PyTorch's parameterization",
        "Figs. C.18 b, C.20 b",
    ),
    "small-rate-rank-3": (
        "x1 x2 (x1 + ... + x10) at a fortieth of the critical rate",
        "Figs. 4.10, C.23 b",
    ),
}

study = Study(
    "agop-batch-size",
    title="Smaller batches have more catapults, better features and lower test loss",
    sources=(zhu2024("Table 4.1, Figs. 4.9, 4.10, C.18-C.21, C.23"),),
    settings=Settings,
    scales={
        "smoke": {
            "panels": ("rank-2", "small-rate"), "rank_2.batches": (300, 5),
            "rank_2.task.train": 300, "rank_2.task.test": 500, "rank_2.task.validation": 500,
            "rank_2.task.dimension": 30, "rank_2.model.width": 128, "rank_2.steps": 1200,
            "rank_2.record_every": 20, "small_rate.task.train": 300, "small_rate.task.test": 500,
            "small_rate.task.validation": 500, "small_rate.task.dimension": 30,
            "small_rate.model.width": 128, "small_rate.batches": (50, 5),
            "small_rate.steps": 2000, "small_rate.record_every": 100, "seeds": 6,
        },
        "laptop": {
            "small_rate.task.train": 500, "small_rate.task.dimension": 50,
            "small_rate.model.width": 256, "small_rate.steps": 20_000,
            "small_rate.record_every": 500,
            "small_rate_rank_3.task.train": 500, "small_rate_rank_3.task.dimension": 50,
            "small_rate_rank_3.steps": 20_000, "small_rate_rank_3.record_every": 500,
        },
        "paper": {
            "rank_2.batches": ALL, "small_rate.batches": (100, 50, 10, 5), "rank_3.batches": ALL,
            "rank_4.batches": ALL, "rank_3.steps": 20_000, "rank_4.steps": 20_000,
            "pytorch.batches": ALL, "pytorch.steps": 60_000,
            "pytorch_rank_3.batches": ALL, "pytorch_rank_3.steps": 60_000,
            "small_rate_rank_3.batches": (100, 50, 10, 5),
        },
    },
    notes=lambda s: (
        "Not given: whether the layers have offsets (none here: with them the critical rate is a "
        "twelfth of the printed schedules), whether batches are drawn with replacement (a new "
        "order every epoch here), how labels of rank 3 and 4 are scaled (to unit variance here: "
        "as printed small batches diverge or die).",
        "The rate is half the critical one of all samples at the start, mean over seeds. Catapults "
        "are steps above the critical rate of their batch, until the best validation loss; for "
        "all samples at once they are looked for at the records.",
        f"Training ends below a loss of {s.enough:g}, or after {s.rank_2.steps:,} steps "
        f"({s.rank_3.steps:,} for rank 3 and 4, in all samples at once as in batches, which is "
        "many more epochs of all samples at once).",
    ),
)  # fmt: skip


def rate_by_products(task: LowRank, model: MLP, seed: int) -> float:
    """`trials.critical_rate` without forming the kernel, which has 2,000 rows and more here."""
    network = built(model, task.input_size, 1)
    with precision("float32"):
        x, _ = task.samples(key_for(seed, "data"))
        params = jax.jit(network.init)(key_for(seed, "init"))
        (top,) = tangent_kernel_top(network.apply, params, x)
    return len(x) / float(top.value)


def _experiment(s: Settings, name: str, batch: int, critical: dict[str, float]) -> Experiment:
    panel = panel_of(s, name)
    rate = panel.rate or panel.share * critical[name]
    whole = batch == panel.task.train
    steps = GradientDescent(rate) if whole else SGD(rate, batch, "shuffled")
    counting = TangentKernelNorm() if whole else SupercriticalSteps()
    return Experiment(
        panel.task, panel.model, steps,
        (Loss(), TestSetLoss(), ValidationLoss(), AGOPAlignment(), counting),
        steps=panel.steps, record=Every(panel.record_every), seeds=tuple(range(s.seeds)),
        stop=(Stop("loss", below=s.enough),),
    )  # fmt: skip


@study.compute(seconds=lambda s: 2.0 * len(s.panels))
def critical(s: Settings) -> dict[str, float]:
    """The critical rate of every panel at the start, mean over seeds."""
    found = {}
    for name in s.panels:
        p = panel_of(s, name)
        rates = [rate_by_products(p.task, p.model, seed) for seed in range(s.seeds)]
        found[name] = float(np.mean(rates))
    return found


def _table(name: str) -> Node:
    """The runs of one panel, and what they come to."""

    def trained(s: Settings, rates: dict[str, float]) -> dict[str, Experiment]:
        """Every batch size of one panel."""
        return {str(b): _experiment(s, name, b, rates) for b in panel_of(s, name).batches}

    def seconds(s: Settings) -> float:
        p = panel_of(s, name)
        size = p.model.width * p.task.dimension * s.seeds * 8e-11
        moves = sum(p.task.train * 3000 * (b == p.task.train) + 3e5 for b in p.batches)
        return COMPILING * len(p.batches) + size * moves

    node = study.run(
        critical, name=f"batches, {name}", only_if=unless_chosen(name), seconds=seconds
    )(trained)
    read = study.finding(node, name=f"table, {name}")
    return read(lambda s, runs: table_of(runs))


tables = {name: _table(name) for name in PANELS}
on_pictures = {name: without(study, name, "test", "alignment") for name in PICTURES}


@study.finding(tables["rank-2"])
def full_size(s: Settings, table: Table) -> Table | Missing:
    """Table 4.1, where the sizes are the thesis's."""
    p = s.rank_2
    if (p.task.train, p.task.dimension, p.model.width) != (2000, 100, 1024):
        return Missing("the printed numbers are of 2,000 samples, 100 inputs and width 1,024")
    return table


def as_printed(diverged: bool = False) -> Table:
    """Table 4.1 in eight seeds that differ a little."""
    return planted(("2000", "50", "10", "5"), [0.74, 0.71, 0.59, 0.42],
                   [0.81, 0.84, 0.89, 0.95], [0, 0, 250, 4100], diverged)  # fmt: skip


@study.finding
def printed(s: Settings) -> Table:
    """Table 4.1 as it is printed, with counts of our own."""
    return as_printed()


@study.finding
def reversed_table(s: Settings) -> Table:
    """The same rows in the opposite order."""
    table = as_printed()
    return Table(table.names, *(part[::-1] for part in table[1:]))


@study.finding
def lost_table(s: Settings) -> Table:
    """The printed rows, every lane diverged."""
    return as_printed(diverged=True)


@study.finding
def flat_table(s: Settings) -> Table:
    """Batch sizes that make no difference: test losses within half a percent, no catapults."""
    return planted(("50", "5"), [0.75, 0.752], [0.79, 0.79], [0, 0])


@study.finding
def misaligned(s: Settings) -> Table:
    """Test losses that fall while the alignment falls too."""
    table = as_printed()
    return table._replace(alignment=table.alignment[::-1])
