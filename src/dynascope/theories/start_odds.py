"""How likely a swing-by is for any linear model, from its law of starts: the exact flow decides.

Depth has no closed formula. What decides is known all the same: the start, and after it the
gradient flow on the exact population, which has no noise and no step size. So the odds are the
share of the law's own draws whose flow turns back.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.core.errors import bad
from dynascope.core.randomness import key_for
from dynascope.models.base import Model
from dynascope.numerics.compilation_cache import compilation_cache
from dynascope.numerics.precision import precision
from dynascope.tasks.identity_mapping import IdentityMapping

FIRST_DRAW = 2**31  # no run uses such seeds: the odds are of other starts than those measured
STEP = 0.04  # of the fourth-order rule; a quarter of it changes no share of 1,000 draws


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
    seeds = np.arange(FIRST_DRAW, FIRST_DRAW + draws, dtype=np.uint32)
    steps = round(horizon / STEP)
    with precision("float64"), compilation_cache():
        one = partial(_largest_rise, task, network, steps)
        return float(np.mean(np.asarray(jax.jit(jax.vmap(one))(seeds)) > rise))


def _largest_rise(task: IdentityMapping, network: Any, steps: int, seed: jax.Array) -> jax.Array:
    """The largest rise of the test loss above its running minimum, as share of the first."""
    population = task.samples(jax.random.key(0))

    def slope(params: Any) -> Any:
        return jax.grad(lambda p: -task.loss(network.bind(p), population))(params)

    def moved(params: Any, along: Any, by: float) -> Any:
        return jax.tree.map(lambda p, k: p + by * k, params, along)

    def step(_: jax.Array, carry: tuple) -> tuple:
        params, lowest, largest = carry
        k1 = slope(params)
        k2 = slope(moved(params, k1, STEP / 2))
        k3 = slope(moved(params, k2, STEP / 2))
        k4 = slope(moved(params, k3, STEP))
        total = jax.tree.map(lambda a, b, c, d: (a + 2 * b + 2 * c + d) / 6, k1, k2, k3, k4)
        params = moved(params, total, STEP)
        loss = task.test_loss(network.bind(params))
        return params, jnp.minimum(lowest, loss), jnp.maximum(largest, loss - lowest)

    start = network.init(key_for(seed, "init"))
    first = task.test_loss(network.bind(start))
    carry = (start, first, jnp.zeros_like(first))
    return jax.lax.fori_loop(0, steps, step, carry)[2] / first
