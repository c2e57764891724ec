"""The Probe interface: measures one quantity on a snapshot, never moves parameters.

To add one: derive a frozen dataclass from `Probe`, set `quantity`, and write `measure`; or from
`WarmProbe`, which starts from its last answer, and write `memory` and `remeasure`.
The docstring states assumptions, cost, and when the probe misleads.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, NamedTuple

import jax

from dynascope.core.quantities import Quantity
from dynascope.core.spec import Spec
from dynascope.models.base import Network
from dynascope.tasks.base import Predict, Task


class Snapshot(NamedTuple):
    """What a probe may look at: everything about one lane at one moment."""

    task: Task
    network: Network
    params: Any
    samples: Any
    context: Any

    @property
    def predict(self) -> Predict:
        """The model in the task's own coordinates."""
        return self.task.lens(self.network.bind(self.params), self.context)


@dataclass(frozen=True)
class Probe(Spec):
    """Measures a quantity; `name` is what it is stored as, the quantity's name by default."""

    quantity: ClassVar[Quantity]

    _: KW_ONLY
    name: str | None = None

    @property
    def stored_as(self) -> str:
        """The name of the variable in the run."""
        return self.name or self.quantity.name

    def dims(self, task: Task) -> tuple[str, ...]:
        """Names of the measured array's axes."""
        return self.quantity.dims

    def coords(self, task: Task) -> dict[str, Any]:
        """Labels along those axes, where numbers 0, 1, ... would not do."""
        return {}

    def needs(self, task: Task, network: Network) -> str | None:
        """None if the probe can be used here, else what it needs."""
        return None

    def measure(self, snapshot: Snapshot) -> jax.Array:
        """The quantity on this snapshot."""
        raise NotImplementedError

    def memory(self, snapshot: Snapshot) -> Any:
        """What the probe knows before its first look: arrays of fixed shape; most know nothing."""
        return ()

    def remeasure(self, snapshot: Snapshot, memory: Any) -> tuple[jax.Array, Any]:
        """The quantity, and the memory for the next look along the same lane.

        Memory saves work and does not change what the quantity is. Checkpoints hold it.
        """
        return self.measure(snapshot), memory


@dataclass(frozen=True)
class WarmProbe(Probe):
    """A probe that starts from its last answer along a lane."""

    def measure(self, snapshot: Snapshot) -> jax.Array:
        """The quantity on this snapshot alone, from a cold start."""
        return self.remeasure(snapshot, self.memory(snapshot))[0]

    def memory(self, snapshot: Snapshot) -> Any:
        """What stands for no answer yet."""
        raise NotImplementedError

    def remeasure(self, snapshot: Snapshot, memory: Any) -> tuple[jax.Array, Any]:
        """The quantity, and the memory for the next look along the same lane."""
        raise NotImplementedError
