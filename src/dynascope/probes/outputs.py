"""Output at a point, and the Jacobian of the output with respect to the input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp

from dynascope.core import quantities
from dynascope.core.quantities import Quantity
from dynascope.models.base import Network
from dynascope.probes.base import Probe, Snapshot
from dynascope.tasks.base import Task


def needs_point(task: Task, point: tuple[float, ...] | None) -> str | None:
    """None where there is a point to look at, given or the task's own, else what is needed."""
    if task.offers not in (None, "vectors"):
        return f"a task of vectors, not of {task.offers}"
    if point is None:
        return None if task.has_test_point else "a task with a test point, or point=(...)"
    fits = len(point) == task.input_size
    return None if fits else f"a point of {task.input_size} coordinates"


@dataclass(frozen=True)
class OutputAt(Probe):
    """f(x) at a given input, in the task's own coordinates; the test point by default.

    Cost: one forward pass.
    """

    quantity: ClassVar[Quantity] = quantities.OUTPUT_AT

    point: tuple[float, ...] | None = None

    def needs(self, task: Task, network: Network) -> str | None:
        """A point of the task's size."""
        return needs_point(task, self.point)

    def measure(self, snapshot: Snapshot) -> jax.Array:
        """The output at the point."""
        return snapshot.predict(_input(self.point, snapshot.task))


@dataclass(frozen=True)
class InputJacobian(Probe):
    """df/dx, at a point for models that are not linear (the test point by default).

    Cost: the matrix itself for linear models, else one forward-mode pass per input.
    Misleads: for ReLU models it holds only in the linear piece around the point.
    """

    quantity: ClassVar[Quantity] = quantities.INPUT_JACOBIAN

    point: tuple[float, ...] | None = None

    def needs(self, task: Task, network: Network) -> str | None:
        """A point of the task's size."""
        linear = network.matrix is not None  # its Jacobian is the same everywhere
        return None if linear and self.point is None else needs_point(task, self.point)

    def measure(self, snapshot: Snapshot) -> jax.Array:
        """The Jacobian matrix (output, input)."""
        if snapshot.network.matrix is not None:
            return snapshot.predict.affine()[0]
        return jax.jacfwd(snapshot.predict)(_input(self.point, snapshot.task))


def _input(point: tuple[float, ...] | None, task: Task) -> jax.Array:
    return task.test_input() if point is None else jnp.asarray(point)
