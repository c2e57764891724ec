"""Training objective, loss at the test point, loss at every corner of the lattice."""

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
class Loss(Probe):
    """The training objective on the whole training set, as the dynamics see it.

    Cost: one forward pass over all samples. Misleads: a falling training loss says nothing
    about the test point; only `test_loss` swings by.
    """

    quantity: ClassVar[Quantity] = quantities.LOSS

    def measure(self, snapshot: Snapshot) -> jax.Array:
        """The objective at the current parameters."""
        bound = snapshot.network.bind(snapshot.params)
        return snapshot.task.loss(bound, snapshot.samples)


@dataclass(frozen=True)
class TestLoss(Probe):
    """Half the squared error at the task's test point.

    Cost: one forward pass. Misleads: one point is no distribution; a cloud around it adds
    half the trace of (W - I) Sigma (W - I)^T for linear models.
    """

    __test__: ClassVar[bool] = False  # not a pytest class
    quantity: ClassVar[Quantity] = quantities.TEST_LOSS

    def needs(self, task: Task, network: Network) -> str | None:
        """A task with a test loss."""
        return None if type(task).test_loss is not Task.test_loss else "a task with a test point"

    def measure(self, snapshot: Snapshot) -> jax.Array:
        """The loss at the test point."""
        return snapshot.task.test_loss(snapshot.predict)


@dataclass(frozen=True)
class LatticeLoss(Probe):
    """Half the squared error at each of the 2^s combinations of concepts (B.1).

    Cost: one forward pass over 2^s points. Corners are labelled by their bits, "10" being
    the first of two concepts alone.
    """

    quantity: ClassVar[Quantity] = quantities.LATTICE_LOSS

    def needs(self, task: Task, network: Network) -> str | None:
        """A task made of concepts."""
        return None if hasattr(task, "corners") else "a task with corners (IdentityMapping)"

    def coords(self, task: Any) -> dict[str, Any]:
        """The bits of every corner."""
        s = len(task.means)
        return {"corner": [format(i, f"0{s}b") for i in range(2**s)]}

    def measure(self, snapshot: Snapshot) -> jax.Array:
        """The loss at every corner."""
        x = snapshot.task.corners()  # type: ignore[attr-defined]
        return jnp.sum((snapshot.predict(x) - x) ** 2, axis=-1) / 2
