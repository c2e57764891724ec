"""Learning rates that change with the step, with their elapsed gradient-flow time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.core.errors import bad
from dynascope.core.spec import Spec, static_field


@dataclass(frozen=True)
class Schedule(Spec):
    """A learning rate as a function of the step."""

    def __call__(self, step: Any) -> jax.Array:
        """The learning rate of a step; traceable."""
        raise NotImplementedError

    def elapsed(self, steps: np.ndarray) -> np.ndarray:
        """Sum of the rates of the steps before each of `steps`."""
        raise NotImplementedError


@dataclass(frozen=True)
class Piecewise(Schedule):
    """`rates[i]` from step `starts[i]` on; `starts[0]` is 0.

    Example:
        >>> Piecewise(rates=(0.1, 0.5), starts=(0, 10)).elapsed(np.array([0, 10, 12])).tolist()
        [0.0, 1.0, 2.0]
    """

    rates: tuple[float, ...]
    starts: tuple[int, ...]

    def check(self) -> None:
        """Raise unless the stretches follow each other from step 0."""
        if len(self.rates) != len(self.starts) or not self.rates:
            raise bad("rates", self.rates, f"one rate per start, {len(self.starts)}")
        if self.starts[0] != 0 or sorted(set(self.starts)) != list(self.starts):
            raise bad("starts", self.starts, "ascending steps that begin with 0")
        if min(self.rates) < 0 or not np.isfinite(self.rates).all():
            raise bad("rates", self.rates, "finite numbers of at least 0")

    def __call__(self, step: Any) -> jax.Array:
        """The rate of the stretch that holds the step."""
        index = jnp.searchsorted(jnp.asarray(self.starts), step, side="right") - 1
        return jnp.asarray(self.rates)[index]

    def elapsed(self, steps: np.ndarray) -> np.ndarray:
        """Sum of the rates of the steps before each of `steps`."""
        ends = np.append(self.starts[1:], np.inf)
        lengths = np.clip(np.asarray(steps)[..., None], self.starts, ends) - self.starts
        return lengths @ np.asarray(self.rates)


@dataclass(frozen=True)
class Cosine(Schedule):
    """Half a cosine from `peak` at step 0 to `final` at `steps`, constant afterwards.

    Example:
        >>> round(float(Cosine(peak=1.0, steps=10)(5)), 6)
        0.5
    """

    peak: float
    steps: int
    final: float = static_field(0.0)

    def check(self) -> None:
        """Raise for rates or lengths that make no schedule."""
        if self.steps < 1:
            raise bad("steps", self.steps, "a whole number of at least 1")
        if not (0 < self.peak < float("inf")) or self.final < 0:
            raise bad("peak", self.peak, "a finite number above 0, with final of at least 0")

    def __call__(self, step: Any) -> jax.Array:
        """The rate of a step."""
        share = jnp.minimum(_number(step) / self.steps, 1.0)
        return self.final + (self.peak - self.final) * (1 + jnp.cos(jnp.pi * share)) / 2

    def elapsed(self, steps: np.ndarray) -> np.ndarray:
        """Sum of the rates of the steps before each of `steps`."""
        k = np.arange(self.steps)
        rates = self.final + (self.peak - self.final) * (1 + np.cos(np.pi * k / self.steps)) / 2
        total = np.concatenate([[0.0], np.cumsum(rates)])
        inside = np.minimum(steps, self.steps)
        return total[inside] + self.final * (np.asarray(steps) - inside)


@dataclass(frozen=True)
class Warmup(Schedule):
    """Rises evenly to the first rate of another schedule over `steps`, then follows it.

    Args:
        steps: How long; step k of them has (k + 1) / steps of that rate.
        after: What follows, counted from its own step 0; `Piecewise((0.3,), (0,))` stays.

    Example:
        >>> rate = Warmup(4, Piecewise((0.8,), (0,)))
        >>> [round(float(rate(k)), 6) for k in range(6)]
        [0.2, 0.4, 0.6, 0.8, 0.8, 0.8]
        >>> float(rate.elapsed(np.array([4]))[0])
        2.0
    """

    steps: int
    after: Schedule

    def check(self) -> None:
        """Raise for a warm-up without steps."""
        if self.steps < 1:
            raise bad("steps", self.steps, "a whole number of at least 1")

    def __call__(self, step: Any) -> jax.Array:
        """The rate of a step."""
        rising = self.after(jnp.asarray(0)) * (_number(step + 1) / self.steps)
        return jnp.where(step < self.steps, rising, self.after(jnp.maximum(step - self.steps, 0)))

    def elapsed(self, steps: np.ndarray) -> np.ndarray:
        """Sum of the rates of the steps before each of `steps`."""
        steps = np.asarray(steps)
        k = np.minimum(steps, self.steps)
        first = self.after.elapsed(np.asarray([1]))[0]  # the rate of its step 0
        later = np.maximum(steps - self.steps, 0)
        return first * k * (k + 1) / (2 * self.steps) + self.after.elapsed(later)


@dataclass(frozen=True)
class Cyclical(Schedule):
    """From `low` to `high` and back, evenly, once every `period` steps (Smith's triangles).

    Example:
        >>> rate = Cyclical(1.0, 3.0, period=4)
        >>> [float(rate(k)) for k in range(6)]
        [1.0, 2.0, 3.0, 2.0, 1.0, 2.0]
        >>> float(rate.elapsed(np.array([6]))[0])
        11.0
    """

    low: float
    high: float
    period: int

    def check(self) -> None:
        """Raise for rates and periods that make no cycle."""
        if self.period < 2:
            raise bad("period", self.period, "a whole number of at least 2")
        if not 0 <= self.low < self.high < float("inf"):
            raise bad("low", self.low, f"a number from 0 to below high, {self.high}")

    def __call__(self, step: Any) -> jax.Array:
        """The rate of a step."""
        share = _number(step % self.period) / self.period
        return self.low + (self.high - self.low) * (1 - jnp.abs(2 * share - 1))

    def elapsed(self, steps: np.ndarray) -> np.ndarray:
        """Sum of the rates of the steps before each of `steps`."""
        share = np.arange(self.period) / self.period
        rates = self.low + (self.high - self.low) * (1 - np.abs(2 * share - 1))
        total = np.concatenate([[0.0], np.cumsum(rates)])
        whole, rest = np.divmod(np.asarray(steps), self.period)
        return whole * total[-1] + total[rest]


def _number(step: Any) -> jax.Array:
    """A whole number in the precision of the run: a quotient of int32 would be float32."""
    return jnp.asarray(step, float)
