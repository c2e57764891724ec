"""A phase diagram of 10^5 quadratic maps of 200 steps, against the same loop in numpy.

Both run in float64 and keep the highest residual, its step and the step of divergence of every
descent; numpy goes through all descents at once, the way such diagrams are usually made.
"""

from __future__ import annotations

import time

import numpy as np
from timing import line, median_seconds

COLUMNS, ROWS, STEPS, LARGE = 400, 250, 200, 1e90
RATES, WIDTHS = np.linspace(0.05, 5.0, COLUMNS), np.logspace(1.5, 6, ROWS)


def loop() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Highest residuals, their steps and the steps of divergence, (rows, columns)."""
    rate, width = np.meshgrid(RATES, WIDTHS)
    c, residual, kernel = 1 / width, np.full(rate.shape, -0.7), np.ones(rate.shape)
    peak, when = np.abs(residual), np.zeros(rate.shape, int)
    diverged = np.full(rate.shape, -1)
    for step in range(1, STEPS + 1):
        bend = c * rate * residual
        output = residual + 1.0
        after = (1 - rate * kernel + rate * bend * output) * residual
        moved = kernel - 4 * bend * output + rate * bend * residual * kernel
        fine = (np.abs(after) < LARGE) & (np.abs(moved) < LARGE)
        going = diverged < 0
        diverged = np.where(going & ~fine, step, diverged)
        residual = np.where(going & fine, after, residual)
        kernel = np.where(going & fine, moved, kernel)
        higher = np.abs(residual) > peak
        peak, when = np.where(higher, np.abs(residual), peak), np.where(higher, step, when)
    return peak, when, diverged


def main() -> None:
    from dynascope.theories import QuadraticMap, phase_diagram

    base, over = QuadraticMap(1.0, 1.0, label=1.0), {"learning_rate": RATES, "width": WIDTHS}
    begun = time.perf_counter()
    ours = phase_diagram(base, over, STEPS)
    first = time.perf_counter() - begun
    own = median_seconds(lambda: phase_diagram(base, over, STEPS), 5)
    peer = median_seconds(loop, 3)
    what = f"(f) phase diagram, {COLUMNS * ROWS:,} maps x {STEPS} steps"
    line(what, own, "numpy, all at once", peer, "under 5 s")
    peak, _, diverged = loop()
    calm = diverged < 0
    gap = np.abs(np.sqrt(2 * ours.peak_loss[calm]) / peak[calm] - 1)
    same = ((ours.regime == 2) == ~calm).mean()
    print(
        f"(f) first call {first:.2f} s with compilation; outcomes that agree {same:.4f}, "
        f"median gap of peaks {np.median(gap):.1e}"
    )


if __name__ == "__main__":
    main()
