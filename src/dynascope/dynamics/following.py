"""Learning rates that follow what is measured on the way.

The engine measures the probes that a rate follows, every so many steps, and records the rate as
`learning_rate` and the sum of the rates so far as `time`.

To add one: derive from `Following`, name what it `follows`, and write `rate`.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.core.errors import bad
from dynascope.dynamics.schedules import Schedule


@dataclass(frozen=True)
class Following(Schedule):
    """A learning rate that is worked out anew from measurements every `every` steps."""

    _: KW_ONLY
    every: int = 1

    @property
    def follows(self) -> tuple[str, ...]:
        """The names of the probes that are measured; each measures one number."""
        raise NotImplementedError

    def begin(self) -> Any:
        """What is remembered from one measurement to the next, before the first."""
        return ()

    def rate(
        self, seen: dict[str, jax.Array], last: jax.Array | None, memory: Any
    ) -> tuple[jax.Array, Any]:
        """The rate from here on, and what is remembered.

        Args:
            seen: What the probes measure now, by name.
            last: The rate until now; None at the first step.
            memory: What the last call remembered.
        """
        raise NotImplementedError

    def elapsed(self, steps: np.ndarray) -> np.ndarray:
        """Only the run knows it."""
        raise TypeError("a rate that follows a measurement has no time before the run")


@dataclass(frozen=True)
class Multiple(Following):
    """`factor` times what a probe measures every `every` steps.

    A value that is no finite number above 0 (a critical rate where nothing curves up) leaves
    the rate as it is; before the first such value it is `first`.

    Example:
        >>> rate, _ = Multiple("critical_learning_rate", 0.5).rate(
        ...     {"critical_learning_rate": jnp.asarray(0.2)}, None, ())
        >>> round(float(rate), 6)
        0.1
    """

    of: str = "critical_learning_rate"
    factor: float = 1.0
    first: float = 1e-3

    def check(self) -> None:
        """Raise for an interval or numbers that are not positive."""
        if self.every < 1:
            raise bad("every", self.every, "a whole number of at least 1")
        for name in ("factor", "first"):
            if not 0 < getattr(self, name) < float("inf"):
                raise bad(name, getattr(self, name), "a finite number above 0")

    @property
    def follows(self) -> tuple[str, ...]:
        """The probe."""
        return (self.of,)

    def rate(
        self, seen: dict[str, jax.Array], last: jax.Array | None, memory: Any
    ) -> tuple[jax.Array, Any]:
        """The multiple, or the last rate."""
        value = seen[self.of]
        before = jnp.asarray(self.first, value.dtype) if last is None else last
        return jnp.where(jnp.isfinite(value) & (value > 0), self.factor * value, before), memory
