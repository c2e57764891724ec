"""Probes that see every step: what the loop calls after each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from dynascope.dynamics.base import Dynamics
from dynascope.dynamics.schedules import Schedule
from dynascope.engine.experiment import Setup
from dynascope.engine.objective import Data, promotion
from dynascope.probes.base import Snapshot, Step, StepProbe
from dynascope.runtime.precision import cast, foreign


def observers(spec: Setup) -> dict[str, StepProbe]:
    """The probes that see every step, by name."""
    return {p.stored_as: p for p in spec.probes if isinstance(p, StepProbe)}


def observing(
    spec: Setup, dynamics: Dynamics, network: Any, dtype: str, data: Data
) -> Callable[..., Any] | None:
    """What `Objective.observe` calls after each step; None where no probe asks for it.

    `dynamics` has the rate of now where the rate follows a measurement.
    """
    watching = observers(spec)
    if not watching:
        return None

    def observe(seen: dict, before: Any, after: Any, batch: Any, number: jax.Array) -> dict:
        rate = dynamics.learning_rate  # type: ignore[attr-defined]
        with foreign():
            rate = rate(number) if isinstance(rate, Schedule) else rate
        with promotion(spec.task):
            step = Step(
                Snapshot(spec.task, network, before, *data), batch, after,
                jnp.asarray(rate).astype(dtype),
            )  # fmt: skip
            found = {name: p.observe(step, seen[name]) for name, p in watching.items()}
            return cast(found, dtype)

    return observe
