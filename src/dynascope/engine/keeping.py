"""Parameters that a run keeps: at named steps, and at the best value of a recorded quantity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.core.errors import bad
from dynascope.core.spec import Spec, static_field
from dynascope.dynamics.base import NEVER


@dataclass(frozen=True)
class Keep(Spec):
    """Which parameters to keep; `kept_parameters` gives them back.

    Args:
        at: Steps; for flows recorded times.
        best: The name of a probe that measures one number: the parameters at the recorded
            step where it is best.
        highest: Whether the best value is the largest, as for an accuracy.

    Example:
        >>> Keep(at=(0, 100), best="test_set_loss").at
        (0.0, 100.0)
    """

    at: tuple[float, ...] = static_field(())
    best: str | None = None
    highest: bool = False

    def check(self) -> None:
        """Raise where nothing would be kept."""
        if not self.at and self.best is None:
            raise bad("keep", "nothing", "at= with steps, or best= with the name of a probe")
        object.__setattr__(self, "at", tuple(sorted(set(self.at))))


class Best(NamedTuple):
    """The best of a lane so far; its step is NEVER before the first number."""

    score: jax.Array  # the value, or minus it where the highest is best
    step: jax.Array
    params: Any


def none_yet(keep: Keep | None, params: Any, dtype: str) -> Best | None:
    """Before the first measurement; None where no best is kept."""
    if keep is None:
        return None
    return Best(jnp.asarray(jnp.inf, dtype), jnp.asarray(NEVER, jnp.int32), params)


def better(
    keep: Keep | None, seen: dict[str, jax.Array], step: jax.Array, params: Any, best: Best | None
) -> Best | None:
    """The best after what was measured at a step; the first of equals, never NaN."""
    if keep is None or best is None or keep.best is None:
        return None
    score = -seen[keep.best] if keep.highest else seen[keep.best]
    now = Best(score, step, params)
    return jax.tree.map(lambda a, b: jnp.where(score < best.score, a, b), now, best)


def as_rows(params: Any, lanes: int) -> np.ndarray:
    """The parameters of all lanes as (lanes, parameters), array after array."""
    leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(params)]
    return np.concatenate([a[:lanes].reshape(lanes, -1) for a in leaves], axis=1)
