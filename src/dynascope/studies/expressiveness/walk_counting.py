"""Counting walks of one colour: learned by message passing, not by precomputed features.

002 Table 2.2: Cora and a random regular graph, GIN against graph-augmented MLPs on powers of A
and of the GCN operator, each with as many powers as steps and with twice as many ("+").
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import xarray as xr

from dynascope.core.charts import Bars, Chart, Line, Mark, Panel
from dynascope.core.records import Headline
from dynascope.core.spec import static_field
from dynascope.dynamics import Adam
from dynascope.dynamics.schedules import Cosine
from dynascope.engine import Experiment
from dynascope.engine.record import Evenly
from dynascope.graphs import class_floor
from dynascope.models import GIN, GraphAugmentedMLP, Model
from dynascope.models.graph_augmented import Operator
from dynascope.probes import HeldOutError, Loss
from dynascope.studies.base import Study, chart, claim
from dynascope.studies.comparisons import (
    Evidence,
    at_least,
    at_most,
    average,
    between,
    compare,
    not_applicable,
    single,
)
from dynascope.studies.expressiveness.datasets import absent, available
from dynascope.tasks import WalkCounting

CORA = WalkCounting("cora", length=2, training_nodes=1000)
SHORT = "GIN, one layer"
RATE = "dynamics.learning_rate.peak"
FAMILIES: dict[str, Operator] = {"A": "adjacency", "GCN": "self_loop"}
# Train and test error as printed; "GCN" is the operator with self-loops.
PRINTED: dict[str, dict[str, tuple[float, float]]] = {
    "cora": {
        "GIN": (3.98e-6, 9.72e-7), "GA-MLP-A": (1.23e-1, 1.56e-1), "GA-MLP-A+": (1.87e-2, 6.44e-2),
        "GA-MLP-GCN": (4.22e-1, 5.79e-1), "GA-MLP-GCN+": (4.00e-1, 5.79e-1),
    },
    "regular": {
        "GIN": (3.39e-5, 2.61e-4), "GA-MLP-A": (1.75e-2, 2.13e-2), "GA-MLP-A+": (1.69e-2, 2.13e-2),
        "GA-MLP-GCN": (1.02e-1, 1.58e-1), "GA-MLP-GCN+": (1.12e-1, 1.52e-1),
    },
}  # fmt: skip


class Found(NamedTuple):
    """What claims and charts read: errors by graph and model, over seeds."""

    runs: dict[str, xr.Dataset]
    train: dict[str, dict[str, np.ndarray]]
    test: dict[str, dict[str, np.ndarray]]
    floor: dict[str, dict[str, float]]  # graph -> family of models -> class floor


@dataclass(frozen=True)
class WalkCountingStudy(Study):
    """Test errors of GIN and of graph-augmented MLPs beside Table 2.2."""

    name: ClassVar[str] = "walk-counting"
    title: ClassVar[str] = "Message passing learns to count walks, precomputed features do not"
    source: ClassVar[str] = "002 Table 2.2, Prop. 2.7, section 2.5"
    scales: ClassVar[dict[str, dict[str, Any]]] = {
        "smoke": {
            "regular": WalkCounting(length=2, nodes=400, training_nodes=200),
            "steps": 1500,
            "operators": ("A",),
            "multiples": (1,),
        },
        "laptop": {},
        "paper": {
            "steps": 20_000,
            "rates": (0.1, 0.02, 0.01, 0.005, 0.001),
            "mlp_rates": (0.1, 0.02, 0.01, 0.005, 0.001, 0.0001),
        },
    }

    regular: WalkCounting = WalkCounting()
    cora: WalkCounting = CORA
    graphs: tuple[str, ...] = ("regular",)  # with "cora" if it lay in the data folder
    seeds: int = 3
    first_seed: int = 20  # every setting was chosen while looking at seeds 0 to 12
    steps: int = 6000
    rates: tuple[float, ...] = static_field((0.02, 0.05))  # of GIN; the best training error counts
    mlp_rates: tuple[float, ...] = static_field((0.01,))  # larger ones overfit
    regular_width: int = 8
    cora_width: int = 16
    mlp_width: int = 32
    operators: tuple[str, ...] = ("A", "GCN")
    multiples: tuple[int, ...] = (1, 2)  # powers per step of a walk; 2 is the "+" of the table

    @classmethod
    def at(cls, scale: str) -> Study:
        """The settings of a scale, with Cora where it is there; smoke leaves it out."""
        there = () if scale == "smoke" else available(["cora"])
        return replace(super().at(scale), graphs=("regular", *there))  # type: ignore[call-arg]

    def notes(self) -> tuple[str, ...]:
        """What the thesis leaves open, and what was chosen."""
        return (
            "Walks have two steps on Cora and three on the regular graph, and the first node's "
            "colour belongs to the pattern; the printed pattern is the same for both.",
            "Training is on all training nodes at once with a cosine rate, not on batches of 32 "
            "for 20,000 epochs: GIN ends far above the printed errors. On Cora 12,000 steps "
            "were worse for GIN than 6,000 (0.034, 0.025, 0.033 against 0.008, 0.021, 0.012 on "
            "seeds 10 to 12), so the length shown favours it.",
            "For every model and seed the rate with the smallest training error counts. Rates, "
            "widths, length and control were chosen by hand, about a dozen settings of GIN tried "
            f"on seeds 0 to 12; the seeds shown begin at {self.first_seed} and decided nothing. "
            "GIN has two rates to choose from, the MLPs one. GIN reads out all layers.",
            "What the MLP sees is standardised over the nodes. On a regular graph the GCN operator "
            "is then A by another name, which the printed table (features as they are) is not.",
            "The class floor is what no training can remove; errors far above it are due to "
            "learning and generalising, not to what the features tell apart.",
        )

    def plan(self) -> dict[str, Experiment]:
        """Every model on every graph."""
        return {
            f"{graph}: {name}": self._experiment(graph, model)
            for graph in self.graphs
            for name, model in self._models(graph).items()
        }

    def _task(self, graph: str) -> WalkCounting:
        return self.cora if graph == "cora" else self.regular

    def _as_printed(self, graph: str) -> bool:
        """Whether the graph is of the printed kind and size."""
        return self._task(graph) == (WalkCounting() if graph == "regular" else CORA)

    def _models(self, graph: str) -> dict[str, Model]:
        length = self._task(graph).length
        width = self.cora_width if graph == "cora" else self.regular_width
        models: dict[str, Model] = {
            "GIN": GIN(length, width, jumping=True),
            SHORT: GIN(1, width, jumping=True),
        }
        for operator in self.operators:
            for times in self.multiples:
                name = f"GA-MLP-{operator}" + "+" * (times - 1)
                models[name] = GraphAugmentedMLP(
                    (FAMILIES[operator],),
                    (times * length,),
                    width=self.mlp_width,
                )
        return models

    def _experiment(self, graph: str, model: Model) -> Experiment:
        rates = self.rates if isinstance(model, GIN) else self.mlp_rates
        return Experiment(
            self._task(graph), model, Adam(Cosine(rates[0], self.steps)), (Loss(), HeldOutError()),
            steps=self.steps, record=Evenly(101), over=((RATE, rates),),
            seeds=tuple(range(self.first_seed, self.first_seed + self.seeds)),
        )  # fmt: skip

    def analyse(self, runs: dict[str, xr.Dataset]) -> Found:
        """Final errors at the best rate, and the class floors."""
        runs = {label: best_rate(run) for label, run in runs.items()}
        train: dict[str, dict[str, np.ndarray]] = {g: {} for g in self.graphs}
        test: dict[str, dict[str, np.ndarray]] = {g: {} for g in self.graphs}
        for label, run in runs.items():
            graph, name = label.split(": ")
            train[graph][name] = run["loss"].values[:, -1]
            test[graph][name] = run["held_out_error"].values[:, -1]
        return Found(runs, train, test, {g: self._floors(self._task(g)) for g in self.graphs})

    def _floors(self, task: WalkCounting) -> dict[str, float]:
        graph, target, colours = task.system(), task.counts(), task.colours()

        def floor(family: str, depth: int) -> float:
            found = class_floor(
                graph, target, family, depth, features=colours, include_identity=True
            )
            return float(found)  # type: ignore[arg-type]

        floors = {"GIN": floor("wl", task.length), SHORT: floor("wl", 1)}
        for operator in self.operators:
            for times in self.multiples:
                name = f"GA-MLP-{operator}" + "+" * (times - 1)
                floors[name] = floor(FAMILIES[operator], times * task.length)
        return floors

    def headline(self, found: Found) -> Headline:
        """GIN's held-out error on the regular graph, with that of powers of A."""
        gin, mlp = (found.runs[f"regular: {n}"]["held_out_error"] for n in ("GIN", "GA-MLP-A"))
        errors = [tuple(np.log10(e.mean("seed").values[1:]).tolist()) for e in (gin, mlp)]
        return Headline(
            "Held-out error on the regular graph: GIN (theory: MLP on powers of A)",
            "step", "log10 of the error", tuple(map(float, gin["step"].values[1:])),
            errors[0], errors[1], f"mean of {self.seeds} seeds; error is MSE over variance",
        )  # fmt: skip

    # --- claims --------------------------------------------------------------------------

    @claim(
        "gin-best-regular",
        "On the regular graph GIN's held-out error is below that of every graph-augmented MLP.",
        "002 Table 2.2",
    )
    def gin_best_regular(self, found: Found) -> Evidence:
        """Powers of ten below the best of the others; GIN of one layer must not be."""
        return _best(found, "regular")

    @claim(
        "gin-best-cora",
        "On Cora GIN's held-out error is below that of every graph-augmented MLP.",
        "002 Table 2.2",
    )
    def gin_best_cora(self, found: Found) -> Evidence:
        """The same on Cora."""
        return _best(found, "cora") if "cora" in found.test else self._no_cora()

    @claim(
        "floor-regular",
        "On the regular graph nothing is out of reach for message passing: its class floor is 0.",
        "002 Prop. 2.7; Table 2.2",
    )
    def floor_regular(self, found: Found) -> Evidence:
        """Exact floor; powers of A must have one."""
        return _floor(found, "regular")

    @claim(
        "floor-cora",
        "On Cora nothing is out of reach for message passing: its class floor is 0.",
        "002 Prop. 2.7; Table 2.2",
    )
    def floor_cora(self, found: Found) -> Evidence:
        """The same on Cora."""
        return _floor(found, "cora") if "cora" in found.floor else self._no_cora()

    @claim(
        "table-2-2-adjacency",
        "On the regular graph the held-out error of powers of A is within a factor of 1.5 of the "
        "printed 0.0213.",
        "002 Table 2.2",
    )
    def printed_adjacency(self, found: Found) -> Evidence:
        """Ratio to the printed error; GIN's must be far from it."""
        if not self._as_printed("regular"):
            return not_applicable("this scale has a smaller graph: use --scale laptop")
        printed = PRINTED["regular"]["GA-MLP-A"][1]
        test = found.test["regular"]
        control = ("GIN", average(test["GIN"] / printed))
        return compare(between(1 / 1.5, 1.5), average(test["GA-MLP-A"] / printed), control)

    @claim(
        "table-2-2-gin",
        "GIN's held-out error on the regular graph is within a factor of 3 of the printed 2.61e-4.",
        "002 Table 2.2",
    )
    def printed_gin(self, found: Found) -> Evidence:
        """Ratio to the printed error, where training is as long; powers of A must be far."""
        if self.steps < 20_000:
            return not_applicable("needs the thesis's 20,000 epochs: use --scale paper")
        printed = PRINTED["regular"]["GIN"][1]
        test = found.test["regular"]
        control = ("GA-MLP-A", average(test["GA-MLP-A"] / printed))
        return compare(at_most(3), average(test["GIN"] / printed), control)

    def _no_cora(self) -> Evidence:
        if available(["cora"]):
            return not_applicable("this scale leaves Cora out: use --scale laptop")
        return absent("cora")

    # --- charts --------------------------------------------------------------------------

    @chart
    def table(self, found: Found) -> Chart:
        """Held-out errors beside the printed ones, and the class floors."""
        return Chart(
            "table",
            "Table 2.2: held-out error of counting walks",
            "Mean squared error over the variance of the counts, log10; mean over seeds with the "
            "range, beside the printed numbers where the graph is the printed one. Bars go down "
            "from 1 (log10 = 0), the longer the better: look at how far GIN is below the others.",
            tuple(_table_panel(found, g, self._as_printed(g)) for g in found.test),
        )

    @chart
    def curves(self, found: Found) -> Chart:
        """Held-out error over training."""
        panels = []
        for graph in found.test:
            marks: list[Mark] = []
            for group, name in enumerate(found.test[graph]):
                error = found.runs[f"{graph}: {name}"]["held_out_error"].isel(step=slice(1, None))
                role: Any = "control" if name == SHORT else "measured"
                mean = error.mean("seed").values
                marks.append(Line(error["step"].values, mean, name, role, group))
            panels.append(
                Panel(tuple(marks), graph, "step", "held-out error", x_scale="log", y_scale="log")
            )
        return Chart(
            "curves",
            "How long it takes to learn counting",
            "Mean over seeds. Look at where GIN crosses the graph-augmented MLPs, which settle at "
            "once; with one layer (grey) it cannot see far enough.",
            tuple(panels),
        )


def best_rate(run: xr.Dataset) -> xr.Dataset:
    """Of every seed the lane whose training error ends lowest; diverged ones never do."""
    final = run["loss"].isel(step=-1, drop=True).fillna(np.inf).drop_vars("time", errors="ignore")
    chosen = run[["loss", "held_out_error"]].isel({RATE: final.argmin(RATE)})
    return chosen.transpose("seed", "step")


def _best(found: Found, graph: str) -> Evidence:
    """Powers of ten between the best graph-augmented MLP and a network, seed by seed."""
    test = found.test[graph]
    others = np.min([e for name, e in test.items() if name.startswith("GA-MLP")], axis=0)
    gain, short = (average(np.log10(others / test[name])) for name in ("GIN", SHORT))
    shown = "; ".join(f"{name} {e.mean():.2g}" for name, e in test.items())
    return compare(at_least(0.0), gain, (SHORT, short), f"Held-out errors: {shown}.")


def _floor(found: Found, graph: str) -> Evidence:
    floors = found.floor[graph]
    return compare(
        at_most(0.0), single(floors["GIN"]), ("powers of A", single(floors["GA-MLP-A"])),
        "Class floors: " + "; ".join(f"{name} {v:.2g}" for name, v in floors.items()) + ".",
    )  # fmt: skip


def _table_panel(found: Found, graph: str, printed: bool) -> Panel:
    test = found.test[graph]
    names = tuple(name for name in test if name in PRINTED[graph])
    logs = [np.log10(test[name]) for name in names]
    low, high = [v.min() for v in logs], [v.max() for v in logs]
    marks: list[Mark] = [Bars(names, [v.mean() for v in logs], "measured", low=low, high=high)]
    if printed:
        y = [np.log10(PRINTED[graph][name][1]) for name in names]
        marks.append(Bars(names, y, "as printed", role="theory"))
    title = {"cora": "Cora, two steps", "regular": "Regular graph"}[graph]
    return Panel(tuple(marks), title, y_label="log10 of the held-out error")
