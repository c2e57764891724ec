"""Events of the random starts of Fig. 5, one number a start, and planted ones."""

import numpy as np

from dynascope.core.run import Run
from dynascope.probes.curves import descents
from dynascope.studies.swing_by.jacobian_stages.runs import Settings, random, study
from dynascope.theories.swing_by.stages import half_crossings


def entries_of(random: Run) -> dict[str, np.ndarray]:
    """When entries pass one half and peak, and what is left of them, one number a start."""
    w, t = random["input_jacobian"].values, random["time"].values  # w: (seed, step, d, d)
    half, seeds = half_crossings(w, t), np.arange(len(w))
    found = {"start": np.zeros(len(w)), "half 11": half[:, 0], "half 22": half[:, 1]}
    for name, entry in (("12", w[:, :, 0, 1]), ("11", w[:, :, 0, 0])):
        size = np.abs(entry)
        peak = size.argmax(axis=1)
        found[f"peak {name}"] = t[peak]
        found[f"left {name}"] = size[:, -1] / size[seeds, peak]
        found[f"w22 at peak {name}"] = w[seeds, peak, 1, 1]
    return found


def rises_of(random: Run) -> dict[str, np.ndarray]:
    """When the test loss begins and ends its first rise, one number a start, or NaN."""
    t, found = random["time"].values, {}
    rises = [descents(loss, t).ascents for loss in random["test_loss"].values]
    found["rise start"] = np.array([r[0].start.time if r else np.nan for r in rises])
    found["rise end"] = np.array([r[0].end.time if r else np.nan for r in rises])
    return found


@study.finding(random)
def entries(s: Settings, random: Run) -> dict[str, np.ndarray]:
    """Events of the entries of the random starts."""
    return entries_of(random)


@study.finding(entries, random)
def events(s: Settings, entries: dict[str, np.ndarray], random: Run) -> dict[str, np.ndarray]:
    """The same with those of the test loss."""
    return entries | rises_of(random)


@study.finding(random)
def planted_random(s: Settings, random: Run) -> Run:
    """w22 grows, w12 peaks on the way, the loss rises while it falls, then w11 grows."""
    along = np.linspace(0, 10, random.sizes["step"])
    w = np.zeros(random["input_jacobian"].shape)
    w[..., 1, 1] = 1 / (1 + np.exp(-4 * (along - 2)))
    w[..., 0, 1] = w[..., 1, 0] = 0.3 * np.exp(-4 * (along - 2.2) ** 2)
    w[..., 0, 0] = 1 / (1 + np.exp(-4 * (along - 7)))
    loss = np.interp(along, [0, 2.5, 4, 10], [1.0, 0.4, 0.5, 0.0])
    # The entries that no concept meets are anything: the loss at the test point has no part.
    w[..., 2, 2] = np.cos(along)
    return random.planted(
        input_jacobian=w, test_loss=np.broadcast_to(loss, random["test_loss"].shape).copy()
    )


@study.finding(planted_random)
def planted_entries(s: Settings, planted: Run) -> dict[str, np.ndarray]:
    """Events of the entries of the planted starts."""
    return entries_of(planted)


@study.finding(planted_entries, planted_random)
def planted_events(s: Settings, entries: dict[str, np.ndarray], planted: Run) -> dict:
    """The same with those of the test loss."""
    return entries | rises_of(planted)


@study.finding(planted_random)
def planted_loss(s: Settings, planted: Run) -> Run:
    """The planted starts with the loss that their first two rows and columns have."""
    means = np.array(planted.experiment.task.means)
    error = planted["input_jacobian"].values[..., :, :2] @ means - np.append(means, 0.0)
    return planted.planted(test_loss=(error**2).sum(axis=-1) / 2)
