"""Catapults on several examples: one per eigendirection of the tangent kernel.

004 Fig. 3.3 (the quadratic model), Fig. B.1 (the network itself), Theorem 3.3.6,
Propositions B.11.1 to B.11.3, (B.7) to (B.12). Inputs are one-dimensional.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import xarray as xr

from dynascope.core.records import Headline
from dynascope.dynamics import GradientDescent
from dynascope.engine import Experiment
from dynascope.engine.record import Every
from dynascope.models import TwoLayerReLU
from dynascope.models.quadratic import Gates
from dynascope.probes import Loss
from dynascope.studies.base import Study
from dynascope.studies.catapult import multi_charts, multi_equations, multi_regimes
from dynascope.studies.catapult.line_data import (
    DirectionKernel,
    Start,
    TrainingOutput,
    seeds_with_a_gap,
)
from dynascope.tasks import TwoClusters
from dynascope.theories import QuadraticMap
from dynascope.theories.quadratic_directions import along_directions, half_rate

MODELS: dict[str, Gates] = {"quadratic model": "frozen", "network": "moving"}


class Lane(NamedTuple):
    """One seed and model: arrays are (rate, step), first by kernel, largest first."""

    start: Start
    rates: np.ndarray  # (4,), for the mean of squares
    loss: np.ndarray
    kernels: np.ndarray  # (direction, rate, step)
    residual: np.ndarray  # (direction, rate, step): |K p - value p|
    outside: np.ndarray  # (rate, step): |K q| for a q outside both
    outputs: np.ndarray  # (rate, step, sample)
    diverged: np.ndarray  # (rate,)


class Found(NamedTuple):
    """What claims and charts read."""

    lanes: dict[str, list[Lane]]  # by model, one per seed
    maps: list[tuple[QuadraticMap, ...]]  # per seed, at the third rate, largest kernel first


@dataclass(frozen=True)
class QuadraticMulti(Study):
    """Which eigendirection is catapulted, and whether the network does as its quadratic model."""

    name: ClassVar[str] = "quadratic-multi"
    title: ClassVar[str] = "One catapult per eigendirection of the tangent kernel"
    source: ClassVar[str] = "004 Figs. 3.3, B.1, Thm. 3.3.6, Props. B.11.1, B.11.2, B.11.3"
    scales: ClassVar[dict[str, dict[str, Any]]] = {
        "smoke": {"width": 1000, "starts": 2, "steps": 150, "draws": 2000},
        "laptop": {},
        "paper": {"starts": 8, "steps": 600},
    }

    task: TwoClusters = TwoClusters(count=128)
    width: int = 5000
    starts: int = 3
    steps: int = 300
    draws: int = 10_000

    def notes(self) -> tuple[str, ...]:
        """Where text and derivation differ."""
        return (
            "The critical values 0.37 and 0.39 of Fig. 3.3 are those of the mean of squares, "
            "n / lambda; for the half sum of the chapter's text they would be near 0.006.",
            f"Shown are the first {self.starts} seeds whose critical rates lie 5% to 50% apart; "
            "labels are balanced.",
            "Rates: 0.9 of the first critical rate, the geometric middle of both, 1.2 times the "
            "second, 2.1 times the first.",
            "(B.9) to (B.12) are used with |p|^2 and with unit vectors, without which they are "
            "another map.",
            "B.11 prints |I - eta K| < 2 for < 1, and Pi L(t) for Pi L(t + 1) in the proof.",
        )

    def chosen(self) -> list[Start]:
        """The seeds that are shown, with their data and untrained network."""
        return seeds_with_a_gap(self.task, self.width, self.starts)

    def plan(self) -> dict[str, Experiment]:
        """Both models on every seed, each at four rates of its own."""
        probes = (Loss(), TrainingOutput(), DirectionKernel())
        return {
            f"{name}, seed {start.seed}": Experiment(
                self.task, TwoLayerReLU(self.width, gates),
                GradientDescent(1.0), probes, steps=self.steps, record=Every(1),
                seeds=(start.seed,), dtype="float64",
                over=(("dynamics.learning_rate", rates_of(start)),),
            )
            for name, gates in MODELS.items()
            for start in self.chosen()
        }  # fmt: skip

    def analyse(self, runs: dict[str, xr.Dataset]) -> Found:
        """The runs with the direction of the larger kernel first, and their exact maps."""
        lanes = {
            name: [_lane(start, runs[f"{name}, seed {start.seed}"]) for start in self.chosen()]
            for name in MODELS
        }
        maps = [_maps(lane, 2, self.width) for lane in lanes["quadratic model"]]
        return Found(lanes, maps)

    def headline(self, found: Found) -> Headline:
        """The largest kernel of the first seed while both directions are catapulted."""
        lane, descent = found.lanes["quadratic model"][0], found.maps[0][0]
        steps = lane.kernels.shape[-1]
        return Headline(
            title=f"First eigenvalue at 1.2 times the second critical rate, width {self.width}",
            x_label="step",
            y_label="eigenvalue",
            x=tuple(np.arange(float(steps)).tolist()),
            y=tuple(lane.kernels[0, 2].tolist()),
            theory=tuple(descent.trajectory(steps - 1).kernel.tolist()),
            note="theory: the same descent as a map of two numbers",
        )

    # --- claims --------------------------------------------------------------------------

    critical_as_printed = multi_equations.critical_as_printed
    critical = multi_equations.critical
    eigenvectors = multi_equations.eigenvectors
    rank = multi_equations.rank
    unit_as_printed = multi_equations.unit_as_printed
    largest_kernel = multi_equations.largest_kernel
    matrix_equations = multi_equations.matrix_equations
    reduction = multi_equations.reduction
    reduction_as_printed = multi_equations.reduction_as_printed
    outside = multi_equations.outside
    growth_as_printed = multi_equations.growth_as_printed
    growth = multi_equations.growth
    constant = multi_regimes.constant
    only_first = multi_regimes.only_first
    both = multi_regimes.both
    diverges = multi_regimes.diverges
    network_constant = multi_regimes.network_constant
    network_only_first = multi_regimes.network_only_first
    network_first_most = multi_regimes.network_first_most
    network_both = multi_regimes.network_both
    network_diverges = multi_regimes.network_diverges
    theorem_one = multi_regimes.theorem_one
    theorem_second_rests = multi_regimes.theorem_second_rests
    theorem_two = multi_regimes.theorem_two
    far_apart = multi_regimes.far_apart
    after_as_printed = multi_regimes.after_as_printed
    after = multi_regimes.after

    # --- charts --------------------------------------------------------------------------

    quadratic_regimes = multi_charts.quadratic_regimes
    network_regimes = multi_charts.network_regimes
    losses = multi_charts.losses


def rates_of(start: Start) -> tuple[float, ...]:
    """Below both, between, above both, past the largest: rates for the mean of squares."""
    first, second = sorted(start.critical)
    return (0.9 * first, (first * second) ** 0.5, 1.2 * second, 2.1 * first)


def _order(start: Start) -> list[int]:
    """Directions by kernel, largest first."""
    return sorted(range(len(start.kernels)), key=lambda k: -start.kernels[k])


def _lane(start: Start, run: xr.Dataset) -> Lane:
    run = run.isel(seed=0)
    kernel = run["direction_kernel"].transpose("direction", "number", ...)
    names = [start.found[k].name for k in _order(start)]
    value, residual = (
        kernel.sel(number=n).sel(direction=names).values for n in ("value", "residual")
    )
    outside = kernel.sel(direction="outside")
    rest = np.hypot(outside.sel(number="value").values, outside.sel(number="residual").values)
    return Lane(
        start, run["dynamics.learning_rate"].values, run["loss"].values, value, residual, rest,
        run["training_output"].values, run["diverged"].values,
    )  # fmt: skip


def _maps(lane: Lane, rate: int, width: int) -> tuple[QuadraticMap, ...]:
    start = lane.start
    eta = half_rate(float(lane.rates[rate]), len(start.x))
    maps = along_directions(start.x, start.y, start.outputs, start.kernels, width, eta)
    return tuple(maps[k] for k in _order(start))
