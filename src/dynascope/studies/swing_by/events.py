"""What happens on a run and when: who swings by, gaps to theory, times to learn."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from dynascope.core.records import Measured
from dynascope.core.run import Run
from dynascope.probes import bump
from dynascope.probes.curves import SMALLEST
from dynascope.studies.measures import exact, minus, share
from dynascope.theories import SymmetricTwoLayer
from dynascope.theories.swing_by.schur import naive_times, schur_complements, schur_times
from dynascope.theories.swing_by.stages import half_crossings

SMALL_RISE = SMALLEST  # a rise by this share of the first loss counts as swing-by
CLEAR_RISE = 0.01  # for networks with default initialisation


def swings(run: Run, above: float = SMALL_RISE) -> Measured:
    """Share of seeds whose test loss rises by more than so much of its first value."""
    return share(bump(run["test_loss"].values) > above)


def more_swings(run: Run, other: Run) -> Measured:
    """By how much the share of seeds that swing by exceeds that of another run."""
    return minus(swings(run), swings(other))


def never_rises(run: Run, quantity: str = "test_loss", above: float = 0.0) -> Measured:
    """Share of seeds whose loss never rises by more than so much of its first value."""
    return share(bump(run[quantity].values) <= above)


def two_groups(run: Run) -> dict[str, Run]:
    """The first half of a run's seeds, and the second."""
    half = run.sizes["seed"] // 2
    return {"first": run.isel(seed=slice(half)), "second": run.isel(seed=slice(half, None))}


def theory_gap(run: Run, theory: xr.Dataset) -> Measured:
    """Largest gap of the test loss of a run with one seed to the flow, over its first value."""
    measured, predicted = (x["test_loss"].values[0] for x in (run, theory))
    return exact(np.abs(measured - predicted).max() / measured[0])


def at_printed_clock(theory: xr.Dataset) -> xr.Dataset:
    """The flow as it would run at the printed clock, which is half as fast."""
    times, losses = theory["time"].values, theory["test_loss"].values  # (seed, step)
    slow = np.stack([np.interp(times / 2, times, loss) for loss in losses])
    return theory.assign(test_loss=(theory["test_loss"].dims, slow))


def planted_curve(run: Run, rise: ArrayLike) -> Run:
    """The run with test losses that fall, rise by so much of their first value, and fall.

    Args:
        run: What the curves are planted in.
        rise: Of each curve, or of all; with a rise of 0 a curve falls all the way.

    Returns:
        The planted run. Its numbers are exact where a record meets each turn, and otherwise
        off by less than the fall or rise from one record to the next.
    """
    *lanes, steps = run["test_loss"].shape
    places = np.linspace(0, 3, steps)
    turns = np.rint(np.arange(1, 3) * (steps - 1) / 3).astype(int)
    places[turns] = 1, 2  # so that no turn falls between two records
    falls = np.interp(places, np.arange(4), (1.0, 0.4, 0.4, 0.0))
    bend = np.interp(places, np.arange(4), (0.0, 0.0, 1.0, 0.0))
    rises = np.broadcast_to(rise, lanes)[..., None]
    return run.planted(test_loss=falls + rises * bend)


def first_share(n: int, share: float) -> np.ndarray:
    """Which of n seeds: the first ones, as near to a share of them as there are seeds.

    Example:
        >>> first_share(4, 0.5).tolist()
        [True, True, False, False]
    """
    return np.arange(n) < round(share * n)


class Shown(NamedTuple):
    """A start that charts show, and the exact flow over it."""

    seed: int
    run: Run
    theory: xr.Dataset


def show(runs: Run, seed: int) -> Shown:
    """One seed of several."""
    run = runs.isel(seed=[seed])
    return Shown(seed, run, SymmetricTwoLayer().predict(run))


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
