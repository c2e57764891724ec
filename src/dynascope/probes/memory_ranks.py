"""The loss of a truncated associative memory on clean labels, rank by rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from dynascope.core import quantities
from dynascope.core.errors import bad
from dynascope.core.quantities import Quantity
from dynascope.models.base import Network
from dynascope.numerics.decompositions import svd
from dynascope.probes.base import Probe, Snapshot
from dynascope.tasks.base import Task
from dynascope.tasks.noisy_labels import NoisyLabels


@dataclass(frozen=True)
class TruncatedLoss(Probe):
    """Loss on clean labels with the memory cut to its largest singular values; training goes on.

    Cost: one SVD and one forward pass a rank. Misleads: where singular values are equal, as with
    orthonormal embeddings, a rank between them cuts at random.

    Args:
        ranks: How many singular values stay, one loss for each.
    """

    quantity: ClassVar[Quantity] = quantities.TRUNCATED_LOSS

    ranks: tuple[int, ...] = (1, 2, 3, 4)

    def check(self) -> None:
        """Raise for no ranks and for negative ones."""
        if not self.ranks or min(self.ranks) < 0:
            raise bad("ranks", self.ranks, "at least one rank, none below 0")

    def coords(self, task: Task) -> dict[str, Any]:
        """The ranks."""
        return {"kept_rank": list(self.ranks)}

    def needs(self, task: Task, network: Network) -> str | None:
        """An associative memory and its task."""
        params = jax.eval_shape(network.init, jax.random.key(0))
        has = isinstance(params, dict) and "memory" in params
        return None if has and isinstance(task, NoisyLabels) else "AssociativeMemory, NoisyLabels"

    def measure(self, snapshot: Snapshot) -> jax.Array:
        """(kept_rank,); one SVD serves all ranks."""
        u, s, vt = svd(snapshot.params["memory"])
        order = jnp.arange(len(s))

        def at(rank: jax.Array) -> jax.Array:
            memory = (u * jnp.where(order < rank, s, 0.0)) @ vt
            params = {**snapshot.params, "memory": memory}
            return snapshot.task.pure_loss(snapshot.network.bind(params))  # type: ignore[attr-defined]

        return jax.vmap(at)(jnp.asarray(self.ranks))
