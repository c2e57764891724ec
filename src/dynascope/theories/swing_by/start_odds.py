"""How likely a swing-by is for any linear model, from its law of starts: the exact flow decides.

Depth has no closed formula. What decides is known all the same: the start, and after it the
gradient flow on the exact population, which has no noise and no step size. So the odds are the
share of the law's own draws whose flow turns back.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.core.errors import bad
from dynascope.models.base import Model
from dynascope.runtime.compilation_cache import compilation_cache
from dynascope.runtime.precision import precision
from dynascope.tasks.identity_mapping import IdentityMapping
from dynascope.theories.base import initial_params

FIRST_DRAW = 2**31  # no run uses such seeds: the odds are of other starts than those measured
STEP = 0.04  # of the fourth-order rule; a quarter of it changes no share of 1,000 draws
# How far each stage reaches along the slope before it, and what its own slope counts for.
RUNGE_KUTTA = ((0.0, 1 / 6), (0.5, 1 / 3), (0.5, 1 / 3), (1.0, 1 / 6))


def swing_by_share(
    task: IdentityMapping, model: Model, rise: float, draws: int = 1000, horizon: float = 80.0
) -> float:
    """Share of a model's random starts whose test loss turns back up under gradient flow.

    Args:
        task: With the exact population (`samples_per_cluster=None`).
        model: A linear model of any depth and width; its own law of starts is drawn from.
        rise: What counts, as share of the first test loss: 0.01 is a rise by 1%.
        draws: Number of starts.
        horizon: Gradient-flow time to follow each; what has not turned by then does not count.

    Returns:
        The share; its standard error is at most 0.5 / sqrt(draws).

    Example:
        >>> from dynascope.models import Linear
        >>> still = Linear(initial_jacobian=((0.0, 0.0), (0.0, 0.0)))
        >>> swing_by_share(IdentityMapping((1.0, 2.0), (0.05, 0.05)), still, 0.01, draws=2)
        0.0
    """
    network = model.build(task.input_size, task.output_size)
    if network.matrix is None or not task.exact:
        raise bad(
            "model", type(model).__name__, "a linear model and a task with its exact population"
        )
    if draws < 1:
        raise bad("draws", draws, "a whole number of at least 1")
    starts = initial_params(task, model, np.arange(FIRST_DRAW, FIRST_DRAW + draws))
    with precision("float64"), compilation_cache():
        one = partial(_largest_rise, task, network, round(horizon / STEP))
        return float(np.mean(np.asarray(jax.jit(jax.vmap(one))(starts)) > rise))


def _largest_rise(task: IdentityMapping, network: Any, steps: int, start: Any) -> jax.Array:
    """The largest rise of the test loss above its running minimum, as share of the first."""
    population = task.samples(jax.random.key(0))

    def slope(params: Any) -> Any:
        return jax.grad(lambda p: -task.loss(network.bind(p), population))(params)

    def step(_: jax.Array, carry: tuple) -> tuple:
        params, lowest, largest = carry
        params = runge_kutta(slope, params, STEP)
        loss = task.test_loss(network.bind(params))
        return params, jnp.minimum(lowest, loss), jnp.maximum(largest, loss - lowest)

    first = task.test_loss(network.bind(start))
    carry = (start, first, jnp.zeros_like(first))
    return jax.lax.fori_loop(0, steps, step, carry)[2] / first


def runge_kutta(slope: Callable[[Any], Any], begin: Any, step: float) -> Any:
    """One step of the classical fourth-order rule; one stage is compiled, and run four times.

    Example:
        >>> round(float(runge_kutta(lambda y: y, jnp.array(1.0), 0.1)), 6)  # e^0.1 = 1.105171
        1.105171
    """

    def moved(params: Any, along: Any, by: jax.Array) -> Any:
        return jax.tree.map(lambda p, k: p + by * k, params, along)

    def stage(carry: tuple, numbers: jax.Array) -> tuple:
        end, k = carry
        reach, weight = step * numbers
        k = slope(moved(begin, k, reach))
        return (moved(end, k, weight), k), None

    return jax.lax.scan(stage, (begin, begin), jnp.array(RUNGE_KUTTA))[0][0]
