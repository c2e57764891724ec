"""What one lane learns from, and what moves its parameters."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax

from dynascope.core.randomness import key_for
from dynascope.core.spec import is_ours
from dynascope.dynamics.batches import Objective
from dynascope.engine.experiment import Setup
from dynascope.runtime.precision import cast, foreign


class Data(NamedTuple):
    """What is learned from and measured on."""

    samples: Any
    context: Any


def objective(spec: Setup, network: Any, dtype: str, data: Data, seed: jax.Array) -> Objective:
    """What moves the parameters of one lane."""
    task = spec.task

    def loss(params: Any, batch: Any, *key: jax.Array) -> jax.Array:
        with promotion(task):
            return (task.random_loss if key else task.loss)(network.bind(params), batch, *key)

    def fresh(key: jax.Array, count: int) -> Any:
        with promotion(task):
            return cast(task.draw(key, count, data.context), dtype)

    noise = key_for(seed, "noise") if task.has("random_loss") else None
    return Objective(loss, data.samples, key_for(seed, "batch"), fresh, noise)


def one_batch(spec: Setup, samples: Any) -> Any:
    """As many samples as one step sees: the first ones."""
    size = spec.dynamics.samples_per_step
    return samples if size is None else jax.tree.map(lambda a: a[:size], samples)


def promotion(task: Any) -> Any:
    """Strict for our own tasks, standard for anybody else's."""
    return jax.numpy_dtype_promotion("strict") if is_ours(type(task)) else foreign()
