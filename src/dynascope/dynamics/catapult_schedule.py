"""A rate that is raised past the critical one again and again, once each catapult is over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from dynascope.core.errors import bad
from dynascope.dynamics.following import Following


@dataclass(frozen=True)
class CatapultSchedule(Following):
    """`factor` times the critical rate, set anew whenever the loss is back below its last level.

    zhu2024 chapter 5 names it as future work. A rate above critical sets off a catapult: the
    loss rises, the curvature falls, the loss comes back. While it is above where it was the rate
    stays; then it is raised to `factor` times the critical rate of now. The curvature may grow
    back quickly after a catapult, so the rate never stays above `factor` times what is measured.
    After `most` raises it is `last` times the critical rate, so that training converges.
    Measured every `every` steps.

    Args:
        factor: Above 1 and, for networks, well below 2: twice the critical rate diverges on
            quadratic models.
        most: How many times the rate is raised.
        last: Multiple of the critical rate from then on.
        of: The name of the probe of the critical rate.
        loss: The name of the probe of the loss.

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

    @property
    def follows(self) -> tuple[str, ...]:
        """The two probes."""
        return self.of, self.loss

    def begin(self) -> Any:
        """No level yet, and no raise."""
        return jnp.asarray(jnp.inf), jnp.asarray(0, jnp.int32)

    def rate(
        self, seen: dict[str, jax.Array], last: jax.Array | None, memory: Any
    ) -> tuple[jax.Array, Any]:
        """Raised, kept, or the last one."""
        critical, loss = seen[self.of], seen[self.loss]
        level, raised = memory
        level = level.astype(loss.dtype)
        known = jnp.isfinite(critical) & (critical > 0)
        before = self.last * critical if last is None else last
        over = (loss < level) & known
        more = over & (raised < self.most)
        limit = jnp.where(known, self.factor * critical, before)
        rate = jnp.where(more, limit, jnp.minimum(before, limit))
        rate = jnp.where(over & ~more, self.last * critical, rate)
        return rate, (jnp.where(over, loss, level), raised + more.astype(jnp.int32))
