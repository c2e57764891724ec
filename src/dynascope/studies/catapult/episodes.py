"""What a run shows of a catapult: the spike, where it lies, and what it leaves.

Runs have `loss` and `kernel_split` (norm of the kernel, residual in its top eigenspace and outside)
at every step. A lane that diverged shows NaN: it did not come back, and has no height, no place and
no end that could be put into a mean.
"""

from typing import Any

import numpy as np
import xarray as xr

from dynascope.core.records import Measured
from dynascope.core.run import Run
from dynascope.probes.catapults import SPIKE, Catapult, catapults
from dynascope.studies.measures import average, average_share, share
from dynascope.studies.nodes import Missing

REST_RISE = 1.05  # what the rest may reach over its first value: zhu2024 Claim 1 has 1
BACK = 0.2  # of the first loss: what a catapult comes back to


def part(run: Run, name: str) -> np.ndarray:
    """(seeds, steps) one part of the split: "norm", "top" or "rest"."""
    return run["kernel_split"].sel(kernel_part=name).values


def finite(run: Run) -> Run | Missing:
    """The seeds whose loss stays finite."""
    fine = np.isfinite(run["loss"].values).all(axis=-1)
    if not fine.any():
        return Missing(f"all {len(fine)} seeds diverged")
    return run.isel(seed=np.flatnonzero(fine))


def _highest(values: np.ndarray) -> np.ndarray:
    """Largest finite value of every lane."""
    return np.where(np.isfinite(values), values, -np.inf).max(axis=-1)


def _last(values: np.ndarray) -> np.ndarray:
    """Last value of every lane; infinite where it diverged."""
    return np.where(np.isfinite(values[..., -1]), values[..., -1], np.inf)


def peak(run: Run) -> Measured | Missing:
    """Highest loss over the first, mean over the seeds that stay finite."""
    kept = finite(run)
    if isinstance(kept, Missing):
        return kept
    loss = kept["loss"].values
    return average(loss.max(axis=-1) / loss[:, 0])


def rest_stays(run: Run) -> Measured:
    """Share of seeds in which the loss outside the top eigenspace stays below 1.05 of its first."""
    rest = part(run, "rest")
    whole = np.isfinite(rest).all(axis=-1)
    return share(whole & (_highest(rest) <= REST_RISE * rest[:, 0]))


def rise_in_top(run: Run) -> Measured | Missing:
    """Share of the rise from the first loss to the peak that lies in the top eigenspace.

    Mean over the seeds that stay finite.
    """
    kept = finite(run)
    if isinstance(kept, Missing):
        return kept
    loss, top = kept["loss"].values, part(kept, "top")
    at = loss.argmax(axis=-1)
    seeds = np.arange(len(loss))
    rise = loss[seeds, at] - loss[:, 0]
    if not (rise > 0).all():
        return Missing("the loss never rises above its first value: there is no spike")
    return average((top[seeds, at] - top[:, 0]) / rise)


def norm_falls(run: Run) -> Measured | Missing:
    """Share of its norm that the kernel loses over the run, mean over seeds that stay finite."""
    kept = finite(run)
    if isinstance(kept, Missing):
        return kept
    norm = part(kept, "norm")
    return average(1 - norm[:, -1] / norm[:, 0])


def comes_back(run: Run) -> Measured:
    """Share of seeds whose last loss is below a fifth of the first."""
    loss = run["loss"].values
    return share(_last(loss) < BACK * loss[:, 0])


def events(run: Run, spike: float = SPIKE) -> list[list[Catapult]]:
    """The spikes of every seed, with the criteria that were recorded."""
    found = []
    for seed in range(run.sizes["seed"]):
        lane = run.isel(seed=seed)
        found.append(
            catapults(lane["loss"].values, kernel=part(lane, "norm"), top_loss=part(lane, "top"),
                      spike=spike)
        )  # fmt: skip
    return found


def drops_after(run: Run, spike: float = SPIKE) -> Measured | Missing:
    """Of every seed's spikes that come back, the share with a lower kernel norm after; mean."""
    rows = _over_spikes(run, spike, lambda c: None if c.kernel_drop is None else c.kernel_drop > 0)
    if isinstance(rows, Missing):
        return rows
    return average_share([np.mean(row) for row in rows], [len(row) for row in rows])


def drops_each_time(run: Run, spike: float = SPIKE) -> Measured | Missing:
    """Share of seeds with spikes that come back in which each leaves a lower kernel norm."""
    rows = _over_spikes(run, spike, lambda c: None if c.kernel_drop is None else c.kernel_drop > 0)
    return rows if isinstance(rows, Missing) else share([all(row) for row in rows])


def share_in_top(run: Run, spike: float = SPIKE) -> Measured | Missing:
    """Share of the rise of a spike that lies in the top eigenspace, mean of seeds' medians."""
    rows = _over_spikes(run, spike, lambda c: c.top_share)
    return rows if isinstance(rows, Missing) else average([np.median(row) for row in rows])


def _over_spikes(run: Run, spike: float, of: Any) -> list[list] | Missing:
    """What is known of the spikes of each seed that come back, where there is any."""
    rows = [
        [v for c in lane if c.recovers and (v := of(c)) is not None] for lane in events(run, spike)
    ]
    rows = [row for row in rows if row]
    if not rows:
        lost = int((~np.isfinite(run["loss"].values[:, -1])).sum())
        more = f"; {lost} of {run.sizes['seed']} seeds diverged" if lost else ""
        return Missing(f"no loss rises to {spike:g} times its lowest and comes back{more}")
    return rows


def largest_rise(run: Run) -> Measured:
    """The loss over its lowest value so far, at the step where that is largest; mean over seeds."""
    loss = run["loss"].values
    fine = np.where(np.isfinite(loss), loss, np.inf)
    return average((fine / np.minimum.accumulate(fine, axis=1)).max(axis=1))


def planted(kind: str, steps: int = 60, seeds: int = 8) -> Run:
    """A run whose answer is known: a "catapult", a spike "elsewhere", "monotone" or "diverges"."""
    t = np.arange(steps, dtype=float)
    bump = 4 * np.exp(-0.5 * ((t - 12) / 3) ** 2)
    second = 0.5 * np.exp(-0.5 * ((t - 40) / 1.5) ** 2)
    fall = np.exp(-t / 12)
    rest = 0.6 * fall
    top = 0.4 * fall + (bump + second if kind in ("catapult", "elsewhere") else 0)
    norm = np.where(t < 12, 1.0, 0.5) - 0.1 * (t > 40) - 0.05 * (t > 55)
    if kind == "elsewhere":  # the spike is outside the top eigenspace, and the kernel grows
        top, rest, norm = rest, top, 2 - norm
    elif kind == "monotone":
        norm = 1 + 0.001 * t
    elif kind == "diverges":
        top, norm = top * np.exp(t / 4), 1 + t
    wobble = 1 + 1e-3 * np.linspace(-1, 1, seeds)[:, None]
    norm, top, rest = (v * wobble for v in (norm, top, rest))
    split = np.stack([norm, top, rest], axis=-1)
    if kind == "diverges":
        split[:, 40:] = np.nan
    data = xr.Dataset(
        {"loss": (("seed", "step"), split[..., 1:].sum(axis=-1)),
         "kernel_split": (("seed", "step", "kernel_part"), split)},
        {"kernel_part": ["norm", "top", "rest"], "step": np.arange(steps)},
    )  # fmt: skip
    return Run(data, None)
