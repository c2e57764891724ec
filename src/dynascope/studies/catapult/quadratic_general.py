"""General quadratic models and wide networks: the same catapult without the two-number map.

004 (3.15), (3.16), appendix B.13, Figs. B.2, B.3, B.4.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import xarray as xr

from dynascope.core.records import Headline
from dynascope.data import there
from dynascope.dynamics import GradientDescent
from dynascope.engine import Experiment
from dynascope.engine.record import Every
from dynascope.models import Model, QuadraticModel, TwoLayerReLU
from dynascope.models.quadratic import Gates
from dynascope.probes import Loss, TangentKernel
from dynascope.studies.base import Study
from dynascope.studies.catapult import (
    general_charts,
    general_equations,
    general_top,
    general_trends,
)
from dynascope.studies.catapult.general_runs import (
    Curves,
    Top,
    critical_rate,
    curves,
    top_eigenspace,
)
from dynascope.studies.catapult.general_trends import GAMMAS, MULTIPLES, PRINTED, RATES, USUAL
from dynascope.studies.catapult.line_data import TrainingOutput
from dynascope.tasks import OneExample, Task, TwoClasses

MODELS: dict[str, Gates] = {"quadratic model": "frozen", "network": "moving"}
MULTIPLE = 1.5  # of the critical rate, for the top eigenspace
RATE, GAMMA = "dynamics.learning_rate", "model.gamma"


class Found(NamedTuple):
    """What claims and charts read."""

    general: Curves  # (gamma, rate, seed, step)
    widths: Curves  # (width, rate, seed, step)
    tops: dict[str, list[Top]]  # by model, one per seed


@dataclass(frozen=True)
class QuadraticGeneral(Study):
    """What gamma, width and rate do to the peak and the kernel, and where the spike lies."""

    name: ClassVar[str] = "quadratic-general"
    title: ClassVar[str] = "Any quadratic model, and wide networks, are catapulted alike"
    source: ClassVar[str] = "004 (3.15), (3.16), Prop. B.13.1, Figs. B.2, B.3, B.4"
    scales: ClassVar[dict[str, dict[str, Any]]] = {
        "smoke": {
            "seeds": 4, "network_seeds": 1, "widths": (256, 1024), "width": 512,
            "pictures": TwoClasses("digits", train=64, scaling="channel"),
        },
        "laptop": {},
        "paper": {"seeds": 50, "widths": (1000, 3000, 10_000), "width": 2048, "steps": 600},
    }  # fmt: skip

    example: OneExample = OneExample(dimension=100, label=1.0)
    few: TwoClasses = TwoClasses("digits", train=20, scaling="channel")
    pictures: TwoClasses = TwoClasses("digits", train=128, scaling="channel")
    seeds: int = 16
    network_seeds: int = 2
    widths: tuple[int, ...] = (256, 1024, 4096)
    width: int = 1024
    steps: int = 300
    network_steps: int = 100

    @classmethod
    def at(cls, scale: str) -> Study:
        """The settings of a scale; at paper scale on CIFAR-10 if it is there."""
        study = super().at(scale)
        if scale != "paper" or not there("cifar10"):
            return study
        assert isinstance(study, QuadraticGeneral)
        few = replace(study.few, data="cifar10")
        return replace(study, few=few, pictures=replace(study.pictures, data="cifar10"))

    def notes(self) -> tuple[str, ...]:
        """What the text leaves open, and where derivation differs."""
        return (
            "One example with label 1 and half the squared error for general quadratic models: "
            "only then is 2.8 between 2 and 4 over the first kernel.",
            "Networks use the mean of squares; their rates are multiples of n over the largest "
            "eigenvalue of the first kernel, since the scaling of the pictures is not given.",
            f"Pictures: two classes of {self.pictures.data}"
            + (" (8x8, built in), not CIFAR-2." if self.pictures.data == "digits" else "."),
            "R_f is defined only through what it does to the residuals; R_K = K(t) - K(t + 1).",
            "The convolutional networks of Figs. B.2 and B.3 are not run here; their other "
            "data set is --set pictures.data=svhn.",
        )

    def plan(self) -> dict[str, Experiment]:
        """General quadratic models, networks of several widths, both models on pictures."""
        grid = ((GAMMA, GAMMAS), (RATE, RATES))
        plan = {
            "general": self._experiment(
                self.example, QuadraticModel(), self.steps, tuple(range(self.seeds)), grid
            )
        }
        for width in self.widths:
            for seed in range(self.network_seeds):
                critical = critical_rate(self.few, width, seed)
                over = ((RATE, tuple(m * critical for m in MULTIPLES)),)
                plan[f"width {width}, seed {seed}"] = self._experiment(
                    self.few, TwoLayerReLU(width), self.network_steps, (seed,), over
                )
        for name, gates in MODELS.items():
            for seed in range(self.network_seeds):
                over = ((RATE, (MULTIPLE * critical_rate(self.pictures, self.width, seed),)),)
                plan[f"{name}, seed {seed}"] = self._experiment(
                    self.pictures, TwoLayerReLU(self.width, gates), 40, (seed,), over
                )
        return plan

    def _experiment(
        self, task: Task, model: Model, steps: int, seeds: tuple[int, ...], over: tuple
    ) -> Experiment:
        probes = (Loss(), TangentKernel(), TrainingOutput())
        return Experiment(
            task, model, GradientDescent(1.0), probes, steps=steps, record=Every(1),
            seeds=seeds, dtype="float64", over=over,
        )  # fmt: skip

    def analyse(self, runs: dict[str, xr.Dataset]) -> Found:
        """Loss and kernel norm everywhere, and the terms along the top eigenvector."""
        seeds = range(self.network_seeds)
        wide = [[curves(runs[f"width {m}, seed {s}"]) for s in seeds] for m in self.widths]
        loss, norm = (
            np.array([np.concatenate([getattr(c, part) for c in row], axis=-2) for row in wide])
            for part in ("loss", "norm")
        )
        labels = np.asarray(self.pictures.arrays()[1], float).ravel()
        tops = {
            name: [
                top_eigenspace(
                    runs[f"{name}, seed {s}"].isel({RATE: 0, "seed": 0}), labels,
                    MULTIPLE * critical_rate(self.pictures, self.width, s),
                )
                for s in seeds
            ]
            for name in MODELS
        }  # fmt: skip
        return Found(curves(runs["general"]), Curves(loss, norm), tops)

    def headline(self, found: Found) -> Headline:
        """The loss of the general quadratic model in the printed setting."""
        loss = found.general.loss[USUAL, PRINTED, 0][:60]
        norm = found.general.norm[USUAL, PRINTED, 0]
        return Headline(
            title="Loss of the general quadratic model, gamma 0.001, rate 2.8, seed 0",
            x_label="step",
            y_label="log10 of the loss",
            x=tuple(np.arange(60.0).tolist()),
            y=tuple(np.log10(np.maximum(loss, 1e-12)).tolist()),
            theory=None,
            note=f"its tangent kernel falls from {norm[0]:.2f} to {norm[-1]:.2f}",
        )

    # --- claims --------------------------------------------------------------------------

    residual_equation = general_equations.residual_equation
    kernel_as_printed = general_equations.kernel_as_printed
    kernel_equation = general_equations.kernel_equation
    pure_as_printed = general_equations.pure_as_printed
    pure_equations = general_equations.pure_equations
    pure_catapult = general_equations.pure_catapult
    square_as_printed = general_equations.square_as_printed
    cube = general_equations.cube
    peak_by_gamma = general_trends.peak_by_gamma
    kernel_by_gamma = general_trends.kernel_by_gamma
    peak_by_rate_as_printed = general_trends.peak_by_rate_as_printed
    peak_by_rate = general_trends.peak_by_rate
    kernel_by_rate_as_printed = general_trends.kernel_by_rate_as_printed
    kernel_by_rate = general_trends.kernel_by_rate
    monotone_below = general_trends.monotone_below
    diverges = general_trends.diverges
    peak_by_width = general_trends.peak_by_width
    network_peak_by_rate = general_trends.network_peak_by_rate
    network_kernel_by_rate = general_trends.network_kernel_by_rate
    network_kernel_by_width = general_trends.network_kernel_by_width
    positive = general_top.positive
    scale = general_top.scale
    spike = general_top.spike
    network_positive = general_top.network_positive
    network_scale = general_top.network_scale
    network_spike = general_top.network_spike

    # --- charts --------------------------------------------------------------------------

    by_gamma = general_charts.by_gamma
    by_rate = general_charts.by_rate
    by_width = general_charts.by_width
    network_by_rate = general_charts.network_by_rate
    top_eigenspace = general_charts.top_eigenspace
