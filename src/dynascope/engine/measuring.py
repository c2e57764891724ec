"""What the probes measure on one lane."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from dynascope.dynamics.base import NEVER, State
from dynascope.engine.experiment import Setup
from dynascope.engine.objective import Data, promotion
from dynascope.probes.base import Snapshot
from dynascope.runtime.precision import cast


def measure_all(
    spec: Setup, network: Any, dtype: str, data: Data, state: State, memory: dict[str, Any]
) -> tuple[dict[str, jax.Array], dict[str, Any]]:
    """What the probes that have a memory measure now, and what they remember of it."""
    snapshot = Snapshot(spec.task, network, spec.dynamics.measured(state), *data)
    fine = state.diverged == NEVER
    seen, remembered = {}, {}
    with promotion(spec.task):
        for probe in spec.probes:
            name = probe.stored_as
            if name not in memory:
                continue
            value, remembered[name] = probe.remeasure(snapshot, memory[name])
            seen[name] = cast(value, dtype)
    # What a diverged lane shows is not a measurement.
    blank = lambda v: jnp.where(fine, v, jnp.nan) if v.dtype == dtype else v  # noqa: E731
    return jax.tree.map(blank, seen), remembered


def overflows(spec: Setup, seen: dict[str, jax.Array], loss: Callable[[], jax.Array]) -> jax.Array:
    """Whether a lane has left the numbers although its parameters are finite.

    A loss is not finite: a measured one, or that of as many samples as a step sees, which is
    worked out where no probe measures the training loss. Or a measurement is infinite that a
    probe does not call `undefined`.
    """
    known = [(p, p.quantity.name) for p in spec.probes if p.quantity]
    losses = [seen[p.stored_as] for p, name in known if name.endswith("loss")]
    if not any(name == "loss" for _, name in known):
        losses.append(loss())
    others = [seen[p.stored_as] for p in spec.probes if not p.undefined]
    fine = [jnp.isfinite(v).all() for v in losses]
    fine += [~jnp.isinf(v).any() for v in others if jnp.issubdtype(v.dtype, jnp.inexact)]
    return ~jnp.stack(fine).all()
