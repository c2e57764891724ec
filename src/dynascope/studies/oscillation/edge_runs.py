"""Networks at the edge of stability: what a run shows, seed by seed, and how it is drawn."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import xarray as xr

from dynascope.core.charts import Bars, Chart, Line, Mark, Panel, Reference
from dynascope.probes.edge import Edge
from dynascope.tasks import Blobs, Task, TwoClasses

SETTLED = 40  # first step of the settled oscillation
NAMES = {
    "blobs": "two blobs in 79 dimensions",
    "mnist": "zeros and ones of MNIST",
    "digits": "zeros and ones of the built-in 8 x 8 digits, for looking only",
}


class Trace(NamedTuple):
    """One case, all seeds."""

    rate: float  # the learning rate in the end, whose edge is 2 over it
    steps: np.ndarray  # (places,)
    losses: np.ndarray  # (seeds, places)
    edge: Edge  # of arrays (seeds, places)

    @property
    def alive(self) -> np.ndarray:
        """Seeds that learned something: a constant output has a loss of 0.25, (seeds,)."""
        return self.losses[:, -1] < 0.2

    @property
    def ratio(self) -> np.ndarray:
        """Sharpness over 2 / rate, (seeds, places)."""
        return self.edge.sharpness * self.rate / 2

    def settled(self, values: np.ndarray) -> np.ndarray:
        """Mean over the settled steps of every seed, (seeds,)."""
        return values[:, self.steps >= SETTLED].mean(axis=1)

    def past(self, values: np.ndarray) -> np.ndarray:
        """Mean over settled steps past the edge, of the seeds that have such, (<= seeds,)."""
        chosen = (self.steps >= SETTLED) & (self.ratio > 1)
        return np.array([v[own].mean() for v, own in zip(values, chosen, strict=True) if own.any()])


def trace(run: xr.Dataset, rate: float) -> Trace:
    """The case of a run."""
    parts = np.moveaxis(run["edge_of_stability"].values.astype(float), -1, 0)
    return Trace(rate, run["step"].values, run["loss"].values, Edge(*parts))


def task_of(data: str, count: int) -> Task:
    """Two classes with targets 0 and 1 from 79 inputs, or from all 64 of the digits."""
    if data == "blobs":
        return Blobs(count)
    if data == "digits":
        return TwoClasses("digits", (0, 1), train=None, targets=(0.0, 1.0))
    return TwoClasses(
        "mnist", (0, 1), train=count, test=1, most_varying=79, subset_seed=None, targets=(0.0, 1.0)
    )


def shown_seed(seen: Trace) -> int:
    """The seed with most settled steps past the edge; of several the one closest to it."""
    past = seen.settled((seen.ratio > 1).astype(float))
    far = np.abs(seen.settled(seen.ratio) - 1)
    return int(np.lexsort((far, -past))[0])  # NaN sorts last


def balance_of_terms(edge: Edge) -> np.ndarray:
    """The condition's sign and weight: 3 f3^2 - f2 f4 over 3 f3^2 + |f2 f4|, from -1 to 1."""
    product = edge.second * edge.fourth
    total = 3 * edge.third**2 + np.abs(product)
    return edge.criticality / np.where(total > 0, total, np.nan)  # a dead network has no valley


def layers_chart(data: str, depth: int, large: Trace, small: Trace | None) -> Chart:
    """Figs. 3.6 to 3.8: loss, sharpness, alignment and condition of one seed."""
    seed = shown_seed(large)
    cases = [large, *([small] if small else [])]
    past = np.where(large.ratio[seed] > 1, 1.0, np.nan)

    def by_rate(values: list[np.ndarray]) -> list[Mark]:
        named = zip(cases, values, strict=True)
        return [
            Line(t.steps, v[seed], f"rate {t.rate:g}", group=k) for k, (t, v) in enumerate(named)
        ]

    def parts(values: np.ndarray) -> list[Mark]:
        return [
            Line(large.steps, values[seed], "before the edge", "control"),
            Line(large.steps, values[seed] * past, "past the edge", group=0),
        ]

    edge = Reference("y", 2 / large.rate, f"2 / {large.rate:g}")
    losses, sharpness = (by_rate([t.losses for t in cases]),
                         by_rate([t.edge.sharpness for t in cases]))  # fmt: skip
    panels = (
        Panel(tuple(losses), "loss", "step", "loss", "linear", "log"),
        Panel((*sharpness, edge), "sharpness", "step", "sharpness", "linear", "log"),
        Panel(
            tuple(parts(large.edge.alignment)),
            f"|cos(gradient, top eigenvector)|, rate {large.rate:g}", "step", "",
        ),
        Panel(
            (*parts(balance_of_terms(large.edge)), Reference("y", 0.0)),
            "condition in the valley, from -1 to 1", "step", "(3f3² - f2f4) / (3f3² + |f2f4|)",
        ),
    )  # fmt: skip
    return Chart(
        f"{data}-{depth}-layers",
        f"{depth} layers on {NAMES[data]}",
        f"Seed {seed}, the longest past the edge. Above 0 the condition of Theorem 3.1 holds at "
        "the lowest place of the step.",
        panels,
    )


def shares_chart(shares: dict[str, float]) -> Chart:
    """How often the condition holds past the edge, by data and depth."""
    bars = Bars(tuple(shares), tuple(shares.values()), "settled steps past the edge")
    return Chart(
        "conditions", "How often the one-dimensional condition holds in the valley",
        "Exact derivatives at fixed signs of the ReLU inputs, mean over seeds. What is missing to "
        "1 are steps past the edge that stay bounded although the condition is not met.",
        (Panel((bars, Reference("y", 1.0, "the document")), "", "", "share of steps"),),
    )  # fmt: skip
