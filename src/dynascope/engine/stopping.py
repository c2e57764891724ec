"""Lanes that stop: a rule on a recorded quantity freezes a lane, the others go on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.core.errors import bad
from dynascope.core.spec import Spec, later_field
from dynascope.dynamics.base import NEVER

NO_MORE = np.iinfo(np.int32).max


@dataclass(frozen=True)
class Stop(Spec):
    """Stop a lane where a recorded quantity is below or above a value, or falls no more.

    The quantity is looked at where it is recorded. A stopped lane keeps its parameters; its
    later rows measure them again. A run whose lanes have all stopped or diverged ends there.

    Args:
        of: The name of a probe that measures one number.
        below: Stop where it is less than this.
        above: Stop where it is more than this.
        after: Steps that the lane still takes; for flows there are none.
        patience: Stop where it has had no new lowest value for so many steps, as for a
            validation loss; for flows so many records.

    Example:
        >>> Stop("loss", below=0.01, after=100).words
        'loss below 0.01, 100 steps later'
    """

    of: str = "loss"
    below: float | None = None
    above: float | None = None
    after: int = 0
    patience: int | None = later_field(None)

    def check(self) -> None:
        """Raise unless there is exactly one bound."""
        given = [v is not None for v in (self.below, self.above, self.patience)]
        if sum(given) != 1:
            raise bad("stop", self.words, "one of below=, above= and patience=")
        if self.patience is not None and self.patience < 1:
            raise bad("patience", self.patience, "a whole number of at least 1")
        if not 0 <= self.after < 2**30:
            raise bad("after", self.after, "a whole number of steps from 0")

    @property
    def words(self) -> str:
        """What a stopped lane is marked with."""
        bounds = [f"{n} {v:g}" for n in ("below", "above") if (v := getattr(self, n)) is not None]
        if self.patience is not None:
            bounds.append(f"no lower for {self.patience} steps")
        later = f", {self.after} steps later" if self.after else ""
        return " ".join([self.of, *bounds]) + later

    def met(self, value: jax.Array) -> jax.Array:
        """Whether the value is beyond the bound; never of NaN."""
        if self.below is not None:
            return value < self.below
        return value > self.above  # type: ignore[operator]


class Stopping(NamedTuple):
    """When a lane stops, NO_MORE if nothing has happened yet, and by which of the rules."""

    at: jax.Array
    rule: jax.Array
    lowest: jax.Array  # (rules,) of each rule's quantity so far
    since: jax.Array  # (rules,) the step of that


def not_yet(rules: tuple[Stop, ...], dtype: str) -> Stopping | None:
    """Before the first measurement; None without rules."""
    if not rules:
        return None
    never = jnp.asarray(NO_MORE, jnp.int32), jnp.asarray(NEVER, jnp.int32)
    return Stopping(*never, jnp.full(len(rules), jnp.inf, dtype), jnp.zeros(len(rules), jnp.int32))


def watch(
    rules: tuple[Stop, ...], seen: dict[str, jax.Array], step: jax.Array, now: Stopping | None
) -> Stopping | None:
    """When the lane stops, after what was measured at a step; the soonest rule wins."""
    if now is None:
        return None
    for number, rule in enumerate(rules):
        value, at = seen[rule.of], step + rule.after
        if rule.patience is None:
            met = rule.met(value)
        else:
            lower = value < now.lowest[number]
            lowest = now.lowest.at[number].set(jnp.where(lower, value, now.lowest[number]))
            since = now.since.at[number].set(jnp.where(lower, step, now.since[number]))
            met = step - since[number] >= rule.patience
            now = now._replace(lowest=lowest, since=since)
        sooner = met & (at < now.at)
        now = now._replace(
            at=jnp.where(sooner, at, now.at), rule=jnp.where(sooner, number, now.rule)
        )
    return now


def rows_until_all_stopped(
    record_steps: np.ndarray, stopping: Stopping | None, diverged: np.ndarray
) -> int:
    """How many rows a run has: all, or up to the first at which every lane stands still."""
    if stopping is None:
        return len(record_steps)
    at = np.asarray(stopping.at)[: len(diverged)]
    at = np.where(diverged == NEVER, at, np.minimum(at, diverged + 1))
    return min(int(np.searchsorted(record_steps, at.max())) + 1, len(record_steps))
