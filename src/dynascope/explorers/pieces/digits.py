"""A small network that learns to tell two digits apart, at a multiple of its critical rate."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import xarray as xr

from dynascope.core.charts import Line, Panel, Reference
from dynascope.dynamics import GradientDescent
from dynascope.engine import simulate
from dynascope.engine.record import Every
from dynascope.models import MLP
from dynascope.probes import Loss, TangentKernelNorm
from dynascope.runtime.progress import Progress
from dynascope.studies.catapult.trials import DIGITS, Trial, critical_rate, two


@lru_cache(maxsize=64)
def small_network(width: int, seed: int) -> tuple[Trial, float]:
    """Three layers on two digits, and their critical learning rate before training.

    Example:
        >>> network, critical = small_network(64, 0)
        >>> network.task.input_size, critical > 0
        (64, True)
    """
    network = Trial(two(DIGITS, 32), MLP(3, width, parameterization="ntk"), 1.0)
    return network, critical_rate(network, seed)


def train_at(factor: float, width: int, seed: int, steps: int) -> xr.Dataset:
    """Gradient descent at so many times the critical rate.

    Returns:
        `loss` and `tangent_kernel_norm` at every step; `critical_rate` among the attributes.

    Example:
        >>> below = train_at(0.5, width=64, seed=0, steps=10)["loss"].values
        >>> bool((np.diff(below) < 0).all())
        True
    """
    with Progress("network", 2, enabled=False) as bar:
        network, critical = small_network(width, seed)
        bar.update(1)  # here it may be overtaken
    run = simulate(
        network.task, network.model, GradientDescent(factor * critical), steps=steps,
        record=Every(1), seeds=[seed], probes=[Loss(), TangentKernelNorm()], progress=False,
    )  # fmt: skip
    return run.isel(seed=0).assign_attrs(critical_rate=critical)


def loss_panel(run: xr.Dataset) -> Panel:
    """The loss by step."""
    loss = run["loss"].values
    line = Line(run["step"].values, np.where(loss > 0, loss, np.nan), "loss", group=0)
    return Panel((line,), "loss", "step", "loss", y_scale="log")


def kernel_panel(run: xr.Dataset, factor: float) -> Panel:
    """The kernel's largest eigenvalue by step, and below which one this rate is stable."""
    kernel = run["tangent_kernel_norm"].values
    line = Line(run["step"].values, kernel, "largest eigenvalue", group=1)
    limit = Reference("y", float(kernel[0] / factor), "stable below")
    return Panel((line, limit), "tangent kernel", "step", "largest eigenvalue")
