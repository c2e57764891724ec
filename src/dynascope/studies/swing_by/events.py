"""What happens on a run and when: turns of the loss, gaps to theory, peaks and falls of entries."""

from __future__ import annotations

import numpy as np
import xarray as xr

from dynascope.probes.curves import Descents, descents
from dynascope.theories.entry_flow import peak_identity
from dynascope.theories.schur import naive_times, schur_complements, schur_times
from dynascope.theories.stages import crossing_times, growth_stops, half_crossings


def theory_gaps(run: xr.Dataset, theory: xr.Dataset) -> tuple[float, float]:
    """Largest gap between measured and predicted test loss, as share of the first loss.

    Args:
        run: A run with one seed.
        theory: The prediction for it.

    Returns:
        The gap at the true clock, and that of the same prediction read at the printed clock.
    """
    measured, predicted = (x["test_loss"].values[0] for x in (run, theory))
    times = theory["time"].values
    printed = np.interp(times / 2, times, predicted)
    true, other = (np.abs(measured - p).max() / measured[0] for p in (predicted, printed))
    return float(true), float(other)


def extremes(turns: Descents) -> str:
    """The turning points of a loss in words."""
    places = ", ".join(f"{t.value:.3g} at {t.time:.2f}" for t in turns.turns[:-1])
    return f"Turns of the test loss: {places}, then towards {turns.turns[-1].value:.1g}."


def fall_times(curves: np.ndarray, times: np.ndarray) -> np.ndarray:
    """When each curve is back to half of its largest absolute value.

    Args:
        curves: (curve, time).
        times: (time,).

    Returns:
        One time per curve, linear between samples; infinite where it stays above half.

    Example:
        >>> fall_times(np.array([[0.0, -4.0, 0.0]]), np.array([0.0, 1.0, 2.0])).tolist()
        [1.5]
    """
    size = np.abs(curves)
    before = np.arange(size.shape[1]) < size.argmax(axis=1)[:, None]
    lost = np.where(before, 0.0, 1 - size / size.max(axis=1, keepdims=True))
    return crossing_times(lost.T, times, 0.5)


def triple_events(runs: xr.Dataset) -> dict[str, np.ndarray]:
    """Events of Fig. 8 in every run: half-crossings, falls, and w22 at the peaks.

    Args:
        runs: Runs of three concepts with `input_jacobian`, weakest concept first.

    Returns:
        One number a seed under each of "half 11" to "half 33", "fallen 12", "fallen 23",
        "w22 at peak 12", "w22 at peak 23".
    """
    w, t = runs["input_jacobian"].values, runs["time"].values  # w: (seed, step, 3, 3)
    half = half_crossings(w, t)
    found = {f"half {k + 1}{k + 1}": half[:, k] for k in range(3)}
    for i, j in ((0, 1), (1, 2)):
        minor = w[:, :, i, j]
        peak = np.abs(minor).argmax(axis=1)
        found[f"fallen {i + 1}{j + 1}"] = fall_times(minor, t)
        found[f"w22 at peak {i + 1}{j + 1}"] = w[np.arange(len(w)), peak, 1, 1]
    return found


def double_events(runs: xr.Dataset) -> dict[str, np.ndarray]:
    """Events of Fig. 5 in every run: peaks and what is left of them, and the rise of the loss.

    Args:
        runs: Runs with `input_jacobian` and `test_loss`; direction 2 is the strong one.

    Returns:
        One number a seed; the rise is NaN where the test loss never rises.
    """
    w, t = runs["input_jacobian"].values, runs["time"].values  # w: (seed, step, d, d)
    half, seeds = half_crossings(w, t), np.arange(len(w))
    found = {"half 11": half[:, 0], "half 22": half[:, 1]}
    for name, entry in (("12", w[:, :, 0, 1]), ("11", w[:, :, 0, 0])):
        size = np.abs(entry)
        peak = size.argmax(axis=1)
        found[f"peak {name}"] = t[peak]
        found[f"left {name}"] = size[:, -1] / size[seeds, peak]
        found[f"w22 at peak {name}"] = w[seeds, peak, 1, 1]
    rises = [descents(loss, t).ascents for loss in runs["test_loss"].values]
    found["rise start"] = np.array([r[0].start.time if r else np.nan for r in rises])
    found["rise end"] = np.array([r[0].end.time if r else np.nan for r in rises])
    return found


def peaks(jacobian: np.ndarray) -> np.ndarray:
    """W at the moment at which |w12| is largest, (run, time, d, d) to (run, d, d)."""
    place = np.abs(jacobian[:, :, 0, 1]).argmax(axis=1)
    return jacobian[np.arange(len(jacobian)), place]


def identity_gap(jacobian: np.ndarray, strengths: np.ndarray) -> float:
    """How far W is from the identity that holds where |w12| peaks, for d = 2.

    Example:
        >>> identity_gap(np.diag([0.0, 0.8]), np.array([1.0, 3.0]))
        0.0
    """
    left, right = peak_identity(jacobian, strengths)
    return float(abs(left / right - 1))


def plateaus(runs: xr.Dataset) -> np.ndarray:
    """Largest test loss after the second concept is learned (w22 above 0.99), one a seed."""
    learned = growth_stops(runs["input_jacobian"].values, runs["time"].values)[:, 1]
    after = runs["time"].values >= learned[:, None]
    return np.where(after, runs["test_loss"].values, 0.0).max(axis=1)


def times_to_half(
    runs: xr.Dataset, strengths: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """True times at which the major entries pass one half: measured, by Schur, and naively.

    Args:
        runs: Runs with `input_jacobian`.
        strengths: Signal strengths a, (d,).

    Returns:
        Three arrays, each (seed, d); infinite where it never happens.
    """
    w, t = runs["input_jacobian"].values, runs["time"].values
    own = schur_complements(w[:, 0], strengths, width=w.shape[-1])
    return (
        half_crossings(w, t),
        schur_times(own, strengths) / 2,  # paper time is twice true time
        naive_times(w[:, 0], strengths) / 2,
    )
