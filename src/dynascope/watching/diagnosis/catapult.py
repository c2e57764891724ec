"""Is a spike of the loss a catapult? What `instruments.spikes` says, on a watched record."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dynascope.instruments.spikes.explaining import ASIDE, Explained, explain_spikes
from dynascope.instruments.spikes.finding import WINDOW, find_spikes
from dynascope.watching.diagnosis.base import Finding

if TYPE_CHECKING:
    import xarray as xr

OPENING = 1.5  # factor over the first loss that makes a jump of the first steps
LARGEST = 1e300  # a loss beyond it counts as infinite

# What the log of a spike calls a quantity, and where a record has it; the first that is there.
COLUMNS = {
    "critical_rate": ("critical_learning_rate",),
    "kernel_norm": ("tangent_kernel_norm", "scaled_sharpness", "sharpness"),
}


def catapult(record: xr.Dataset) -> Finding | None:
    """The loss jumps past the critical rate, comes back, and the kernel's norm is lower.

    Measurements are sparse, so each holds until the next; but what was measured before the end of a
    spike says nothing about the time after it, and the next measurement does. Before the first
    step the loss is taken to have been that of the first, so that a run that starts above its
    critical rate has a level to leave.
    """
    loss = np.asarray(record["loss"].values, float)
    loss = np.where(loss > LARGEST, np.inf, loss)
    steps = record["step"].values
    known = loss[np.isfinite(loss)]
    ordered = len(loss) >= 8 and (np.diff(steps) > 0).all()
    if not ordered or not len(known) or known.min() <= 0 or "learning_rate" not in record:
        return None
    loss = np.concatenate([np.full(WINDOW, known[0]), loss])
    log = {
        "step": np.concatenate([steps[0] - np.arange(WINDOW, 0, -1), steps]),
        "loss": loss,
        "learning_rate": _padded(record["learning_rate"].values),
    }
    for name, places in COLUMNS.items():
        values = next((record[p].values for p in places if p in record and _any(record[p])), None)
        if values is None:
            return None
        log[name] = _padded(values)
    whole = explain_spikes(_held(log, [spike.end for spike in find_spikes(loss)]))
    told = [e for e in (*_opening(log), *whole) if e.verdict == "catapult"]
    told = sorted({e.spike.peak: e for e in told}.values(), key=lambda e: e.spike.start)
    return _finding(told, log["step"]) if told else None


def _opening(log: dict[str, np.ndarray]) -> list[Explained]:
    """The first jump above the first loss, in an excerpt that ends soon after it.

    A run that starts above its critical rate jumps while there is no past to take the noise from,
    and its later falls would pass for noise. So it must be larger than a spike that has a past.
    """
    loss = log["loss"]
    high = np.flatnonzero(loss > OPENING * loss[0])
    if not len(high):
        return []
    back = np.flatnonzero(loss[high[0] :] <= loss[0])
    if not len(back):
        return []
    end = high[0] + back[0]
    until = end + ASIDE
    more = 4 * until  # a past without noise
    held = _held(log, [end])
    excerpt = {name: np.concatenate([np.full(more, v[0]), v[:until]]) for name, v in held.items()}
    excerpt["step"] = np.arange(more + until)
    found = explain_spikes(excerpt, least=OPENING)
    return [_moved(e, -more, float(log["step"][e.spike.start - more + 1])) for e in found]


def _moved(found: Explained, rows: int, step: float) -> Explained:
    """A spike of an excerpt by the rows and steps of the log."""
    s = found.spike
    spike = replace(s, start=s.start + rows, peak=s.peak + rows, end=s.end + rows)
    return replace(found, spike=spike, step=step)


def _finding(told: list[Explained], steps: np.ndarray) -> Finding:
    spike = max(told, key=lambda e: e.spike.top / e.spike.before)
    ratio, change = (spike.evidence[n] for n in ("rate over critical", "change of the norm"))
    first, last = (int(steps[i]) for i in (told[0].spike.start + 1, told[-1].spike.end))
    more = f" {len(told)} spikes of this kind, of which this is the largest." * (len(told) > 1)
    return Finding(
        "catapult",
        f"From step {int(spike.step)} the loss jumps from {spike.spike.before:.3g} to "
        f"{spike.spike.top:.3g} where the learning rate is {ratio:.2f} of the critical one, comes "
        f"back by step {int(steps[spike.spike.end])}, and the curvature has changed by "
        f"{change:+.0%}.{more}",
        (max(first, int(steps[WINDOW])), last),
        {
            "spikes": float(len(told)), "factor": spike.evidence["factor"],
            "rate_over_critical": float(ratio), "change_of_the_norm": float(change),
        },
        "a spike beyond the noise and by 1.2, the rate above the critical one, the norm 2 % lower",
        "It ends by itself at a lower curvature; a warm-up or a smaller rate avoids it.",
        "catapult-gd",
    )  # fmt: skip


def _any(values: xr.DataArray) -> bool:
    return bool(np.isfinite(values.values).any())


def _padded(values: np.ndarray) -> np.ndarray:
    values = np.asarray(values, float)
    fine = values[np.isfinite(values)]
    return np.concatenate([np.full(WINDOW, fine[0] if len(fine) else np.nan), values])


def _held(log: dict[str, np.ndarray], ends: list[int]) -> dict[str, np.ndarray]:
    """Every measurement until the next one; after each end the next one at once."""
    return log | {name: _held_column(log[name], ends) for name in COLUMNS}


def _held_column(values: np.ndarray, ends: list[int]) -> np.ndarray:
    at = np.flatnonzero(np.isfinite(values))
    before = np.searchsorted(at, np.arange(len(values)), side="right") - 1
    held = values[at[before]]  # the first row is padded, so there is always one
    for end in ends:
        following = at[at >= end]
        upto = following[0] if len(following) else len(values)
        held[end:upto] = values[following[0]] if len(following) else np.nan
    return held
