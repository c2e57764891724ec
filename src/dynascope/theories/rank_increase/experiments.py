"""What an experiment with a diagonal network learns, as a loss of its products."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.core.randomness import key_for
from dynascope.models.base import Model
from dynascope.runtime.precision import cast, precision
from dynascope.tasks.base import Task


class ProductProblem(NamedTuple):
    """A loss of z = u * v on one seed's data, and that seed's start."""

    loss: Callable[[jax.Array], jax.Array]
    u: np.ndarray  # before any scale alpha, (p,)
    v: np.ndarray

    @property
    def size(self) -> int:
        """P."""
        return len(self.u)


def product_problem(task: Task, model: Model, seed: int = 0) -> ProductProblem:
    """The loss that `simulate` would see with this task, model and seed, in float64.

    Args:
        task: Any task.
        model: A network with diagonal weights "u" and "v".
        seed: Of data and start.

    Returns:
        The loss for `incremental_stages` and `log_flow`, and the start.

    Example:
        >>> from dynascope.models import DiagonalLinear
        >>> from dynascope.tasks import ArraySamples
        >>> task = ArraySamples(np.eye(2), [3.0, 4.0], reduction="half")
        >>> problem = product_problem(task, DiagonalLinear())
        >>> float(problem.loss(jnp.zeros(2)))
        12.5
    """
    network = model.build(task.input_size, task.output_size)
    with precision("float64"):
        drawn = cast(task.samples(key_for(seed, "data")), "float64")
        samples = jax.tree.map(np.asarray, drawn)
        start = cast(network.init(key_for(seed, "init")), "float64")
        u, v = np.asarray(start["u"]), np.asarray(start["v"])

    def loss(z: jax.Array) -> jax.Array:
        data = jax.tree.map(lambda a: jnp.asarray(a, z.dtype), samples)
        return task.loss(network.bind({"u": z, "v": jnp.ones_like(z)}), data)

    return ProductProblem(loss, u, v)
