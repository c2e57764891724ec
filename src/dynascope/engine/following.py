"""The learning rate of a lane that follows a measurement: its rate, its time, its probes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from dynascope.core.leaves import with_leaves
from dynascope.dynamics.base import Dynamics, State
from dynascope.dynamics.following import Following
from dynascope.engine.stopping import NO_MORE

Measure = Callable[[State, dict[str, Any]], tuple[dict[str, jax.Array], dict[str, Any]]]


class Rate(NamedTuple):
    """The rate of a lane from here on, and the sum of its rates so far.

    The sum grows where the rate is measured anew; steps since then are counted. So it does not
    depend on where a run is cut into calls, and a resumed one has the same bits.
    """

    rate: jax.Array
    sum: jax.Array  # of all rates until this one was measured
    lost: jax.Array  # what rounding took from the sum (Kahan), given back with the next one
    taken: jax.Array  # steps at this rate
    probes: dict[str, Any]  # what the followed probes remember, apart from those of the record
    memory: Any  # what the rule remembers

    @property
    def rows(self) -> dict[str, jax.Array]:
        """What is recorded of it."""
        return {"learning_rate": self.rate, "time": self.sum + self._since}

    @property
    def _since(self) -> jax.Array:
        """What the steps at this rate add to the sum."""
        return self.rate * jnp.asarray(self.taken, self.rate.dtype) - self.lost

    def summed(self) -> Rate:
        """The same with these steps in the sum."""
        total = self.sum + self._since
        lost = (total - self.sum) - self._since
        return self._replace(sum=total, lost=lost, taken=jnp.zeros_like(self.taken))


def followed(dynamics: Dynamics) -> Following | None:
    """The rate of a rule that follows a measurement, else None."""
    rate = getattr(dynamics, "learning_rate", None)
    return rate if isinstance(rate, Following) else None


def first_rate(
    follow: Following | None, measure: Measure, state: State, probes: dict
) -> Rate | None:
    """The rate of the first step; None where none is followed."""
    if follow is None:
        return None
    seen, probes = measure(state, probes)
    rate, memory = follow.rate(seen, None, follow.begin())
    nothing = jnp.zeros_like(rate)
    return Rate(rate, nothing, nothing, jnp.asarray(0, jnp.int32), probes, memory)


def at_rate(dynamics: Dynamics, rate: Rate | None) -> Dynamics:
    """The rule with the rate of now in place of the one that follows."""
    return dynamics if rate is None else with_leaves(dynamics, {"learning_rate": rate.rate})


def next_rate(
    follow: Following | None, measure: Measure, state: State, rate: Rate | None,
    start: jax.Array, step: jax.Array, until: jax.Array | None,
) -> Rate | None:  # fmt: skip
    """The rate at a step: measured anew where it is time to. A stopped lane's time stands still."""
    if follow is None or rate is None:
        return None
    end = NO_MORE if until is None else until
    taken = jnp.minimum(step, end) - jnp.minimum(start, end)
    rate = rate._replace(taken=rate.taken + jnp.asarray(taken, jnp.int32))

    def again(now: Rate) -> Rate:
        now = now.summed()
        seen, probes = measure(state, now.probes)
        value, memory = follow.rate(seen, now.rate, now.memory)
        return now._replace(rate=value, probes=probes, memory=memory)

    # The steps are the same for all lanes, so that this stays a branch under vmap. A cell
    # without steps is the first record; `first_rate` has measured there.
    due = (step % follow.every == 0) & (step > start)
    return lax.cond(due, again, lambda now: now, rate)
