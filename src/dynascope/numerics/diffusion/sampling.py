r"""The ancestral sampler: from noise at t = 1 to data at t = 0 in equal steps of time.

From t to s < t, with c = 1 - exp(gamma_s - gamma_t):

    z_s = (alpha_s / alpha_t) (z_t - c sigma_t eps_hat) + sigma_s sqrt(c) xi

and x = z / alpha at the end.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import lax

from dynascope.core.errors import bad
from dynascope.numerics.diffusion.levels import alpha, sigma
from dynascope.numerics.draws import normal


def ancestral(
    level: Callable[[jax.Array], jax.Array],
    estimate: Callable[[jax.Array, jax.Array], jax.Array],
    key: jax.Array,
    shape: tuple[int, int],
    steps: int,
) -> jax.Array:
    """Samples of the model.

    Args:
        level: gamma(t).
        estimate: eps_hat(z, gamma) with gamma (samples,).
        key: Of the noise.
        shape: (samples, D).
        steps: Any number of steps of at least 1; it need not be known in training.

    Returns:
        Samples, (samples, D).

    Example:
        Data that are always 0 have eps_hat = z / sigma, and are found in one step up to the noise
        that is left at t = 0.

        >>> found = ancestral(lambda t: 20 * t - 20, lambda z, g: z / sigma(g)[:, None],
        ...                   jax.random.key(0), (100, 2), 1)
        >>> bool(jnp.abs(found).max() < 1e-3)
        True
    """
    check_sampling_steps(steps)
    form = jnp.result_type(float)
    first, *rest = jax.random.split(key)

    def step(i: jax.Array, z: jax.Array) -> jax.Array:
        now = (1 - jnp.asarray(i, form) / steps).astype(form)
        gamma, after = level(now), level(now - 1 / steps)
        c = -jnp.expm1(after - gamma)
        noise = estimate(z, jnp.broadcast_to(gamma, shape[:1]))
        mean = alpha(after) / alpha(gamma) * (z - c * sigma(gamma) * noise)
        return mean + sigma(after) * jnp.sqrt(c) * normal(jax.random.fold_in(rest[0], i), shape)

    z = lax.fori_loop(0, steps, step, normal(first, shape))
    return z / alpha(level(jnp.zeros((), form)))


def check_sampling_steps(steps: int) -> None:
    """Raise `BadInput` for fewer than one step."""
    if steps < 1:
        raise bad("sampling_steps", steps, "a whole number of at least 1")
