"""Which samples a step sees: a function of the seed's key and the step, and of nothing else.

So a resumed run draws what an unbroken one draws, and a seed's batches do not depend on the
other seeds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from dynascope.core.errors import bad

Order = Literal["fixed", "random", "shuffled", "fresh"]


class Objective(NamedTuple):
    """What moves the parameters: a loss, the samples, and the seed's keys."""

    loss: Callable[..., jax.Array]  # of parameters and batch, and of a key where `noise` is set
    samples: Any
    key: jax.Array  # of the batches
    draw: Callable[[jax.Array, int], Any]  # fresh samples from a key
    noise: jax.Array | None = None  # of a loss that draws random numbers of its own
    until: jax.Array | None = None  # the step at which the lane stops, where it may
    # what is seen so far, parameters before and after a step, its batch and number -> what is seen
    observe: Callable[[Any, Any, Any, Any, jax.Array], Any] | None = None

    def observed(self, seen: Any, before: Any, after: Any, batch: Any, step: jax.Array) -> Any:
        """What is seen after a step."""
        return seen if self.observe is None else self.observe(seen, before, after, batch, step)

    def gradient(self, params: Any, batch: Any, step: jax.Array) -> Any:
        """The gradient of the loss on the batch of a step."""
        keys = () if self.noise is None else (jax.random.fold_in(self.noise, step),)
        return jax.grad(self.loss)(params, batch, *keys)


class Batches(NamedTuple):
    """The batches of a lane.

    - "fixed": one after the other in the order of the samples, which the task shuffled once,
      the same every epoch;
    - "random": rows drawn with replacement;
    - "shuffled": without replacement, in an order that is drawn anew every epoch;
    - "fresh": samples that the task draws for this step alone (`Task.draw`).

    An epoch has as many whole batches as there are; what is left over is left out.
    """

    objective: Objective
    size: int | None  # None for all samples
    order: Order
    start: jax.Array  # the first step that is asked for

    def begin(self) -> Any:
        """What is carried from step to step: the order of the epoch, where it is shuffled."""
        return jnp.zeros(self._count, jnp.int32) if self.order == "shuffled" else ()

    def at(self, step: jax.Array, carried: Any) -> tuple[Any, Any]:
        """The batch of a step, and what is carried on."""
        objective, size = self.objective, self.size
        if size is None:
            return objective.samples, carried
        key = jax.random.fold_in(objective.key, step) if self.order in ("random", "fresh") else None
        if self.order == "fresh":
            return objective.draw(key, size), carried  # type: ignore[arg-type]
        if self.order == "random":
            return self._rows(jax.random.randint(key, (size,), 0, self._count)), carried  # type: ignore[arg-type]
        first = (step % self._per_epoch) * size
        if self.order == "shuffled":
            new = (first == 0) | (step == self.start)
            carried = lax.cond(new, self._shuffle, lambda _: carried, step)
            return self._rows(lax.dynamic_slice_in_dim(carried, first, size)), carried
        part = lambda a: lax.dynamic_slice_in_dim(a, first, size)  # noqa: E731
        return jax.tree.map(part, objective.samples), carried

    @property
    def _count(self) -> int:
        return jax.tree.leaves(self.objective.samples)[0].shape[0]

    @property
    def _per_epoch(self) -> int:
        return max(self._count // (self.size or 1), 1)

    def _shuffle(self, step: jax.Array) -> jax.Array:
        """The order of the epoch that holds a step."""
        key = jax.random.fold_in(self.objective.key, step // self._per_epoch)
        return jax.random.permutation(key, jnp.arange(self._count, dtype=jnp.int32))

    def _rows(self, rows: jax.Array) -> Any:
        return jax.tree.map(lambda a: a[rows], self.objective.samples)


def check_batch(size: int | None, order: str = "fixed") -> None:
    """Raise `BadInput` unless a batch size is None or at least one, and fits the order."""
    if size is not None and size < 1:
        raise bad("batch_size", size, "a whole number of at least 1, or None for all samples")
    if size is None and order != "fixed":
        raise bad("batch_size", size, f"a size for order={order!r}")
