"""Sixteen ReLU neurons that copy sixteen: past the edge of stability they go to the flattest copy.

002 section 3.7.1, Fig. 3.5, Observation 3. A copy has w_i = k_i e_i and v_i = 1 / k_i; its ratio
|w_i| / v_i is k_i^2.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

import jax
import numpy as np
import xarray as xr

from dynascope.core.charts import Chart, Line, Mark, Panel, Reference, Scale
from dynascope.core.errors import bad
from dynascope.core.randomness import key_for
from dynascope.core.records import Headline
from dynascope.dynamics import GradientDescent, Piecewise
from dynascope.engine import Experiment
from dynascope.engine.record import Every
from dynascope.models import Neurons
from dynascope.probes import Loss, NeuronWeights, Sharpness
from dynascope.studies.base import Study, chart, claim
from dynascope.studies.comparisons import (
    Evidence,
    at_least,
    at_most,
    average,
    between,
    compare,
    near,
    single,
)
from dynascope.studies.oscillation.neuron_runs import copy_sharpness_on
from dynascope.tasks import TeacherStudent
from dynascope.theories.neuron_balance import copy_sharpness, flattest_copy

NEURONS = 16
SMALL, BELOW, LARGE = "0.5", "2.3", "2.6"  # learning rates; the last drops to 0.5 at DROP
RATES = {SMALL: (0.5, 0.5), BELOW: (2.3, 2.3), LARGE: (2.6, 0.5)}
DROP, END = 100, 120
START_RATIOS = (1 + 0.0625 * np.arange(NEURONS)) ** 2
SCAN = np.linspace(1.0, 1.6, 31)  # ratios at which the sharpness of a copy is looked at


class Found(NamedTuple):
    """What claims and charts read; arrays by rate, (seeds, places, ...)."""

    steps: np.ndarray  # (places,)
    losses: dict[str, np.ndarray]
    sharpness: dict[str, np.ndarray]
    ratios: dict[str, np.ndarray]  # (seeds, places, neurons)
    copies: np.ndarray  # (seeds, SCAN) sharpness of copies on each seed's points

    def at(self, values: np.ndarray, step: int) -> np.ndarray:
        """The values at a step, (seeds, ...)."""
        return values[:, np.flatnonzero(self.steps == step)[0]]


@dataclass(frozen=True)
class NeuronBalance(Study):
    """Two learning rates from one sharp start, and the sharpness of every copy."""

    name: ClassVar[str] = "neuron-balance"
    title: ClassVar[str] = "Past the edge of stability sixteen neurons find their flattest copy"
    source: ClassVar[str] = "002 Fig. 3.5, Obs. 3"
    scales: ClassVar[dict[str, dict[str, Any]]] = {
        "smoke": {"seeds": 3, "every": 20},
        "laptop": {},
        "paper": {"seeds": 32, "every": 1},
    }

    points: int = 10_000
    seeds: int = 8
    every: int = 2  # steps between two looks; a divisor of 20

    def check(self) -> None:
        """Raise where the steps that claims read would not be recorded."""
        if self.every < 1 or (END - DROP) % self.every:
            raise bad("every", self.every, f"a divisor of {END - DROP}")

    def plan(self) -> dict[str, Experiment]:
        """The same start at three learning rates, the largest one lowered in the end."""
        start = [(1 / k, *(k * row)) for k, row in zip(START_RATIOS**0.5, np.eye(NEURONS))]
        rates = tuple(RATES.values())
        experiment = Experiment(
            TeacherStudent(NEURONS, NEURONS, self.points),
            Neurons(start=tuple(start), noise=0.01),
            GradientDescent(Piecewise(rates=rates[0], starts=(0, DROP))),
            (Loss(), Sharpness(), NeuronWeights()),
            steps=END,
            record=Every(self.every),
            seeds=tuple(range(self.seeds)),
            over=(("dynamics.learning_rate.rates", rates),),
        )
        return {"rates": experiment}

    def notes(self) -> tuple[str, ...]:
        """What the document does not say, and what was derived."""
        return (
            "In (3.15) the sum runs over all points, not over 16.",
            "The flattest copy of the population has a closed form: k^2 = 1.2023, edge of "
            "stability at the learning rate 2.496; the printed 1.21 is that of the points drawn.",
            "On the orbit the ratios lie above and below the flattest one in turn, so their common "
            "value is read after the rate was lowered.",
        )

    def analyse(self, runs: dict[str, xr.Dataset]) -> Found:
        """Ratios from weights, and the sharpness of copies on every seed's points."""
        run = runs["rates"].transpose("dynamics.learning_rate.rates", "seed", "step", ...)
        weights = run["neuron_weights"].values
        ratios = np.linalg.norm(weights[..., 1:], axis=-1) / weights[..., 0]
        draw = jax.jit(TeacherStudent(NEURONS, NEURONS, self.points).samples)
        points = [np.asarray(draw(key_for(int(s), "data"))[0], float) for s in run["seed"].values]
        copies = np.array([copy_sharpness_on(x, SCAN) for x in points])
        by_rate = [
            dict(zip(RATES, values, strict=True))
            for values in (run["loss"].values, run["sharpness"].values, ratios)
        ]
        return Found(run["step"].values, by_rate[0], by_rate[1], by_rate[2], copies)

    def headline(self, found: Found) -> Headline:
        """Sharpness at the large rate, beside the least that a copy can have."""
        least = flattest_copy(NEURONS).sharpness
        return Headline(
            title="Sharpness at learning rate 2.6, lowered to 0.5 at step 100",
            x_label="step",
            y_label="sharpness",
            x=tuple(found.steps.astype(float).tolist()),
            y=tuple(found.sharpness[LARGE][0].tolist()),
            theory=(least,) * len(found.steps),
            note="theory: the flattest copy, in the population",
        )

    # --- claims --------------------------------------------------------------------------

    @claim(
        "flattest",
        "The flattest copy has |w| / v = 1.21.",
        "002 Fig. 3.5 (e, f)",
    )
    def flattest(self, found: Found) -> Evidence:
        """The ratio of least sharpness on the points; the population's is in the note."""
        ratios = SCAN[found.copies.argmin(axis=1)]
        closed, two = (flattest_copy(n) for n in (NEURONS, 2))
        return compare(
            between(1.17, 1.24), average(ratios),
            ("two neurons, in the population", single(two.ratio)),
            f"In the population it is {closed.ratio:.4f}.",
        )  # fmt: skip

    @claim(
        "edge",
        "No copy is stable beyond a learning rate of about 2.5.",
        "002 section 3.7.1",
    )
    def edge(self, found: Found) -> Evidence:
        """2 over the least sharpness, on the points; and at the ratio 1.6."""
        limits, far = 2 / found.copies.min(axis=1), 2 / found.copies[:, -1]
        closed = flattest_copy(NEURONS)
        return compare(
            between(2.42, 2.56), average(limits), ("copies of ratio 1.6", average(far)),
            f"In the population it is {closed.stability_limit:.4f}.",
        )  # fmt: skip

    @claim(
        "population",
        "The population's formula for the sharpness of a copy is met by the points.",
        "derived for 002 Fig. 3.5 (e)",
    )
    def population(self, found: Found) -> Evidence:
        """Largest relative difference over the ratios, and for 12 neurons."""
        right, fewer = (
            np.abs(found.copies.mean(axis=0) / copy_sharpness(SCAN, n) - 1).max()
            for n in (NEURONS, 12)
        )
        return compare(at_most(0.02), single(right), ("the formula of 12", single(fewer)))

    @claim(
        "small-rate",
        "At learning rate 0.5 every neuron keeps its ratio.",
        "002 Fig. 3.5 (c)",
    )
    def small_rate(self, found: Found) -> Evidence:
        """Largest relative change of a ratio after 100 steps."""
        small, large = (
            np.abs(found.at(found.ratios[r], DROP) / START_RATIOS - 1).max(axis=1)
            for r in (SMALL, LARGE)
        )
        return compare(at_most(0.1), average(small), ("learning rate 2.6", average(large)))

    @claim(
        "equal-ratios",
        "At learning rate 2.6 all neurons come to the same ratio.",
        "002 Fig. 3.5 (d)",
    )
    def equal_ratios(self, found: Found) -> Evidence:
        """Largest less smallest ratio after 100 steps."""
        large, small = (_spread(found, r) for r in (LARGE, SMALL))
        return compare(at_most(0.15), average(large), ("learning rate 0.5", average(small)))

    @claim(
        "below-the-edge",
        "Below the edge, at 2.3, they do not.",
        "derived; the other side of 002 Fig. 3.5 (d)",
    )
    def below_the_edge(self, found: Found) -> Evidence:
        """Largest less smallest ratio after 100 steps."""
        below, large = (_spread(found, r) for r in (BELOW, LARGE))
        return compare(at_least(0.5), average(below), ("learning rate 2.6", average(large)))

    @claim(
        "the-flattest-ratio",
        "That ratio is the one of the flattest copy, about 1.21.",
        "002 Fig. 3.5 (d)",
    )
    def the_flattest_ratio(self, found: Found) -> Evidence:
        """Mean ratio after the rate was lowered, when nothing oscillates any more."""
        large, small = (found.at(found.ratios[r], END).mean(axis=1) for r in (LARGE, SMALL))
        return compare(near(1.21, 0.05), average(large), ("learning rate 0.5", average(small)))

    @claim(
        "flatter",
        "Lowered to 0.5, the large rate ends at a flatter minimiser than the small one.",
        "002 Fig. 3.5 (b), Obs. 3",
    )
    def flatter(self, found: Found) -> Evidence:
        """Sharpness in the end."""
        large, small = (found.at(found.sharpness[r], END) for r in (LARGE, SMALL))
        return compare(at_most(0.85), average(large), ("learning rate 0.5", average(small)))

    @claim(
        "converges",
        "There it converges.",
        "002 Fig. 3.5 (a)",
    )
    def converges(self, found: Found) -> Evidence:
        """Loss in the end, and before the rate was lowered."""
        last, before = (found.at(found.losses[LARGE], step) for step in (END, DROP))
        return compare(at_most(1e-3), average(last), ("at step 100", average(before)))

    # --- charts --------------------------------------------------------------------------

    @chart
    def descents(self, found: Found) -> Chart:
        """Fig. 3.5 (a) and (b)."""
        views: tuple[tuple[str, dict[str, np.ndarray], Scale], ...] = (
            ("loss", found.losses, "log"), ("sharpness", found.sharpness, "linear"),
        )  # fmt: skip
        panels = []
        for name, values, scale in views:
            marks: list[Mark] = [
                Line(found.steps, values[r][0], f"rate {r}", group=k)
                for k, r in enumerate((SMALL, LARGE))
            ]
            if name == "sharpness":
                marks += [Reference("y", 2 / 2.6, "2 / 2.6")]
            marks.append(Reference("x", DROP, "2.6 to 0.5"))
            panels.append(Panel(tuple(marks), name, "step", name, "linear", scale))
        return Chart(
            "descents", "The large rate leaves the sharp start and settles in a flat valley",
            "At 2.6 the loss stays high while the neurons oscillate; once the rate is lowered it "
            "falls, at a sharpness that 0.5 alone never reaches. One phase of the orbit is drawn.",
            tuple(panels),
        )  # fmt: skip

    @chart
    def ratios(self, found: Found) -> Chart:
        """Fig. 3.5 (c) and (d)."""
        panel = partial(_ratio_panel, found)
        return Chart(
            "ratios", "Only past the edge do all neurons come to one ratio",
            "Dashed: the flattest copy of the population, 1.2023.",
            (panel(SMALL), panel(BELOW), panel(LARGE)),
        )  # fmt: skip

    @chart
    def copies(self, found: Found) -> Chart:
        """Fig. 3.5 (e) and (f)."""
        closed = flattest_copy(NEURONS)
        marks = (
            Line(SCAN, found.copies.mean(axis=0), f"on {self.points:,} points"),
            Line(SCAN, copy_sharpness(SCAN, NEURONS), "population", "theory"),
            Reference("x", closed.ratio, f"flattest: {closed.ratio:.4f}"),
        )
        return Chart(
            "copies", "Sharpness of a copy, by the ratio of its neurons",
            f"The least, {closed.sharpness:.4f}, sets the edge at the rate "
            f"{closed.stability_limit:.3f}.",
            (Panel(marks, "", "|w_i| / v_i of all neurons", "sharpness"),),
        )  # fmt: skip


def _spread(found: Found, rate: str) -> np.ndarray:
    return np.ptp(found.at(found.ratios[rate], DROP), axis=1)


def _ratio_panel(found: Found, rate: str) -> Panel:
    marks: list[Mark] = [
        Line(found.steps, found.ratios[rate][0, :, i], "one neuron each" if i == 0 else "", group=0)
        for i in range(NEURONS)
    ]
    best = flattest_copy(NEURONS).ratio
    marks.append(Line((0, END), (best, best), "flattest copy", "theory"))
    return Panel(tuple(marks), f"learning rate {rate}", "step", "|w_i| / v_i", "linear", "log")
