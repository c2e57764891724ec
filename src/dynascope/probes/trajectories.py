"""Detectors for the path of an output: in which order concepts are learned, and swing-by.

Plain numpy. A trajectory is the output at the test point in concept coordinates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from dynascope.core.errors import bad
from dynascope.probes.curves import SMALLEST, ignored_size
from dynascope.theories.swing_by.stages import crossing_times


def half_times(output: ArrayLike, target: ArrayLike, times: ArrayLike) -> np.ndarray:
    """When each output coordinate first reaches half its target.

    Args:
        output: Trajectories, (..., time, concept).
        target: Where they should go, (concept,), none of them zero.
        times: (time,).

    Returns:
        Times, (..., concept); infinite where it never happens.

    Example:
        >>> half_times([[0.0, 0.0], [0.2, 2.0], [1.0, 2.0]], [1.0, 2.0], [0.0, 1.0, 2.0]).tolist()
        [1.375, 0.5]
    """
    path, goal = _checked(output, target)
    if not goal.all():
        raise bad("target", goal.tolist(), "no zero: a coordinate without target has no half")
    return crossing_times(np.moveaxis(path / goal, -2, 0), times, 0.5)


def _checked(output: ArrayLike, target: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    path, goal = np.asarray(output, float), np.asarray(target, float)
    if path.ndim < 2 or goal.shape != path.shape[-1:]:
        raise bad("output", path.shape, f"(..., time, {goal.size}), as the target has")
    if not np.isfinite(path).all():
        raise bad("output", "NaN or infinity", "finite numbers", "leave out runs that diverged")
    return path, goal


@dataclass(frozen=True)
class LearningOrder:
    """Coordinates in the order in which they were learned, and when; the never-learned last."""

    order: tuple[int, ...]
    times: tuple[float, ...]  # by coordinate
    margin: float  # smallest gap between consecutive times, as share of the later one


def learning_order(output: ArrayLike, target: ArrayLike, times: ArrayLike) -> LearningOrder:
    """Order of the half-crossings of one trajectory.

    Args:
        output: (time, concept).
        target: (concept,).
        times: (time,).

    Returns:
        Order, times and how clear the order is; a margin of 0 means a tie.

    Example:
        >>> learning_order([[0.0, 0.0], [0.2, 2.0], [1.0, 2.0]], [1.0, 2.0], [0, 1, 2]).order
        (1, 0)
    """
    if np.ndim(output) != 2:
        raise bad("output", np.shape(output), "one trajectory, (time, concept)")
    found = half_times(output, target, times)
    order = np.argsort(found, kind="stable")
    learned = found[order][np.isfinite(found[order])]
    late = np.where(learned[1:] > 0, learned[1:], 1.0)
    margin = float(np.min(np.diff(learned) / late, initial=1.0))
    return LearningOrder(tuple(order.tolist()), tuple(found.tolist()), margin)


@dataclass(frozen=True)
class SwingBy:
    """A reversal of the output towards a training cluster, or the closest thing to one.

    `size` is the rise of half the squared distance to the target, as share of its first
    value: the bump of the test loss. `approach` is the fall of half the squared distance to
    the cluster meanwhile, in the same unit.
    """

    happened: bool
    size: float
    approach: float
    cluster: int
    start: float  # times
    end: float


def swing_by(
    output: ArrayLike,
    target: ArrayLike,
    clusters: ArrayLike,
    times: ArrayLike | None = None,
    threshold: float | Literal["noise"] = SMALLEST,
) -> SwingBy:
    """Does the output turn away from the target and towards a training cluster?

    Takes the largest rise of the distance to the target after a minimum, and the cluster that
    comes closest nearer meanwhile.

    Args:
        output: (time, concept).
        target: (concept,).
        clusters: Centres of the training clusters, (cluster, concept).
        times: (time,); sample numbers if None.
        threshold: Both size and approach must exceed it; as in `curves.descents`.

    Returns:
        What was found; `happened` says whether it counts.

    Example:
        >>> path = [[0.0, 0.0], [0.8, 1.8], [0.1, 2.0], [1.0, 2.0]]
        >>> found = swing_by(path, [1.0, 2.0], [[1.0, 0.0], [0.0, 2.0]])
        >>> found.happened, found.cluster
        (True, 1)
    """
    path, goal = _checked(output, target)
    centres = np.asarray(clusters, float)
    if path.ndim != 2 or centres.ndim != 2 or centres.shape[-1] != goal.size:
        raise bad("clusters", centres.shape, f"(cluster, {goal.size}), and one trajectory")
    t = np.arange(len(path), dtype=float) if times is None else np.asarray(times, float)
    loss = _half_square(path - goal)
    if loss[0] <= 0:
        raise bad("output", path[0].tolist(), "a start that is not the target")
    start, end = _largest_rise(loss)
    near = _half_square(path[:, None] - centres)  # (time, cluster)
    cluster = int((near[start] - near[end]).argmax())
    ends = [start, end]
    size = (loss[end] - loss[start]) / loss[0]
    approach = (near[start, cluster] - near[end, cluster]) / loss[0]
    happened = all(
        move > ignored_size(curve, threshold, loss[0])[ends].max() / loss[0]
        for move, curve in ((size, loss), (approach, near[:, cluster]))
    )
    found = float(size), float(approach), cluster, float(t[start]), float(t[end])
    return SwingBy(happened, *found)


def _half_square(difference: np.ndarray) -> np.ndarray:
    return (difference**2).sum(axis=-1) / 2


def _largest_rise(loss: np.ndarray) -> tuple[int, int]:
    """Samples between which the loss rises most; equal where it never does."""
    end = int((loss - np.minimum.accumulate(loss)).argmax())
    return int(loss[: end + 1].argmin()), end
