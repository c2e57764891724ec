"""The tangent kernel along p1 (inputs that are not negative) and p2 (negative ones)."""

from dataclasses import dataclass
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from dynascope.core.quantities import Quantity, quantity
from dynascope.models.base import Network
from dynascope.numerics.products import kernel_product
from dynascope.probes.base import Probe, Snapshot
from dynascope.tasks import Task

DIRECTION_KERNEL = quantity(
    "direction_kernel", "p^T K p", "1", ("direction", "number"),
    "Tangent kernel along the inputs of one sign and outside both, and what it leaves of each.",
)  # fmt: skip


@dataclass(frozen=True)
class DirectionKernel(Probe):
    """The kernel's eigenvalue along p1 and p2, how far each is from an eigenvector, and the rest.

    Along p1 and p2 it acts by one number each, outside both it vanishes (zhu2024 Prop. B.11.1).
    Rows are `positive`, `negative` and `outside`: a fixed vector orthogonal to both, on which
    the kernel must vanish. Columns are `value` (p^T K p) and `residual` (|K p - value p|).
    Cost: three products with the kernel, which is never formed. Only one-dimensional inputs.
    """

    quantity: ClassVar[Quantity] = DIRECTION_KERNEL

    def needs(self, task: Task, network: Network) -> str | None:
        """Inputs that are one number."""
        return None if task.input_size == 1 else "inputs of one dimension"

    def coords(self, task: Task) -> dict[str, Any]:
        """The names of rows and columns."""
        return {"direction": ["positive", "negative", "outside"], "number": ["value", "residual"]}

    def measure(self, snapshot: Snapshot) -> jax.Array:
        """(3, 2) numbers."""
        x = snapshot.samples[0]
        product = kernel_product(lambda p: snapshot.network.apply(p, x), snapshot.params)
        return jnp.stack([_action(p, product(p)) for p in _vectors(x[:, 0])])


def _vectors(x: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Unit vectors along p1 and p2 (zero where there is no such input), and one outside both."""
    first, second = (_unit(jnp.where(side, x, 0.0)) for side in (x >= 0, x < 0))
    wave = jnp.cos(1.0 + jnp.arange(x.size).astype(x.dtype))
    for p in (first, second):
        wave = wave - (wave @ p) * p
    return first, second, _unit(wave)


def _unit(p: jax.Array) -> jax.Array:
    return p / jnp.maximum(jnp.linalg.norm(p), jnp.finfo(p.dtype).tiny)


def _action(p: jax.Array, image: jax.Array) -> jax.Array:
    return jnp.stack([p @ image, jnp.linalg.norm(image - (p @ image) * p)])
