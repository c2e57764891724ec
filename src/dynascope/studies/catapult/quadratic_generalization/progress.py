"""The best test loss and accuracy by the time that the training loss has come down so far."""

from typing import Any

import numpy as np

from dynascope.studies.catapult.quadratic_generalization.starts import Curve


def best_until(curve: Curve, level: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Best test loss and accuracy before the training loss is first down to a level.

    Args:
        curve: Of some rates, (rates, seeds, looks).
        level: Of the training loss, (seeds,); minus infinity for all of training.

    Returns:
        Two arrays (rates, seeds). Between the last look above the level and the first one down
        to it values are interpolated in the logarithm of the training loss.

    Example:
        >>> loss, test = np.array([[[1.0, 0.1, 0.01]]]), np.array([[[3.0, 2.0, 1.0]]])
        >>> found, _ = best_until(Curve(loss, test, test), np.array([0.1**1.5]))
        >>> round(float(found[0, 0]), 6)
        1.5
    """
    best, accuracy = np.empty(curve.loss.shape[:2]), np.empty(curve.loss.shape[:2])
    for rate, seed in np.ndindex(*best.shape):
        loss, test, share = (part[rate, seed] for part in curve)
        down = np.flatnonzero(loss <= level[seed])
        end = int(down[0]) if len(down) else len(loss)
        seen = [
            np.append(part[:end], _between(loss, part, end, float(level[seed])))
            for part in (test, share)
        ]
        best[rate, seed] = np.where(np.isfinite(seen[0]), seen[0], np.inf).min()
        accuracy[rate, seed] = np.nan_to_num(seen[1]).max()
    return best, accuracy


def _between(loss: np.ndarray, part: np.ndarray, end: int, level: Any) -> np.ndarray:
    """The value at the level itself, between two looks; none if the level is not reached."""
    if end in (0, len(loss)):
        return part[:1]
    ahead = np.log(loss[end - 1] / level) / np.log(loss[end - 1] / loss[end])
    return part[end - 1] + ahead * (part[end] - part[end - 1])
