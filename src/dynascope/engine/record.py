"""When to look: policies that turn the length of a run into the places to measure at.

For discrete dynamics a place is a step, for flows a time. The first (untrained) and the
last place are always among them.

To add one: derive from `Record` and write `places`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynascope.core.errors import bad
from dynascope.core.spec import Spec, static_field


@dataclass(frozen=True)
class Record(Spec):
    """When to look."""

    def places(self, end: float, discrete: bool) -> np.ndarray:
        """Ascending places from 0 to `end`, both included; whole numbers if discrete."""
        raise NotImplementedError


def _tidy(places: np.ndarray, end: float, discrete: bool) -> np.ndarray:
    """Sorted, without repeats, whole where they must be, with both ends."""
    places = np.concatenate([[0.0], places, [end]])
    places = np.rint(places).astype(np.int64) if discrete else places
    return np.unique(places)


@dataclass(frozen=True)
class Evenly(Record):
    """At most `points` places, evenly spaced.

    Example:
        >>> Evenly(5).places(100, discrete=True).tolist()
        [0, 25, 50, 75, 100]
    """

    points: int = 1000

    def check(self) -> None:
        """Raise for fewer than two points."""
        if self.points < 2:
            raise bad("points", self.points, "at least 2: the first and the last")

    def places(self, end: float, discrete: bool) -> np.ndarray:
        """Evenly spaced places; a whole stride for steps, so that spacing is exactly even."""
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

    def places(self, end: float, discrete: bool) -> np.ndarray:
        """Multiples of the interval, and the end."""
        if discrete and self.interval != int(self.interval):
            raise bad("interval", self.interval, "a whole number of steps")
        return _tidy(np.arange(0, end, self.interval), end, discrete)


@dataclass(frozen=True)
class LogSpaced(Record):
    """About `points` places, evenly spaced in the logarithm from `first` to the end."""

    points: int = 200
    first: float = static_field(1.0)

    def check(self) -> None:
        """Raise for values that give no grid."""
        if self.points < 2:
            raise bad("points", self.points, "at least 2: the first and the last")
        if not 0 < self.first < float("inf"):
            raise bad("first", self.first, "a finite number above 0")

    def places(self, end: float, discrete: bool) -> np.ndarray:
        """A geometric grid, with 0 before it."""
        if self.first >= end:
            raise bad("first", self.first, f"a place before the end, {end}")
        return _tidy(np.geomspace(self.first, end, self.points), end, discrete)


@dataclass(frozen=True)
class At(Record):
    """Exactly these steps or times, with the first and the last."""

    at: tuple[float, ...] = static_field(())

    def places(self, end: float, discrete: bool) -> np.ndarray:
        """The given places."""
        outside = [p for p in self.at if not 0 <= p <= end]
        if outside:
            raise bad("at", outside[0], f"places from 0 to {end}")
        if discrete and any(p != int(p) for p in self.at):
            raise bad("at", self.at, "whole numbers of steps")
        return _tidy(np.asarray(self.at, float), end, discrete)
