"""What an experiment with a diagonal network learns, as a loss of its products."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from dynascope.core.randomness import key_for
from dynascope.models.base import Model
from dynascope.runtime.precision import cast, precision
from dynascope.tasks.base import Task


@dataclass(frozen=True)
class LossOnSamples:
    """A loss of z = u * v and of the samples: one function for all seeds of a task and a model."""

    task: Task
    model: Model
    form: Any  # of the samples, as a tree

    def __call__(self, z: jax.Array, *samples: ArrayLike) -> jax.Array:
        """The loss on samples that are given as the tree's arrays."""
        data = jax.tree.unflatten(self.form, [jnp.asarray(a, z.dtype) for a in samples])
        network = self.model.build(self.task.input_size, self.task.output_size)
        return self.task.loss(network.bind({"u": z, "v": jnp.ones_like(z)}), data)


class ProductProblem(NamedTuple):
    """A loss of z = u * v on one seed's data, and that seed's start."""

    on: Callable[..., jax.Array]  # of z and the data; one function for all seeds
    data: tuple[np.ndarray, ...]
    u: np.ndarray  # before any scale alpha, (p,)
    v: np.ndarray

    @property
    def size(self) -> int:
        """P."""
        return len(self.u)

    def loss(self, z: jax.Array) -> jax.Array:
        """The loss of z on this seed's data."""
        return self.on(z, *self.data)


def product_problem(task: Task, model: Model, seed: int = 0) -> ProductProblem:
    """The loss that `simulate` would see with this task, model and seed, in float64.

    Args:
        task: Any task.
        model: A network with diagonal weights "u" and "v".
        seed: Of data and start.

    Returns:
        The loss for `incremental_stages` and `log_flow`, and the start. Both take `on` with
        `parameters=data` as well, and then compile once for all seeds.

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
        samples, form = jax.tree.flatten(jax.tree.map(np.asarray, drawn))
        start = cast(network.init(key_for(seed, "init")), "float64")
        u, v = np.asarray(start["u"]), np.asarray(start["v"])
    return ProductProblem(LossOnSamples(task, model, form), tuple(samples), u, v)
