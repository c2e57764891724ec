"""Products of weights: entries u * v of diagonal networks, spectra of an attention head."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from dynascope.core import quantities
from dynascope.core.quantities import Quantity
from dynascope.models.base import Network
from dynascope.numerics.decompositions import singular_values
from dynascope.probes.base import Probe, Snapshot
from dynascope.tasks.base import Task


def _has(network: Network, names: str) -> bool:
    params = jax.eval_shape(network.init, jax.random.key(0))
    return isinstance(params, dict) and set(params) == set(names)


@dataclass(frozen=True)
class Products(Probe):
    """u * v of a network with diagonal weights.

    Cost: none.
    """

    quantity: ClassVar[Quantity] = quantities.PRODUCTS

    def needs(self, task: Task, network: Network) -> str | None:
        """Parameters u and v."""
        return None if _has(network, "uv") else "a model with diagonal weights u and v"

    def measure(self, snapshot: Snapshot) -> jax.Array:
        """(p,)."""
        return snapshot.params["u"] * snapshot.params["v"]


@dataclass(frozen=True)
class HeadSpectra(Probe):
    """Singular values of W_K W_Q^T and W_V W_O^T of `models.AttentionHead`, descending.

    Cost: two decompositions of d x d matrices.
    """

    quantity: ClassVar[Quantity] = quantities.HEAD_SPECTRA

    def needs(self, task: Task, network: Network) -> str | None:
        """An attention head."""
        return None if _has(network, "KQVO") else "models.AttentionHead"

    def coords(self, task: Task) -> dict[str, Any]:
        """The two products by name."""
        return {"product": ["KQ", "VO"]}

    def measure(self, snapshot: Snapshot) -> jax.Array:
        """(2, d)."""
        p = snapshot.params
        both = jnp.stack([p["K"] @ p["Q"].T, p["V"] @ p["O"].T])
        return singular_values(both)
