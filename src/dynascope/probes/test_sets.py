"""Loss and accuracy on a test set, for tasks whose samples come with targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import jax

from dynascope.core import quantities
from dynascope.core.quantities import Quantity
from dynascope.models.base import Network
from dynascope.probes.base import Probe, Snapshot
from dynascope.tasks.base import Task
from dynascope.tasks.classes import Classes
from dynascope.tasks.samples import Samples


@dataclass(frozen=True)
class _OnTestSet(Probe):
    """What both probes need."""

    def needs(self, task: Task, network: Network) -> str | None:
        """A task of samples with targets that has a test set."""
        found = getattr(type(task), "test_set", None)
        own = found not in (None, Samples.test_set, Classes.test_set)
        if own and getattr(task, "x_test", True) is not None:
            return None
        return "a task with a test set"


@dataclass(frozen=True)
class TestSetLoss(_OnTestSet):
    """Mean squared error on the test set (half for the half sum), or cross-entropy of classes.

    Cost: one forward pass over the test set. Misleads: the best value over training is chosen
    on the test set itself, so it is a lower bound on what early stopping could reach.
    """

    __test__: ClassVar[bool] = False  # not a pytest class
    quantity: ClassVar[Quantity] = quantities.TEST_SET_LOSS

    def measure(self, snapshot: Snapshot) -> jax.Array:
        """The loss at the current parameters."""
        return snapshot.task.test_set_loss(snapshot.predict, snapshot.context)  # type: ignore[attr-defined]


@dataclass(frozen=True)
class ValidationLoss(Probe):
    """Mean squared error on the validation set, which a checkpoint is chosen by.

    Cost: one forward pass over the validation set. Misleads: the best value over training is
    chosen on this set; look at the test loss there.
    """

    quantity: ClassVar[Quantity] = quantities.VALIDATION_LOSS

    def needs(self, task: Task, network: Network) -> str | None:
        """A task with a validation set."""
        return None if getattr(task, "validation", 0) else "a task with a validation set"

    def measure(self, snapshot: Snapshot) -> jax.Array:
        """The loss at the current parameters."""
        rows = snapshot.task.validation_set(snapshot.context)  # type: ignore[attr-defined]
        return snapshot.task.loss(snapshot.predict, rows)


@dataclass(frozen=True)
class TestSetAccuracy(_OnTestSet):
    """Share of the test set whose output has the target's sign, or is largest at its class.

    Cost: one forward pass over the test set. Misleads: a share of 200 samples moves in steps
    of half a percent.
    """

    __test__: ClassVar[bool] = False  # not a pytest class
    quantity: ClassVar[Quantity] = quantities.TEST_SET_ACCURACY

    def measure(self, snapshot: Snapshot) -> jax.Array:
        """The share at the current parameters."""
        return snapshot.task.test_set_accuracy(snapshot.predict, snapshot.context)  # type: ignore[attr-defined]
