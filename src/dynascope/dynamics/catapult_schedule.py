"""A rate that is raised past the critical one again and again, once each catapult is over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from dynascope.core.errors import bad
from dynascope.core.spec import later_field
from dynascope.dynamics.following import Following


@dataclass(frozen=True)
class CatapultSchedule(Following):
    """`factor` times the critical rate, set anew whenever the loss is back below its last level.

    zhu2024 chapter 5 names it as future work. A rate above critical sets off a catapult: the
    loss rises, the curvature falls, the loss comes back. While it is above where it was the rate
    stays; then it is raised to `factor` times the critical rate of now. The curvature may grow
    back quickly after a catapult, so the rate never stays above `factor` times what is measured.
    Once the catapult of the last of `most` raises is over it is at most `last` times the critical
    rate, so that training converges. Measured every `every` steps.

    Args:
        factor: Above 1 and, for networks, well below 2: twice the critical rate diverges on
            quadratic models.
        most: How many times the rate is raised.
        last: Multiple of the critical rate from then on.
        of: The name of the probe of the critical rate.
        loss: The name of the probe of the loss.
        first: The rate until a critical one is known.

    Example:
        >>> rule = CatapultSchedule(factor=1.5, most=2)
        >>> seen = lambda loss: {"critical_learning_rate": jnp.asarray(2.0),
        ...                      "loss": jnp.asarray(loss)}
        >>> rate, memory = rule.rate(seen(1.0), None, rule.begin())
        >>> float(rate)
        3.0
        >>> float(rule.rate(seen(5.0), rate, memory)[0])  # above 1: it stays
        3.0
    """

    factor: float = 1.5
    most: int = 6
    last: float = 0.5
    of: str = "critical_learning_rate"
    loss: str = "loss"
    first: float = later_field(1e-3)

    def check(self) -> None:
        """Raise for multiples and counts that make no schedule."""
        if self.every < 1:
            raise bad("every", self.every, "a whole number of at least 1")
        if not 1 < self.factor < float("inf"):
            raise bad("factor", self.factor, "a finite number above 1")
        if self.most < 0:
            raise bad("most", self.most, "a whole number of at least 0")
        if not 0 < self.last <= 1:
            raise bad("last", self.last, "a number above 0 and at most 1")
        if not 0 < self.first < float("inf"):
            raise bad("first", self.first, "a finite number above 0")

    @property
    def follows(self) -> tuple[str, ...]:
        """The two probes."""
        return self.of, self.loss

    def begin(self) -> Any:
        """No level yet, and no raise; they count one more when the last catapult is over."""
        return jnp.asarray(jnp.inf), jnp.asarray(0, jnp.int32)

    def rate(
        self, seen: dict[str, jax.Array], last: jax.Array | None, memory: Any
    ) -> tuple[jax.Array, Any]:
        """Raised, kept, or the last one."""
        critical, loss = seen[self.of], seen[self.loss]
        level, raised = memory
        level = level.astype(loss.dtype)
        known = jnp.isfinite(critical) & (critical > 0)
        low, high = self.last * critical, self.factor * critical
        first = jnp.asarray(self.first, critical.dtype)
        before = jnp.where(known, low, first) if last is None else last
        over = (loss < level) & known
        more, ended = over & (raised < self.most), raised > self.most
        limit = jnp.where(known, jnp.where(ended, low, high), before)
        rate = jnp.where(more, limit, jnp.minimum(before, limit))
        rate = jnp.where(over & ~more, low, rate)
        raised = jnp.minimum(raised + over.astype(jnp.int32), self.most + 1)
        return rate, (jnp.where(over, loss, level), raised)
