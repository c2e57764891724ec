"""What a diffusion model generates, and the parts of its bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from dynascope.core import quantities
from dynascope.core.errors import bad
from dynascope.core.quantities import Quantity
from dynascope.core.randomness import key_for
from dynascope.models.base import Network
from dynascope.numerics.diffusion import Parts
from dynascope.numerics.diffusion.sampling import check_sampling_steps
from dynascope.probes.base import Probe, Snapshot
from dynascope.tasks.base import Task
from dynascope.tasks.diffusion import DiffusionTask


@dataclass(frozen=True)
class Generated(Probe):
    """Samples on the test condition, from the same noise at every measurement.

    Cost: `sampling_steps` forward passes of `count` samples. Misleads: the noise is that of the
    probe, not of the seed, so that what differs between seeds and steps is the network.

    Args:
        count: Number of samples.
        sampling_steps: Of the ancestral sampler.
    """

    quantity: ClassVar[Quantity] = quantities.GENERATED

    count: int = 32
    sampling_steps: int = 50

    def check(self) -> None:
        """Raise for numbers below one."""
        check_sampling_steps(self.sampling_steps)
        if self.count < 1:
            raise bad("count", self.count, "a whole number of at least 1")

    def needs(self, task: Task, network: Network) -> str | None:
        """A diffusion model on its task."""
        return _needs(task, network)

    def measure(self, snapshot: Snapshot) -> jax.Array:
        """The samples, (count, D), as the model sees data."""
        task, predict = snapshot.task, snapshot.predict
        condition = task.test_condition()  # type: ignore[attr-defined]
        rows = jnp.broadcast_to(condition, (self.count, *condition.shape))
        key = key_for(0, "generated")
        return task.generate(predict, rows, key, self.sampling_steps)  # type: ignore[attr-defined]


@dataclass(frozen=True)
class BoundParts(Probe):
    """Diffusion, prior and reconstruction on the samples, at times and noise that stay.

    Cost: one forward pass of all samples.
    """

    quantity: ClassVar[Quantity] = quantities.BOUND_PARTS

    def needs(self, task: Task, network: Network) -> str | None:
        """A diffusion model on its task."""
        return _needs(task, network)

    def coords(self, task: Task) -> dict[str, Any]:
        """The names of the parts."""
        return {"bound_part": list(Parts._fields)}

    def measure(self, snapshot: Snapshot) -> jax.Array:
        """The three parts, in bits per dimension."""
        key = key_for(0, "measured loss")
        return jnp.stack(snapshot.task.parts(snapshot.predict, snapshot.samples, key))  # type: ignore[attr-defined]


def _needs(task: Task, network: Network) -> str | None:
    if not isinstance(task, DiffusionTask):
        return "a diffusion task, such as Circles"
    return None if network.level else "a denoiser, such as UNet"
