"""The common picture of a catapult: loss, its parts, kernel norm and critical rate over time."""

from typing import Any

import numpy as np

from dynascope.core.charts import Line, Mark, Panel, Reference
from dynascope.core.run import Run
from dynascope.studies.catapult.episodes import events, part, taken


def shows(run: Run, spike: str, seed: int = 0) -> str:
    """What a seed's loss does, for a title: the words for a spike only where one comes back.

    Args:
        run: Runs with `loss` at every step.
        spike: What to call spikes that come back, such as "A catapult".
        seed: Which of them is drawn.

    Returns:
        Those words, "Divergence" where the loss leaves finite numbers, "No spike" where it rises
        neither above its first value nor from its lowest so far, "A spike that stays" where it ends
        above the first.

    Example:
        >>> from dynascope.studies.catapult.episodes import planted
        >>> [shows(planted(kind), "A catapult") for kind in ("catapult", "monotone", "diverges")]
        ['A catapult', 'No spike', 'Divergence']
    """
    loss = run["loss"].values[seed]
    if not np.isfinite(loss).all():
        return "Divergence"
    if loss.max() <= loss[0] and not events(run)[seed]:
        return "No spike"
    return spike if loss[-1] <= loss[0] else "A spike that stays"


def drawn(run: Run) -> int:
    """The place of the seed to draw: the first whose loss stays finite, or the first of all."""
    fine = np.isfinite(run["loss"].values).all(axis=-1)
    return int(np.argmax(fine))


def lane_of(run: Run, seed: int = 0) -> Run:
    """One seed, up to the step at which a rule stopped it or it diverged."""
    return run.isel(seed=seed, step=slice(0, taken(run)[seed] + 1))


def time_axis(run: Run, title: str, seed: int = 0, most: int | None = None) -> tuple[Panel, ...]:
    """Loss with its parts, and the kernel's norm, of one seed; spikes are vertical lines."""
    lane = lane_of(run, seed)
    steps = lane["step"].values[:most].astype(float)
    marks: list[Mark] = [
        line(steps, lane["loss"].values[:most], "loss", 0),
        line(steps, part(lane, "top")[:most], "in the top eigenspace", 1),
        line(steps, part(lane, "rest")[:most], "outside", 2),
    ]
    found = events(run)[seed]
    lines = [Reference("x", float(lane["step"].values[c.start])) for c in found][:12]
    lines = [spike for spike in lines if spike.at <= steps[-1]]
    norm = line(steps, part(lane, "norm")[:most], "norm of the kernel", 3)
    return (
        Panel((*marks, *lines), title, "step", "loss", y_scale="log"),
        Panel((norm, *lines), "", "step", "norm of the tangent kernel"),
    )


def line(x: np.ndarray, y: np.ndarray, label: str, group: int) -> Line:
    """A curve on a logarithmic axis, without what is not finite or not positive."""
    fine = np.isfinite(y) & (y > 0)
    return Line(x[fine], y[fine], label, group=group)


def rates(run: Run, rate: Any, entries: int, seed: int = 0) -> Panel:
    """The critical rate of all samples over time, with the learning rate."""
    lane = lane_of(run, seed)
    steps, critical = lane["step"].values.astype(float), entries / part(lane, "norm")
    used = np.broadcast_to(np.asarray(rate, float), run["step"].shape)[: len(steps)]
    marks = (
        line(steps, critical, "critical rate, n / norm", 0),
        Line(steps, used, "learning rate", "theory", 0),
    )
    return Panel(marks, "", "step", "learning rate", y_scale="log")
