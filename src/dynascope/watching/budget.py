"""When to measure, so that the probes take no more than their share of the loop's time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Budget:
    """Counts the loop's own time and that of the probes, and says whether one fits.

    The first measurement is always taken: a record without the start explains little. It compiles
    and warms up, so it is timed apart (`starting`) and not counted. What a measurement will cost
    is taken from the last ones, an expensive one being forgotten slowly: a guess that is too low
    would be paid by the loop. Time of the thread that saves is taken from the loop, too.

    Args:
        share: Time of the probes over time of the loop; infinite for no limit.
        every: Steps between two measurements, if the budget allows.
    """

    def __init__(self, share: float, every: int) -> None:
        self.share, self.every = share, every
        self.loop = self.probes = self.starting = 0.0
        self.measured = self.skipped = 0
        self.saving = 0.0  # seconds of processor that the saving took
        self._expected = 0.0
        self._left: float | None = None  # when the loop got the processor back

    def due(self, call: int) -> bool:
        """Whether to measure at this call, the `call`-th from 0."""
        if call % self.every:
            return False
        fits = self._spent + self._expected <= self.share * self.loop
        if self.measured and not fits:
            self.skipped += 1
            return False
        return True

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Time in here is ours, time between two of these the loop's."""
        entered = time.perf_counter()
        if self._left is not None:
            self.loop += entered - self._left
        try:
            yield
        finally:
            self._left = time.perf_counter()
            self.probes += self._left - entered

    @contextmanager
    def measuring(self) -> Iterator[None]:
        """Around a measurement, within `inside`."""
        entered = time.perf_counter()
        yield
        cost = time.perf_counter() - entered
        if self.measured:
            self._expected = max(cost, 0.8 * self._expected + 0.2 * cost)
        else:
            self.starting = cost
        self.measured += 1

    @property
    def _spent(self) -> float:
        return self.probes - self.starting + self.saving

    @property
    def used(self) -> float:
        """The share used so far, without the first measurement."""
        return self._spent / self.loop if self.loop else 0.0

    def words(self) -> str:
        """What was done, in a sentence."""
        said = (
            f"{self.measured} measurements; after the first ({self.starting:.2g} s) they and the "
        )
        said += f"saving took {self.used:.0%} of the loop's time"
        if self.skipped:
            said += f"; {self.skipped} were left out to keep within {self.share:.0%}"
        return said
