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
STILL = 1e-3  # of the kernel's norm: what a step may take from one that is said to stay
PLANTED_RATE = 0.6  # of planted runs, whose critical rate is one over the norm


def part(run: Run, name: str) -> np.ndarray:
    """(seeds, steps) one part of the split: "norm", "top" or "rest"."""
    return run["kernel_split"].sel(kernel_part=name).values


def finite(run: Run) -> Run | Missing:
    """The seeds whose loss stays finite."""
    fine = np.isfinite(run["loss"].values).all(axis=-1)
    if not fine.any():
        return Missing(f"all {len(fine)} seeds diverged")
    return run.isel(seed=np.flatnonzero(fine))


def taken(run: Run) -> list[int]:
    """How many steps each seed took before it stopped or diverged."""
    ends = []
    for seed in range(run.sizes["seed"]):
        loss = run["loss"].values[seed]
        fine = np.isfinite(loss)
        last = len(loss) - 1 if fine.all() else int(np.argmin(fine)) - 1
        stopped = int(run["stopped_step"].values[seed]) if "stopped_step" in run else -1
        ends.append(min(last, stopped) if stopped >= 0 else last)
    return ends


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

    Mean over the seeds that stay finite and rise.
    """
    kept = finite(run)
    if isinstance(kept, Missing):
        return kept
    loss, top = kept["loss"].values, part(kept, "top")
    at = loss.argmax(axis=-1)
    risen = np.flatnonzero(at)  # elsewhere the first loss is the highest
    if not len(risen):
        return Missing("the loss never rises above its first value: there is no spike")
    begun, high = np.zeros_like(risen), at[risen]
    rise, of_top = (v[risen, high] - v[risen, begun] for v in (loss, top))
    return average(of_top / rise)


def norm_falls(run: Run) -> Measured | Missing:
    """Share of its norm that the kernel loses over the run, mean over seeds that stay finite."""
    kept = finite(run)
    if isinstance(kept, Missing):
        return kept
    norm = part(kept, "norm")
    return average(1 - norm[:, -1] / norm[:, 0])


def rate_over_critical(run: Run) -> np.ndarray:
    """(seeds, steps) the learning rate over the critical one of all samples, which is n / norm.

    With several outputs n counts all of their values.
    """
    norm, experiment = part(run, "norm"), run.experiment
    if experiment is None:
        return PLANTED_RATE * norm
    rate, task = experiment.dynamics.learning_rate, experiment.task
    return (
        np.asarray([rate(k) if callable(rate) else rate for k in run["step"].values])
        * norm
        / (task.train * task.output_size)
    )


def critical_passes(run: Run) -> Measured | Missing:
    """Share of seeds whose critical rate is above the learning rate one step after the peak.

    Of the seeds that stay finite and rise from the first loss.
    """
    kept = finite(run)
    if isinstance(kept, Missing):
        return kept
    at = kept["loss"].values.argmax(axis=-1)
    risen = np.flatnonzero(at)
    if not len(risen):
        return Missing("the loss never rises above its first value: there is no spike")
    after = np.minimum(at[risen] + 1, run.sizes["step"] - 1)
    return share(rate_over_critical(kept)[risen, after] < 1)


def critical_ends_above(run: Run, spike: float = SPIKE) -> Measured | Missing:
    """Share of seeds whose critical rate is above the learning rate where each spike ends.

    A spike ends where the loss is first below that before it. Of the seeds with spikes that do.
    """
    over, flags = rate_over_critical(run), []
    for lane, found in enumerate(events(run, spike)):
        ends = [c.end for c in found if c.recovers]
        flags += [bool((over[lane, ends] < 1).all())] if ends else []
    return share(flags) if flags else Missing("no spike comes back")


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


def each_in_top(run: Run, spike: float = SPIKE) -> Measured | Missing:
    """Share of the rise that lies in the top eigenspace, of the spike where it is least.

    Mean over the seeds with spikes that come back.
    """
    rows = _over_spikes(run, spike, lambda c: c.top_share)
    return rows if isinstance(rows, Missing) else average([min(row) for row in rows])


def rises_outside_top(run: Run) -> Measured | Missing:
    """Of all that both parts of the loss rise over a run, the share outside the top eigenspace.

    0 for a rest that only falls. Mean over the seeds that stay finite and rise.
    """
    kept = finite(run)
    if isinstance(kept, Missing):
        return kept
    top, rest = (
        np.clip(np.diff(part(kept, name), axis=1), 0, None).sum(axis=1) for name in ("top", "rest")
    )
    risen = top + rest > 0
    if not risen.any():
        return Missing("no part of the loss ever rises")
    return average((rest / np.where(risen, top + rest, 1))[risen])


def norm_stays_elsewhere(run: Run, spike: float = SPIKE) -> Measured | Missing:
    """Share of the steps outside spikes on which the kernel's norm grows or stays; mean over seeds.

    A spike lasts from the lowest loss before it to the first one below that. Of seeds with spikes.
    """
    shares, counts = [], []
    for lane, (found, end) in enumerate(zip(events(run, spike), taken(run), strict=True)):
        norm = part(run, "norm")[lane, : end + 1]
        change = norm[1:] / norm[:-1] - 1
        outside = np.ones(end, bool)
        for c in found:
            outside[c.start : c.end] = False
        if found and outside.any():
            shares.append(float((change[outside] >= -STILL).mean()))
            counts.append(int(outside.sum()))
    return average_share(shares, counts) if shares else Missing("there is no spike")


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
    """A run whose answer is known.

    A "catapult", a spike "elsewhere", a "monotone" loss, one that "diverges"; or one wide spike
    with a kernel that falls "inside" it alone, or "outside" it alone. On the first step the
    last two do the contrary, so that it tells nothing of the others.
    """
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
    elif kind in ("inside", "outside"):
        wide = (t >= 6) & (t < 45)
        top = top + 5.0 * wide
        falls = np.roll(wide if kind == "inside" else ~wide, -1)
        falls[0] = ~falls[0]
        norm = np.exp(np.concatenate([[0.0], np.cumsum(np.where(falls, -0.01, 0.002))[:-1]]))
    elif kind == "diverges":
        top, norm = top * np.exp(t / 4), 1 + t
    wobble = 1 + 1e-3 * np.linspace(-1, 1, seeds)[:, None]
    norm, top, rest = (v * wobble for v in (2 * norm, top, rest))
    split = np.stack([norm, top, rest], axis=-1)
    if kind == "diverges":
        split[:, 40:] = np.nan
    data = xr.Dataset(
        {"loss": (("seed", "step"), split[..., 1:].sum(axis=-1)),
         "kernel_split": (("seed", "step", "kernel_part"), split)},
        {"kernel_part": ["norm", "top", "rest"], "step": np.arange(steps)},
    )  # fmt: skip
    return Run(data, None)
