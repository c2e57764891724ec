"""(c) Gradient flow of the tied model against scipy's DOP853 at the same tolerance.

Lanes on all cores, as the command runs them; scipy's steps are one after the other. On one core
d = 64 was seen at 0.84x to 1.22x.
"""

from __future__ import annotations

from dynascope.runtime.cores import use_all_cores

use_all_cores()  # must come before jax

# ruff: noqa: E402
import numpy as np
from scipy.integrate import solve_ivp
from timing import line, median_seconds

import dynascope as ds
from dynascope import dynamics, models, probes, record, tasks

RTOL, ATOL, POINTS = 1e-8, 1e-10, 20


def setting(d: int) -> tuple[tasks.IdentityMapping, models.TiedLinear, float]:
    task = tasks.IdentityMapping(means=(1.0, 2.0), scales=(0.05, 0.05), dimension=d)
    return task, models.TiedLinear(d, 0.01), 10.0


def simulate(d: int, seeds: int) -> None:
    task, model, time = setting(d)
    ds.simulate(
        task, model, dynamics.GradientFlow(RTOL, ATOL), time=time, probes=[probes.TestLoss()],
        record=record.Evenly(POINTS), seeds=seeds, progress=False,
    )  # fmt: skip


def scipy_flow(d: int, seeds: int) -> None:
    task, _, time = setting(d)
    a = np.asarray(task.moments(), float)
    eye, times = np.eye(d), np.linspace(0, time, POINTS)

    def slope(_: float, y: np.ndarray) -> np.ndarray:
        u = y.reshape(d, d)
        error = u @ u.T - eye
        return -((error * a + (error * a).T) @ u).ravel()

    for seed in range(seeds):
        start = 0.01 * np.random.default_rng(seed).normal(size=d * d)
        solve_ivp(slope, (0, time), start, "DOP853", times, rtol=RTOL, atol=ATOL)


def main() -> None:
    for d, seeds, wanted in ((3, 64, ">= 20x"), (64, 8, ">= 0.9x")):
        ours = median_seconds(lambda: simulate(d, seeds))  # noqa: B023
        theirs = median_seconds(lambda: scipy_flow(d, seeds), 5 if d > 3 else 3)  # noqa: B023
        line(f"(c) flow, d = {d}, {seeds} seeds", ours, "scipy DOP853", theirs, wanted)


if __name__ == "__main__":
    main()
