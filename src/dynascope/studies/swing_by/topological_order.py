"""Topological order: is a combination of concepts never learned before its parts?

001 Fig. 7, appendix B.1 and B.2; 000 Fig. 8.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import xarray as xr

from dynascope.core.charts import Chart, Graph, Line, Mark, Panel, Span
from dynascope.core.records import Headline
from dynascope.core.spec import static_field
from dynascope.dynamics import SGD, GradientDescent
from dynascope.engine import Experiment
from dynascope.engine.record import Evenly, Every
from dynascope.models import MLP, Linear, TiedLinear
from dynascope.numerics.precision import precision
from dynascope.probes import InputJacobian, LatticeLoss
from dynascope.probes.lattice import (
    OrderViolations,
    corners,
    lattice_edges,
    lattice_layout,
    order_violations,
)
from dynascope.studies.base import Study, chart, claim
from dynascope.studies.comparisons import (
    Evidence,
    at_least,
    at_most,
    average,
    between,
    compare,
    single,
)
from dynascope.studies.swing_by.drawing import loss_panel
from dynascope.tasks import IdentityMapping
from dynascope.theories import SymmetricTwoLayer

PAIR = IdentityMapping((1.0, 2.0), (0.05, 0.05))  # the weak and the strong concept of swing-by
NETWORKS = ("two-layer ReLU", "ReLU without offset", "one layer")
SHOWN_EPOCHS = (0, 2, 4)  # trained for so many: the figure's epochs 1, 3 and 5
ROUND_OFF = 1e-12  # a loss is worse only if it is worse by more than this


class Found(NamedTuple):
    """What claims and charts read."""

    runs: dict[str, xr.Dataset]
    order: dict[str, OrderViolations]  # by run; arrays are (seed, record)
    exact: np.ndarray  # losses of the start at zero in closed form, (record, corner)
    swing_theory: np.ndarray  # losses at the corners of the swing-by pair, (record, corner)


@dataclass(frozen=True)
class TopologicalOrder(Study):
    """How often, and by how much, a combination is learned better than a part of it."""

    name: ClassVar[str] = "topological-order"
    title: ClassVar[str] = "Topological order: parts before combinations, but not always"
    source: ClassVar[str] = "001 Fig. 7, appendix B.1, B.2; 000 Fig. 8"
    scales: ClassVar[dict[str, dict[str, Any]]] = {
        "smoke": {"seeds": 4, "epochs": 10},
        "laptop": {},
        "paper": {"rotated": True, "seeds": 20, "epochs": 40},
    }

    task: IdentityMapping = IdentityMapping((1.0, 2.0, 3.0, 4.0), (0.5, 0.5, 0.5, 0.5))
    dimension: int = 64
    width: int = 64
    seeds: int = 8
    epochs: int = 20
    samples_per_cluster: int = 5000
    batch_size: int = 128
    rotated: bool = False
    correlation: float = static_field(0.9)  # of the rows of U in the swing-by start

    def notes(self) -> tuple[str, ...]:
        """Where text, program and derivation differ."""
        return (
            "The caption names a two-layer ReLU network, the program trains one layer; both are "
            "run, with offsets as in the program, and ReLU without offsets too.",
            "Scales are deviations and there is no cluster at the origin, as in text and program; "
            "the loss is averaged over coordinates, as in the program.",
            "Epochs 1, 3 and 5 of the figure are networks after 0, 2 and 4 epochs of training.",
            "The text says that the order holds strictly, for every pair and at all times. That "
            "is true for one layer from zero; elsewhere the rate and the worst gap are measured.",
        )

    @property
    def epoch(self) -> int:
        """Steps of one epoch; a last, shorter batch is left out."""
        return len(self.task.means) * self.samples_per_cluster // self.batch_size

    def plan(self) -> dict[str, Experiment]:
        """Networks on four concepts, a start at zero, and the pair that swings by."""
        models = (
            MLP(2, self.width, "relu"),
            MLP(2, self.width, "relu", bias=False),
            MLP(1, 1, "linear"),
        )
        networks = {n: self._train(m) for n, m in zip(NETWORKS, models, strict=True)}
        zero = Experiment(
            self.task, Linear(0.0), GradientDescent(0.001), (LatticeLoss(),), steps=6000,
            record=Every(20), dtype="float64",
        )  # fmt: skip
        return {
            **networks,
            "from zero": zero,
            "swing-by": self._swing(self.correlation),
            "opposed": self._swing(-self.correlation),
        }

    def _train(self, model: MLP) -> Experiment:
        task = replace(
            self.task, dimension=self.dimension, reduction="mean", rotated=self.rotated,
            samples_per_cluster=self.samples_per_cluster,
        )  # fmt: skip
        return Experiment(
            task, model, SGD(0.1, self.batch_size), (LatticeLoss(),),
            steps=self.epochs * self.epoch, record=Every(self.epoch // 4),
            seeds=tuple(range(self.seeds)),
        )  # fmt: skip

    def _swing(self, correlation: float) -> Experiment:
        w = 0.01
        model = TiedLinear(2, initial_jacobian=((w, w * correlation), (w * correlation, w)))
        # True time 15 is paper time 30.
        return Experiment(
            PAIR, model, GradientDescent(0.001), (LatticeLoss(), InputJacobian()), steps=15_000,
            record=Evenly(1001), dtype="float64",
        )  # fmt: skip

    def analyse(self, runs: dict[str, xr.Dataset]) -> Found:
        """Violations of every run, and two closed forms."""
        swing = self.plan()["swing-by"]
        theory = SymmetricTwoLayer().predict(swing.task, swing.model, like=runs["swing-by"])
        error = theory["input_jacobian"].values[0] - np.eye(2)  # (record, 2, 2)
        points = corners(2) * np.array(PAIR.means)
        return Found(
            runs,
            {name: order_violations(run["lattice_loss"].values) for name, run in runs.items()},
            _from_zero(self.task, runs["from zero"]["time"].values),
            ((points @ error.transpose(0, 2, 1)) ** 2).sum(axis=-1) / 2,
        )

    def headline(self, found: Found) -> Headline:
        """Share of pairs in the wrong order, averaged over seeds."""
        order, run = found.order["two-layer ReLU"], found.runs["two-layer ReLU"]
        return Headline(
            title="Pairs of concept combinations learned in the wrong order, two-layer ReLU",
            x_label="epochs of training",
            y_label="share of 65 pairs",
            x=tuple((run["step"].values / self.epoch).tolist()),
            y=tuple(order.rate.mean(axis=0).tolist()),
            theory=None,
            note=f"average of {self.seeds} seeds; one layer from zero has none, at any time",
        )

    # --- claims --------------------------------------------------------------------------

    @claim(
        "one-layer-from-zero",
        "One layer from zero learns no combination before a part of it: no pair is out of order "
        "at any time.",
        "001 B.2; derivation",
    )
    def from_zero(self, found: Found) -> Evidence:
        """Largest number of violations over time; a random start must have some."""
        control = ("one layer from a random start", single(found.order["one layer"].count.max()))
        return compare(at_most(0), single(found.order["from zero"].count.max()), control)

    @claim(
        "closed-form",
        "From zero, the loss at a combination is the sum of mean^2 exp(-2 a t) / 2 over its "
        "concepts, within 0.5 % of the first loss.",
        "001 Theorem 4.1 at the corners of B.1",
    )
    def closed_form(self, found: Found) -> Evidence:
        """Largest gap over corners and times; a cluster at the origin in the formula must miss."""
        measured = found.runs["from zero"]["lattice_loss"].values[0]
        times = found.runs["from zero"]["time"].values
        wrong = _from_zero(replace(self.task, origin=True), times)
        gap, other = (np.abs(measured - e).max() / measured.max() for e in (found.exact, wrong))
        control = ("the formula with a cluster at the origin", single(other))
        return compare(at_most(0.005), single(gap), control)

    @claim(
        "always-in-order",
        "As printed: the two-layer ReLU network never has a pair out of order.",
        "001 B.2, Fig. 7 as captioned; 000 Fig. 8",
    )
    def always_relu(self, found: Found) -> Evidence:
        """Largest share of pairs out of order over time, averaged over seeds."""
        return self._always(found, "two-layer ReLU")

    @claim(
        "always-in-order-one-layer",
        "As printed, for one layer from a random start, as the program trains it: no pair is out "
        "of order.",
        "001 B.2; authors' program for Fig. 7",
    )
    def always_one(self, found: Found) -> Evidence:
        """Largest share of pairs out of order over time, averaged over seeds."""
        return self._always(found, "one layer")

    def _always(self, found: Found, name: str) -> Evidence:
        order = found.order[name]
        backwards = order_violations(-found.runs[name]["lattice_loss"].values)
        note = f"The worst gap is {order.gap.max():.3f}; the losses start near 15."
        control = ("the order read backwards", average(backwards.rate.max(axis=1)))
        return compare(at_most(0), average(order.rate.max(axis=1)), control, note)

    @claim(
        "in-order-at-first",
        "After the first epoch at most 5 % of the pairs are out of order, in every kind of "
        "network.",
        "001 Fig. 7, corrected",
    )
    def at_first(self, found: Found) -> Evidence:
        """Largest share over networks after one epoch; the tenth epoch must have more."""
        early, late = (np.stack([found.order[n].rate[:, 4 * e] for n in NETWORKS]) for e in (1, 10))
        control = ("after ten epochs", average(late.max(axis=0)))
        return compare(at_most(0.05), average(early.max(axis=0)), control)

    @claim(
        "mostly-in-order",
        "At the figure's epochs at least 80 % of the pairs are in order, in every kind of network.",
        "001 Fig. 7, corrected",
    )
    def mostly(self, found: Found) -> Evidence:
        """Smallest share in order; shuffled combinations must have about a half."""
        records = [4 * e for e in SHOWN_EPOCHS]
        rng = np.random.default_rng(0)
        shares, shuffled = [], []
        for name in NETWORKS:
            losses = found.runs[name]["lattice_loss"].values[:, records]
            shares.append(1 - order_violations(losses).rate.max(axis=1))
            mixed = rng.permuted(losses, axis=-1)
            shuffled.append(1 - order_violations(mixed).rate.max(axis=1))
        control = ("combinations shuffled", average(np.min(shuffled, axis=0)))
        return compare(at_least(0.8), average(np.min(shares, axis=0)), control)

    @claim(
        "gaps-are-small",
        "Where the order is broken in these networks, a part is worse than the combination by at "
        "most 4 % of the first loss.",
        "001 B.2, corrected",
    )
    def small_gaps(self, found: Found) -> Evidence:
        """Largest gap over networks, relative to the first loss; swing-by must break it further."""

        def gap(name: str) -> np.ndarray:
            first = found.runs[name]["lattice_loss"].values[:, 0, -1]
            return found.order[name].gap.max(axis=1) / first

        worst = np.max([gap(n) for n in NETWORKS], axis=0)
        return compare(at_most(0.04), average(worst), ("swing-by", single(gap("swing-by")[0])))

    @claim(
        "swing-by-breaks-the-order",
        "During swing-by the order must fail: the weak concept alone is worse than both together "
        "for 30 to 45 % of the time until paper time 30.",
        "001 B.2 against section 4.2",
    )
    def swing_by_breaks(self, found: Found) -> Evidence:
        """Share of records out of order; a start with opposed rows must keep it."""
        broken, kept = (single(_weak_worse(found.runs[n]).mean()) for n in ("swing-by", "opposed"))
        note = f"The gap reaches {found.order['swing-by'].gap.max():.3f}."
        control = (f"rows correlated at {-self.correlation}", kept)
        return compare(between(0.3, 0.45), broken, control, note)

    # --- charts --------------------------------------------------------------------------

    @chart
    def hasse(self, found: Found) -> Chart:
        """Fig. 7: the lattice at three epochs, coloured by min(loss, 1)."""
        losses = found.runs["two-layer ReLU"]["lattice_loss"].values[0]
        names = tuple("".join(map(str, c)) for c in corners(4))
        edges = tuple((int(a), int(b)) for a, b in lattice_edges(4))
        x, y = lattice_layout(4).T
        panels = []
        for epoch in SHOWN_EPOCHS:
            values = np.minimum(losses[4 * epoch], 1.0)
            broken = int(found.order["two-layer ReLU"].count[0, 4 * epoch])
            panels.append(
                Panel(
                    (Graph(x, y, values, names, edges, "min(loss, 1)"),),
                    f"Epoch {epoch + 1}: {broken} of 65 pairs out of order",
                    "number of concepts",
                )
            )
        return Chart(
            "lattice",
            "Combinations of concepts, from none to all four",
            "Each node is a combination, named by the concepts it has, joined to those with one "
            "concept more; two-layer ReLU network, seed 0. Learning spreads from the left, from "
            "strong concepts (the last digits) first; a few pairs are out of order.",
            tuple(panels),
        )

    @chart
    def violations(self, found: Found) -> Chart:
        """Share of pairs out of order and worst gap over time, all kinds of networks."""
        rates: list[Mark] = []
        gaps: list[Mark] = []
        for group, name in enumerate(NETWORKS):
            epochs = found.runs[name]["step"].values / self.epoch
            for marks, values in ((rates, found.order[name].rate), (gaps, found.order[name].gap)):
                low, high = values.min(axis=0), values.max(axis=0)
                marks.append(Line(epochs, values.mean(axis=0), name, "measured", group, low, high))
        zero = Line((0.0, float(self.epochs)), (0.0, 0.0), "one layer from zero", "theory")
        return Chart(
            "violations",
            "In order at first, out of order later",
            "Average and range over seeds. Every network starts in order and breaks it within a "
            "few epochs; the gaps stay small beside the first loss of about 15. One layer from "
            "zero never breaks it.",
            (
                Panel((*rates, zero), "Pairs out of order", "epochs of training", "share"),
                Panel((*gaps, zero), "Worst gap", "epochs of training", "loss of part - of whole"),
            ),
        )

    @chart
    def swing_chart(self, found: Found) -> Chart:
        """The pair that swings by: the weak concept alone is worse than both together."""
        run = found.runs["swing-by"]
        early = 2 * run["time"].values <= 15
        times, losses = 2 * run["time"].values[early], run["lattice_loss"].values[0, early]
        marks: list[Mark] = []
        for group, (corner, label) in enumerate((
            (2, "weak alone"),
            (1, "strong alone"),
            (3, "both"),
        )):
            marks.append(Line(times[::3], losses[::3, corner], label, group=group))
            theory = "theory" if corner == 3 else ""
            marks.append(
                Line(times[::3], found.swing_theory[early][::3, corner], theory, "theory", group)
            )
        worse = 2 * run["time"].values[_weak_worse(run)]
        marks.append(Span(float(worse[0]), float(worse[-1]), "weak alone is worse"))
        panel = loss_panel(marks, "Swing-by")
        zero = self._zero_panel(found)
        return Chart(
            "swing-by-and-zero",
            "Swing-by breaks the order, a start at zero keeps it",
            "Left, in paper time: once both together have been learned for a moment, the weak "
            "concept alone is still unlearned and stays worse. Right: from zero, the loss of a "
            "combination is the sum of those of its parts, so that the order is kept.",
            (replace(panel, x_label="paper time"), zero),
        )

    def _zero_panel(self, found: Found) -> Panel:
        run = found.runs["from zero"]
        early = run["time"].values <= 2
        times, losses = run["time"].values[early], run["lattice_loss"].values[0, early]
        marks: list[Mark] = []
        for group, bits in enumerate(("0001", "0010", "0100", "1000", "1111")):
            corner = int(bits, 2)
            marks.append(Line(times, losses[:, corner], bits, group=group))
            theory = "closed form" if group == 4 else ""
            marks.append(Line(times, found.exact[early, corner], theory, "theory", group))
        return replace(loss_panel(marks, "One layer from zero", "loss"), y_scale="log")


def _from_zero(task: IdentityMapping, times: np.ndarray) -> np.ndarray:
    """Losses at all corners from zero: sum over concepts of mean^2 exp(-2 a t) / 2."""
    with precision("float64"):
        signal = np.asarray(task.moments(), float)
    each = np.square(task.means) / 2 * np.exp(-2 * np.multiply.outer(times, signal))
    return each @ corners(len(task.means)).T


def _weak_worse(run: xr.Dataset) -> np.ndarray:
    """At which records the weak concept alone has a larger loss than both together."""
    losses = run["lattice_loss"].sel(corner=["10", "11"]).values[0]
    return losses[:, 0] > losses[:, 1] + ROUND_OFF
