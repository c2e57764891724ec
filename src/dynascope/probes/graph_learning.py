"""What is measured on graph tasks: the error on held-out nodes, the overlap on test graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import jax

from dynascope.core import quantities
from dynascope.core.quantities import Quantity
from dynascope.models.base import Network
from dynascope.probes.base import Probe, Snapshot
from dynascope.tasks.base import Task


@dataclass(frozen=True)
class HeldOutError(Probe):
    """Mean squared error over the variance of the target, on the nodes not trained on.

    Cost: one forward pass over the graph. Misleads: held-out nodes are of the same graph, and
    the network saw their features.
    """

    quantity: ClassVar[Quantity] = quantities.HELD_OUT_ERROR

    def needs(self, task: Task, network: Network) -> str | None:
        """A task with held-out nodes."""
        return None if hasattr(task, "held_out_error") else "a task with held-out nodes"

    def measure(self, snapshot: Snapshot) -> jax.Array:
        """The error on the held-out nodes."""
        bound = snapshot.network.bind(snapshot.params)
        return snapshot.task.held_out_error(bound, snapshot.context)  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Overlap(Probe):
    """How far above one half the communities of each test graph are told.

    Cost: one forward pass per test graph. Misleads: the better naming counts, so guessing
    gives more than 0, 0.05 for 250 nodes (`graphs.communities.chance_overlap`).
    """

    quantity: ClassVar[Quantity] = quantities.OVERLAP

    def needs(self, task: Task, network: Network) -> str | None:
        """A task of communities."""
        return None if hasattr(task, "overlaps") else "a task of communities"

    def measure(self, snapshot: Snapshot) -> jax.Array:
        """(test graphs,) overlaps."""
        bound = snapshot.network.bind(snapshot.params)
        return snapshot.task.overlaps(bound, snapshot.context)  # type: ignore[attr-defined]
