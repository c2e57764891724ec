"""Networks of 3 to 5 layers past the edge of stability: is one dimension enough to explain them?

002 section 3.7.2, Figs. 3.6 to 3.8, Observation 4. On zeros and ones of MNIST where that is
there; on blobs of the same size always.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np
import xarray as xr

from dynascope.core.charts import Chart
from dynascope.core.errors import bad
from dynascope.core.records import Headline, Measured
from dynascope.data import absence, there
from dynascope.dynamics import GradientDescent, Piecewise
from dynascope.engine import Experiment
from dynascope.engine.record import Evenly
from dynascope.models import MLP
from dynascope.probes import EdgeOfStability, Loss, line_jet
from dynascope.studies.base import Study, claim
from dynascope.studies.comparisons import (
    Bound,
    Evidence,
    at_least,
    at_most,
    average,
    between,
    compare,
    not_applicable,
    single,
)
from dynascope.studies.oscillation.edge_runs import (
    NAMES,
    Trace,
    layers_chart,
    shares_chart,
    shown_seed,
    task_of,
    trace,
)

RATES = {3: 0.5, 4: 0.4, 5: 0.35}  # of Figs. 3.6, 3.7, 3.8
SMALL = 0.1  # the other rate of Fig. 3.6
STEPS, LOWERED = 60, 360  # epochs of the figures; and of the run whose rate drops after them

Found = dict[str, dict[str, Trace]]  # by data, then by case: "3", "4", "5", "small", "lowered"


def _claims(slug: str, words: str, source: str) -> Callable[[Callable], tuple[Callable, Callable]]:
    """The same claim on blobs and on MNIST, from one function of a data set's traces."""

    def make(judge: Callable[[dict[str, Trace]], Evidence]) -> tuple[Callable, Callable]:
        def on(data: str, origin: str) -> Callable:
            def method(self: MnistEdge, found: Found) -> Evidence:
                if data == "mnist" and not there(data):
                    return not_applicable(absence(data))
                if data in found and (_deeper(found[data]) or not slug.endswith("deeper")):
                    return judge(found[data])
                kept = f"depths={self.depths}, pictures={self.pictures}"
                return not_applicable(f"left out at this scale, {kept}")

            return claim(f"{data}-{slug}", f"On {NAMES[data]}: {words}", origin)(method)

        return on("blobs", f"the same as {source}"), on("mnist", source)

    return make


def _averaged(
    bound: Bound, values: np.ndarray, control: tuple[str, Measured], note: str = ""
) -> Evidence:
    """Average over seeds against a control; undecided where no seed is left."""
    measured = average(values) if len(values) else Measured(None, None, 0)
    return compare(bound, measured, control, note)


@_claims("edge", "three layers at rate 0.5 settle with a sharpness within 15% of 2 / rate.",
         "002 Fig. 3.6 (b)")  # fmt: skip
def _edge(cases: dict[str, Trace]) -> Evidence:
    listed = ", ".join(f"{r:.2f}" for r in cases["3"].settled(cases["3"].ratio))
    return _hover(cases, [cases["3"]], f"By seed, dead ones too: {listed}.")


@_claims("edge-deeper", "four and five layers do so at rates 0.4 and 0.35.",
         "002 Figs. 3.7, 3.8 (b)")  # fmt: skip
def _edge_deeper(cases: dict[str, Trace]) -> Evidence:
    return _hover(cases, _deeper(cases))


def _hover(cases: dict[str, Trace], traces: list[Trace], note: str = "") -> Evidence:
    """Settled sharpness over 2 / rate, of the networks that are not dead."""
    ratios = np.concatenate([t.settled(t.ratio)[t.alive] for t in traces])
    small = cases["small"].settled(cases["small"].ratio)
    words = "three layers, rate 0.1"
    return _averaged(between(0.85, 1.15), ratios, (words, average(small)), note)


@_claims("aligned", "past the edge the gradient of three layers lies along the top eigenvector.",
         "002 Fig. 3.6 (c)")  # fmt: skip
def _aligned(cases: dict[str, Trace]) -> Evidence:
    return _alignment(cases, [cases["3"]])


@_claims("aligned-deeper", "past the edge so does that of four and five layers.",
         "002 Figs. 3.7, 3.8 (c)")  # fmt: skip
def _aligned_deeper(cases: dict[str, Trace]) -> Evidence:
    return _alignment(cases, _deeper(cases))


def _alignment(cases: dict[str, Trace], traces: list[Trace]) -> Evidence:
    """Mean cosine over settled steps past the edge; before it, at the small rate, it is 0."""
    cosines = np.concatenate([t.past(t.edge.alignment) for t in traces])
    small = cases["small"].settled(cases["small"].edge.alignment)
    return _averaged(
        at_least(0.9), cosines, ("rate 0.1, before the edge", average(small)),
        f"{len(cosines)} seeds have settled steps past the edge.",
    )  # fmt: skip


@_claims("condition", "past the edge 3 f3^2 - f2 f4 > 0 at the bottom of three layers' valley.",
         "002 Fig. 3.6 (d)")  # fmt: skip
def _condition(cases: dict[str, Trace]) -> Evidence:
    return _positive([cases["3"]])


@_claims("condition-deeper", "past the edge so it is for four and five layers.",
         "002 Figs. 3.7, 3.8 (d)")  # fmt: skip
def _condition_deeper(cases: dict[str, Trace]) -> Evidence:
    return _positive(_deeper(cases))


def _positive(traces: list[Trace]) -> Evidence:
    """Share of settled steps past the edge with a positive value, by exact jets."""
    shares = np.concatenate([t.past((t.edge.criticality > 0).astype(float)) for t in traces])
    stiff = line_jet(lambda x: x[0] ** 2 + x[0] ** 4, jnp.array([0.5]), 0.9).criticality
    return _averaged(
        at_least(0.95), shares, ("x^2 + x^4, which lets nothing settle", single(float(stiff > 0))),
        "Exact fourth-order jets at fixed signs of the ReLU inputs, at the lowest place of the "
        "step (Def. 5). Methods that difference across kinks give other signs.",
    )  # fmt: skip


@_claims("flatter", "the larger rate ends flatter: the small one is at least 1.5 times as sharp.",
         "002 Fig. 3.6 (b)")  # fmt: skip
def _flatter(cases: dict[str, Trace]) -> Evidence:
    small, large = (cases[c].edge.sharpness for c in ("small", "3"))
    late = cases["3"].settled(small) / cases["3"].settled(large)
    words = "before the first step, where both are one network"
    return _averaged(
        at_least(1.5), late[cases["3"].alive], (words, average(small[:, 0] / large[:, 0]))
    )


@_claims("lowered", "lowered to 0.1 at step 60, the sharpness rises to 2 / rate within 300 steps.",
         "002 section 3.3, after Cohen et al.")  # fmt: skip
def _lowered(cases: dict[str, Trace]) -> Evidence:
    last, small = (cases[c].ratio[:, -1] for c in ("lowered", "small"))
    last = last[cases["lowered"].alive]
    return _averaged(
        between(0.85, 1.15), last, ("rate 0.1 from the start, at step 60", average(small)),
        "Two classes are nearly fitted by then; nothing is left that sharpens.",
    )  # fmt: skip


@_claims("kept-flat", "lowered to 0.1 at step 60, it stays flatter than with 0.1 from the start.",
         "002 Obs. 3")  # fmt: skip
def _kept_flat(cases: dict[str, Trace]) -> Evidence:
    lowered, small = (cases[c].edge.sharpness for c in ("lowered", "small"))
    ends = lowered[:, -1] / small[:, -1]
    words = "before the first step, where both are one network"
    first = average(lowered[:, 0] / small[:, 0])
    return _averaged(at_most(0.8), ends[cases["lowered"].alive], (words, first))


@dataclass(frozen=True)
class MnistEdge(Study):
    """Sharpness, alignment and the one-dimensional condition along training, for three depths."""

    name: ClassVar[str] = "mnist-edge"
    title: ClassVar[str] = (
        "Deep networks at the edge: the gradient aligns, the valley need not hold"
    )
    source: ClassVar[str] = "002 Figs. 3.6, 3.7, 3.8, Obs. 4"
    scales: ClassVar[dict[str, dict[str, Any]]] = {
        "smoke": {"depths": (3,), "seeds": 12, "looks": 13, "count": 400, "pictures": False},
        "laptop": {},
        "paper": {"seeds": 64},
    }

    depths: tuple[int, ...] = (3, 4, 5)
    count: int = 2000
    seeds: int = 16
    looks: int = 61  # all steps: every second one would show one phase of an oscillation
    pictures: bool = True  # MNIST, or the built-in digits for looking where it is not there

    def check(self) -> None:
        """Raise for depths without a learning rate."""
        if 3 not in self.depths or not set(self.depths) <= set(RATES):
            raise bad("depths", self.depths, "3, and 4 or 5 beside it")

    def plan(self) -> dict[str, Experiment]:
        """Every depth at its rate, three layers at a small one and at a lowered one."""
        plan = {}
        for data in self._sources():
            for depth in self.depths if data != "digits" else (3,):
                plan[f"{data}, {depth} layers"] = self._experiment(data, depth, RATES[depth])
            plan[f"{data}, small rate"] = self._experiment(data, 3, SMALL)
            plan[f"{data}, lowered rate"] = self._experiment(data, 3, RATES[3], SMALL)
        return plan

    def _sources(self) -> tuple[str, ...]:
        pictures = "mnist" if there("mnist") else "digits"
        return ("blobs", pictures) if self.pictures else ("blobs",)

    def _experiment(
        self, data: str, depth: int, rate: float, later: float | None = None
    ) -> Experiment:
        rates = (rate, rate if later is None else later)
        return Experiment(
            task_of(data, self.count),
            MLP(depth, 16, "relu"),
            GradientDescent(Piecewise(rates, (0, STEPS))),
            (Loss(), EdgeOfStability(rates[1])),
            steps=STEPS if later is None else LOWERED,
            record=Evenly(self.looks),
            seeds=tuple(range(self.seeds)),
        )

    def notes(self) -> tuple[str, ...]:
        """What the document does not say."""
        return (
            "Not given: the scale of the inputs, how labels are written, the start, and which "
            "images. Ours: pixels from 0 to 1, labels 0 and 1, PyTorch's default start, the first "
            "2,000 zeros and ones, the 79 pixels that vary most. Labels -1 and 1 make three "
            "layers diverge or die at rate 0.5.",
            "Past the edge means a sharpness above 2 / rate; settled means from step 40 on. Some "
            "seeds jump to a flat place early and never come back to the edge; those that "
            "die (their output is constant) are left out of what is said of the sharpness.",
            "The condition is a measurement: derivatives hold at fixed signs of the ReLU inputs.",
            "More seeds do not decide everything, since some averages lie on their bounds. With 64 "
            "(--seeds 64): sharpness over 2 / rate 1.153 +- .020 on blobs and 1.159 +- .018 on "
            "MNIST against 1.15; alignment of three layers .872 +- .012 and .841 +- .016 (fails), "
            "of deeper ones .921 +- .018 on MNIST against .9 (.984 +- .004 on blobs); the "
            "condition in deeper ones .913 +- .029 and .965 +- .014 against .95.",
        )

    def analyse(self, runs: dict[str, xr.Dataset]) -> Found:
        """The traces by data and case."""
        found: Found = {}
        for label, run in runs.items():
            data, words = label.split(", ")
            case = words.split()[0]
            rate = RATES[int(case)] if case.isdigit() else SMALL
            found.setdefault(data, {})[case] = trace(run, rate)
        return found

    def headline(self, found: Found) -> Headline:
        """Sharpness of three layers, the seed that is longest past the edge."""
        case = found[self._shown(found)]["3"]
        seed = shown_seed(case)
        return Headline(
            title=f"Sharpness of three layers at rate 0.5, {NAMES[self._shown(found)]}",
            x_label="step",
            y_label="sharpness",
            x=tuple(case.steps.astype(float).tolist()),
            y=tuple(case.edge.sharpness[seed].tolist()),
            theory=(2 / case.rate,) * len(case.steps),
            note="theory: 2 / rate",
        )

    def _shown(self, found: Found) -> str:
        return "mnist" if "mnist" in found else "blobs"

    blobs_edge, mnist_edge = _edge
    blobs_edge_deeper, mnist_edge_deeper = _edge_deeper
    blobs_aligned, mnist_aligned = _aligned
    blobs_aligned_deeper, mnist_aligned_deeper = _aligned_deeper
    blobs_condition, mnist_condition = _condition
    blobs_condition_deeper, mnist_condition_deeper = _condition_deeper
    blobs_flatter, mnist_flatter = _flatter
    blobs_lowered, mnist_lowered = _lowered
    blobs_kept_flat, mnist_kept_flat = _kept_flat

    def draw(self, found: Found) -> list[Chart]:
        """One chart for each network that was trained, and one for the condition."""
        charts: list[Chart] = []
        shares: dict[str, float] = {}
        for data, cases in found.items():
            for case in (c for c in cases if c.isdigit()):
                small = cases["small"] if case == "3" else None
                charts.append(layers_chart(data, int(case), cases[case], small))
                positive = cases[case].past((cases[case].edge.criticality > 0).astype(float))
                if len(positive):  # some seed was past the edge
                    shares[f"{data}, {case}"] = float(positive.mean())
        return [*charts, shares_chart(shares)]


def _deeper(cases: dict[str, Trace]) -> list[Trace]:
    return [cases[c] for c in ("4", "5") if c in cases]
