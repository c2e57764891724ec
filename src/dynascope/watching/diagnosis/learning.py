"""Rules about what is being learned: plateaus, held-out curves, lazy or feature learning."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dynascope.probes.curves import descents
from dynascope.watching.diagnosis.base import Finding, measured, smoothed

if TYPE_CHECKING:
    import xarray as xr

FLAT = np.log(1.1)  # by which factor a plateau may move
LONG = 0.15  # share of the steps of the fall that makes a plateau
DROP = np.log(2)  # by which factor the loss falls after it
FLOOR = 0.01  # share of the first loss below which nothing is left to learn
LAZY, FEATURES = 0.1, 0.5  # relative change of the tangent kernel
OWN = {"loss", "learning_rate"}


def incremental_learning(record: xr.Dataset) -> Finding | None:
    """The loss rests on a plateau, then drops, and the weights' change gains rank in the drop."""
    loss = np.asarray(record["loss"].values, float)
    if len(loss) < 50 or not np.isfinite(loss).all() or "update_stable_rank" not in record:
        return None
    steps = record["step"].values
    curve = smoothed(loss, len(loss) // 50)
    rest = _plateau(curve) if curve[0] > 0 else None
    if rest is None:
        return None
    begin, end = rest
    ranks = record["update_stable_rank"].max("weight").dropna("step")
    before = ranks.sel(step=slice(steps[begin], steps[end])).values
    after = ranks.sel(step=slice(steps[end], None)).values
    if not len(before) or not len(after) or after.max() < np.median(before) + 0.2:
        return None
    return Finding(
        "plateau with rank increase",
        f"The loss rests at {curve[end]:.3g} from step {steps[begin]} to {steps[end]}, then falls "
        f"to {curve[end:].min():.3g} while the stable rank of the weights' change goes from "
        f"{np.median(before):.2f} to {after.max():.2f}.",
        (int(steps[begin]), int(steps[-1])),
        {
            "plateau": float(curve[end]),
            "rank_before": float(np.median(before)),
            "rank_after": float(after.max()),
        },
        "within a tenth over 15 % of the steps of the fall, halved afterwards, and 0.2 more rank",
        "A plateau of this kind ends by itself; a larger start or rate shortens it.",
        "rank-staircase",
    )  # fmt: skip


def _plateau(curve: np.ndarray) -> tuple[int, int] | None:
    """The longest stretch on which the curve hardly moves, as a factor, with a fall after it.

    What comes after the fall is over counts for nothing: a run may go on there for as long as it
    likes.
    """
    logs = np.log(np.maximum(curve, FLOOR * curve[0]))
    logs = logs[: np.argmax(logs <= logs.min() + FLAT) + 1]
    lowest = np.minimum.accumulate(logs[::-1])[::-1]  # from here on
    best: tuple[int, int] | None = None
    begin = 0
    for end in range(len(logs)):
        while np.ptp(logs[begin : end + 1]) > FLAT:
            begin += 1
        longer = best is None or end - begin > best[1] - best[0]
        if longer and logs[end] - lowest[end] >= DROP:
            best = begin, end
    return best if best and best[1] - best[0] >= LONG * len(logs) else None


def swing_by(record: xr.Dataset) -> Finding | None:
    """A held-out metric falls, rises and falls again while the training loss falls."""
    names = [str(name) for name, v in record.data_vars.items() if v.dims == ("step",)]
    for name in names:
        if "test" not in name and "valid" not in name and "held" not in name:
            continue
        steps, values = measured(record, name)
        if len(values) < 8 or "acc" in name:
            continue
        found = descents(values, threshold="noise")
        rises = [leg for leg in found.ascents if leg.size > 0.02]
        if not rises or found.n_descents < 2 or found.legs[-1].kind != "descent":
            continue
        rise = max(rises, key=lambda leg: leg.size)
        last = found.legs[-1]
        training = measured(record, "loss")[1]
        if last.end.value > rise.start.value or training[-1] > training[0]:
            continue
        return Finding(
            "swing-by",
            f"{name} falls to {rise.start.value:.3g}, rises to {rise.end.value:.3g} by step "
            f"{steps[rise.end.index]}, and falls again to {last.end.value:.3g}.",
            (int(steps[rise.start.index]), int(steps[last.end.index])),
            {"low": rise.start.value, "high": rise.end.value, "end": last.end.value},
            "a rise beyond the noise and 2 % of the first value, with a deeper fall after it",
            "Do not stop early on the first rise of this metric.",
            "swing-by",
        )
    return None


def lazy_or_features(record: xr.Dataset) -> Finding | None:
    """The tangent kernel stays, or changes by half or more."""
    steps, drift = measured(record, "kernel_drift")
    if len(drift) < 3:
        return None
    largest = float(drift.max())
    if LAZY < largest < FEATURES:
        return None
    lazy = largest <= LAZY
    _, loss = measured(record, "loss")
    if lazy and loss.min() > 0.5 * loss[0]:
        return None  # nothing has been learned yet
    words = (
        f"The tangent kernel has changed by {largest:.0%} only: learning is that of a linear model."
        if lazy
        else f"The tangent kernel has changed by {largest:.0%}: features are being learned."
    )
    return Finding(
        "lazy learning" if lazy else "feature learning",
        words,
        (int(steps[0]), int(steps[-1])),
        {"kernel_drift": largest},
        "a change of at most 10 %, or of at least 50 %",
        "A smaller output scale or a larger rate brings features." if lazy else "",
        "linearity-width",
    )
