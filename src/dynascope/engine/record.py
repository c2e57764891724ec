"""When to measure: policies that turn the length of a run into the steps to record.

For flows they are times. The first (untrained) and the last one are always among them.
`Stop` and `Keep`, which look at what is recorded, are found here too.

To add one: derive from `Record` and write `recorded_at`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynascope.core.errors import bad
from dynascope.core.spec import Spec, static_field
from dynascope.engine.keeping import Keep
from dynascope.engine.stopping import Stop

__all__ = ["At", "Evenly", "Every", "Keep", "LogSpaced", "OnChange", "Record", "Stop"]


@dataclass(frozen=True)
class Record(Spec):
    """When to measure."""

    def recorded_at(self, end: float, discrete: bool) -> np.ndarray:
        """Ascending steps or times from 0 to `end`, both included; whole numbers if discrete."""
        raise NotImplementedError

    @property
    def watches(self) -> str | None:
        """The variable that decides which rows are kept; None where all are."""
        return None

    def keep(self, values: np.ndarray, last: np.ndarray | None) -> np.ndarray:
        """Which of the new rows to keep, given the watched variable and its last kept row.

        Args:
            values: The watched variable, (lanes, rows, ...).
            last: Its last kept row, (lanes, ...), or None before the first.

        Returns:
            One bool per row.
        """
        return np.ones(values.shape[1], bool)


def _tidy(chosen: np.ndarray, end: float, discrete: bool) -> np.ndarray:
    """Sorted, without repeats, whole where they must be, with both ends."""
    chosen = np.concatenate([[0.0], chosen, [end]])
    return np.unique(np.rint(chosen).astype(np.int64) if discrete else chosen)


@dataclass(frozen=True)
class Evenly(Record):
    """At most `points` steps or times, evenly spaced.

    Example:
        >>> Evenly(5).recorded_at(100, discrete=True).tolist()
        [0, 25, 50, 75, 100]
    """

    points: int = 1000

    def check(self) -> None:
        """Raise for fewer than two points."""
        if self.points < 2:
            raise bad("points", self.points, "at least 2: the first and the last")

    def recorded_at(self, end: float, discrete: bool) -> np.ndarray:
        """Evenly spaced; a whole stride for steps, so that spacing is exactly even."""
        if not discrete:
            return _tidy(np.linspace(0, end, self.points), end, discrete)
        stride = max(1, int(np.ceil(end / (self.points - 1))))
        return _tidy(np.arange(0, end + 1, stride), end, discrete)


@dataclass(frozen=True)
class Every(Record):
    """Every `interval` steps (or units of time)."""

    interval: float = static_field(1.0)

    def check(self) -> None:
        """Raise for an interval that is not positive."""
        if not 0 < self.interval < float("inf"):
            raise bad("interval", self.interval, "a finite number above 0")

    def recorded_at(self, end: float, discrete: bool) -> np.ndarray:
        """Multiples of the interval, and the end."""
        if discrete and self.interval != int(self.interval):
            raise bad("interval", self.interval, "a whole number of steps")
        return _tidy(np.arange(0, end, self.interval), end, discrete)


@dataclass(frozen=True)
class LogSpaced(Record):
    """About `points` steps or times, evenly spaced in the logarithm from `first` to the end."""

    points: int = 200
    first: float = static_field(1.0)

    def check(self) -> None:
        """Raise for values that give no grid."""
        if self.points < 2:
            raise bad("points", self.points, "at least 2: the first and the last")
        if not 0 < self.first < float("inf"):
            raise bad("first", self.first, "a finite number above 0")

    def recorded_at(self, end: float, discrete: bool) -> np.ndarray:
        """A geometric grid, with 0 before it."""
        if self.first >= end:
            raise bad("first", self.first, f"a step or time before the end, {end}")
        return _tidy(np.geomspace(self.first, end, self.points), end, discrete)


@dataclass(frozen=True)
class At(Record):
    """Exactly these steps or times, with the first and the last."""

    at: tuple[float, ...] = static_field(())

    def recorded_at(self, end: float, discrete: bool) -> np.ndarray:
        """The given steps or times."""
        outside = [p for p in self.at if not 0 <= p <= end]
        if outside:
            raise bad("at", outside[0], f"steps or times from 0 to {end}")
        if discrete and any(p != int(p) for p in self.at):
            raise bad("at", self.at, "whole numbers of steps")
        return _tidy(np.asarray(self.at, float), end, discrete)


@dataclass(frozen=True)
class OnChange(Record):
    """Measures every `interval` steps, keeps what is new: a change of `of` by a share `by`.

    A row is kept if the watched variable has changed in any lane by more than `by` times its
    last kept value; the first and the last row are always kept. Long plateaus then cost
    nothing in the record, and events are resolved to `interval`.

    Example:
        >>> policy = OnChange(of="loss", by=0.5)
        >>> policy.keep(np.array([[1.0, 0.9, 0.4, 0.39, 0.1]]), None).tolist()
        [True, False, True, False, True]
    """

    of: str = "loss"
    by: float = static_field(0.1)
    interval: float = static_field(1.0)

    def check(self) -> None:
        """Raise for an interval or a share that is not positive."""
        Every(self.interval)
        if not 0 < self.by < float("inf"):
            raise bad("by", self.by, "a finite number above 0")

    @property
    def watches(self) -> str:
        """The variable whose changes count."""
        return self.of

    def recorded_at(self, end: float, discrete: bool) -> np.ndarray:
        """Multiples of the interval, and the end."""
        return Every(self.interval).recorded_at(end, discrete)

    def keep(self, values: np.ndarray, last: np.ndarray | None) -> np.ndarray:
        """Rows that differ enough from the last kept one."""
        kept = np.zeros(values.shape[1], bool)
        for row in range(values.shape[1]):
            now = values[:, row]
            if last is None or _moved(now, last, self.by):
                kept[row], last = True, now
        return kept


def _moved(now: np.ndarray, last: np.ndarray, by: float) -> bool:
    """Whether any lane changed by more than a share, or became NaN because it diverged."""
    with np.errstate(invalid="ignore"):
        changed = np.abs(now - last) > by * np.abs(last)
    return bool((changed | (np.isnan(now) != np.isnan(last))).any())
