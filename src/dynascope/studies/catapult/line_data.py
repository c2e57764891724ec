"""Two-layer networks on one-dimensional data: their start, and what is measured along it.

Along p1 (inputs that are not negative) and p2 (negative inputs) the tangent kernel acts by one
number each; outside both it vanishes (004 Prop. B.11.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.core.quantities import Quantity, quantity
from dynascope.core.randomness import key_for
from dynascope.models import TwoLayerReLU
from dynascope.models.base import Network
from dynascope.numerics.precision import precision
from dynascope.numerics.products import kernel_product
from dynascope.probes.base import Probe, Snapshot
from dynascope.tasks import Task, TwoClusters
from dynascope.theories.quadratic_directions import Direction, directions

TRAINING_OUTPUT = quantity(
    "training_output", "g(x_i)", "1", ("sample",), "Output of the model on every training input."
)
DIRECTION_KERNEL = quantity(
    "direction_kernel",
    "p^T K p",
    "1",
    ("direction", "number"),
    "Tangent kernel along the inputs of one sign and outside both, and what it leaves of each.",
)


@dataclass(frozen=True)
class TrainingOutput(Probe):
    """The output on every training input, of models with one output.

    Cost: one forward pass over all samples.
    """

    quantity: ClassVar[Quantity] = TRAINING_OUTPUT

    def measure(self, snapshot: Snapshot) -> jax.Array:
        """Outputs, one a sample."""
        return snapshot.predict(snapshot.samples[0])[:, 0]


@dataclass(frozen=True)
class DirectionKernel(Probe):
    """The kernel's eigenvalue along p1 and p2, how far each is from an eigenvector, and the rest.

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
        return jnp.stack([_action(product, p) for p in _vectors(x[:, 0])])


def _vectors(x: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Unit vectors along p1 and p2 (zero where there is no such input), and one outside both."""
    unit = [_unit(jnp.where(side, x, 0.0)) for side in (x >= 0, x < 0)]
    wave = jnp.cos(1.0 + jnp.arange(x.size).astype(x.dtype))
    for p in unit:
        wave = wave - (wave @ p) * p
    return unit[0], unit[1], _unit(wave)


def _unit(p: jax.Array) -> jax.Array:
    return p / jnp.maximum(jnp.linalg.norm(p), jnp.finfo(p.dtype).tiny)


def _action(product: Any, p: jax.Array) -> jax.Array:
    image = product(p)
    value = p @ image
    return jnp.stack([value, jnp.linalg.norm(image - value * p)])


class Start(NamedTuple):
    """Data and untrained network of a seed, in float64."""

    seed: int
    x: np.ndarray  # (n,)
    y: np.ndarray  # (n,)
    outputs: np.ndarray  # (n,)
    found: tuple[Direction, ...]
    kernels: tuple[float, ...]  # of each direction

    @property
    def critical(self) -> tuple[float, ...]:
        """Critical rates n / lambda for the mean of squares, in the order of the directions."""
        return tuple(len(self.x) / k for k in self.kernels)


@lru_cache(maxsize=256)
def start_of(task: TwoClusters, width: int, seed: int) -> Start:
    """What the engine begins with on this seed."""
    with precision("float64"):
        x, y = (np.asarray(v) for v in task.samples(key_for(seed, "data")))
        network = TwoLayerReLU(width).build(1, 1)
        params = network.init(key_for(seed, "init"))
        outputs = np.asarray(network.apply(params, jnp.asarray(x)))[:, 0]
        u, v = np.asarray(params["u"])[:, 0], np.asarray(params["v"])
    found = directions(x[:, 0])
    # K p = s (mean of u^2 + v^2 over the units that are on) p: Prop. B.11.1.
    sides = {"positive": u >= 0, "negative": u <= 0}
    kernels = tuple(float(d.size * np.sum((u**2 + v**2)[sides[d.name]]) / width) for d in found)
    return Start(seed, x[:, 0], y[:, 0], outputs, found, kernels)


def seeds_with_a_gap(task: TwoClusters, width: int, count: int) -> list[Start]:
    """The first seeds whose two critical rates lie 5% to 50% apart: Fig. 3.3 needs a gap."""
    kept: list[Start] = []
    seed = 0
    while len(kept) < count:
        start = start_of(task, width, seed)
        low, high = min(start.critical), max(start.critical)
        if 1.05 <= high / low <= 1.5:
            kept.append(start)
        seed += 1
    return kept
