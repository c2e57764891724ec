"""The Probe interface: measures one quantity on a snapshot, never moves parameters.

To add one: derive from `Probe`, give `name` and write `measure`. A probe of dynascope names a
`quantity` of the shared vocabulary instead, which also has symbol, unit and axes. One that starts
from its last answer derives from `WarmProbe` and writes `memory` and `remeasure`; one that sees
every step with its batch derives from `StepProbe` and writes `observe` too.
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
    """What a probe may use: everything about one lane at one moment."""

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
    """Measures a quantity; `name` is what it is stored as, the quantity's name by default.

    Example:
        >>> class Slope(Probe):
        ...     name = "slope"
        ...
        ...     def measure(self, snapshot):
        ...         return snapshot.params["slope"]
        >>> Slope().stored_as, Slope(name="first slope").stored_as
        ('slope', 'first slope')
    """

    quantity: ClassVar[Quantity | None] = None
    # When a lane that has not diverged measures NaN or infinity; "" where that cannot be.
    undefined: ClassVar[str] = ""

    _: KW_ONLY
    name: str | None = None

    @property
    def stored_as(self) -> str:
        """The name of the variable in the run."""
        kind = self.quantity.name if self.quantity else type(self).__name__
        # The field of an instance hides the `name = "..."` of a class that has no quantity.
        return self.name or getattr(type(self), "name", None) or kind

    @property
    def about(self) -> dict[str, str]:
        """What the variable says of itself: a short name, symbol, unit and meaning."""
        if self.quantity is None:
            meaning = (type(self).__doc__ or "").strip().split("\n")[0]
            return {"long_name": self.stored_as.replace("_", " "), "units": "1",
                    "meaning": meaning}  # fmt: skip
        return self.quantity.about(self.stored_as)

    def dims(self, task: Task) -> tuple[str, ...]:
        """Names of the measured array's axes; those of an own array are found by a trial."""
        return self.quantity.dims if self.quantity else ()

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
        """What the probe knows at first, as arrays of fixed shape; most know nothing."""
        return ()

    def remeasure(self, snapshot: Snapshot, memory: Any) -> tuple[jax.Array, Any]:
        """The quantity, and the memory for the next measurement along the same lane.

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
        """The quantity, and the memory for the next measurement along the same lane."""
        raise NotImplementedError


class Step(NamedTuple):
    """One step of a lane: where it began, the batch that it saw, and where it led."""

    before: Snapshot
    batch: Any  # in the form of the samples; all of them where the rule takes no batches
    after: Any  # parameters
    rate: jax.Array  # the learning rate of the step

    def at(self, params: Any) -> Snapshot:
        """The snapshot with other parameters."""
        return self.before._replace(params=params)


@dataclass(frozen=True)
class StepProbe(WarmProbe):
    """A probe that sees every step, whenever it is recorded: it counts, or tells the last one.

    Cost: what `observe` costs, at every step.
    """

    def observe(self, step: Step, memory: Any) -> Any:
        """The memory after one more step."""
        raise NotImplementedError
