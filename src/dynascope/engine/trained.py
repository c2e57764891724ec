"""What one lane trains: a spec with the numbers of the lane, its network and its data."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from dynascope.core.leaves import with_leaves
from dynascope.dynamics.base import State
from dynascope.engine.experiment import Setup
from dynascope.engine.measuring import measure_all
from dynascope.engine.objective import Data


class Trained(NamedTuple):
    """The task, the network and the data of a lane, as they are traced."""

    spec: Setup
    network: Any
    dtype: str
    data: Data

    def measure(self, state: State, memory: dict[str, Any]) -> tuple[dict, dict]:
        """What the probes that have a memory measure now, and what they remember of it."""
        return measure_all(self.spec, self.network, self.dtype, self.data, state, memory)


def network_of(setup: Setup, dtype: str, values: dict[str, jax.Array]) -> tuple[Setup, Any]:
    """The spec with the numbers of a lane in place of its own, and its network."""
    spec = with_leaves(setup, {k: jnp.asarray(v, dtype) for k, v in values.items()})
    return spec, spec.model.build(spec.task.input_size, spec.task.output_size)
