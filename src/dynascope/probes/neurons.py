"""The weights of every neuron of a two-layer network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from dynascope.core import quantities
from dynascope.core.quantities import Quantity
from dynascope.models.base import Network
from dynascope.probes.base import Probe, Snapshot
from dynascope.tasks.base import Task


@dataclass(frozen=True)
class NeuronWeights(Probe):
    """v_i and then w_i of every neuron of `models.Neurons` with one output.

    Cost: none. Misleads: which of two equal neurons is which has no meaning.
    """

    quantity: ClassVar[Quantity] = quantities.NEURON_WEIGHTS

    def coords(self, task: Task) -> dict[str, Any]:
        """The output's weight first, then one for every input."""
        return {"weight": ["output", *map(str, range(task.input_size))]}

    def needs(self, task: Task, network: Network) -> str | None:
        """A network of neurons, and one output."""
        params = jax.eval_shape(network.init, jax.random.key(0))
        fits = isinstance(params, dict) and set(params) == {"input", "output"}
        return None if fits and task.output_size == 1 else "models.Neurons with one output"

    def measure(self, snapshot: Snapshot) -> jax.Array:
        """(neurons, 1 + inputs)."""
        params = snapshot.params
        return jnp.concatenate([params["output"].T, params["input"]], axis=1)
