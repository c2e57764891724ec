r"""The variational bound of a diffusion model in its three parts, in bits per dimension.

Kingma et al. 2021, continuous time; x has D coordinates, eps is standard normal noise,
z = alpha x + sigma eps the corrupted x at the level gamma(t), eps_hat the model's estimate:

    diffusion       1/2 gamma'(t) |eps - eps_hat(z, gamma(t))|^2, mean over t from 0 to 1
    prior           KL(z at t = 1 || standard normal)
    reconstruction  -log p(x | z at t = 0), normal around z / alpha with deviation s, the data noise

The mean of the reconstruction over the noise is D (log(2 pi s^2) + exp(gamma(0)) / s^2) / 2; it is
used as it is, so that no noise is drawn for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from dynascope.numerics.diffusion.levels import alpha, sigma


class Parts(NamedTuple):
    """The three parts of the bound, in bits per dimension, one number a sample."""

    diffusion: jax.Array
    prior: jax.Array
    reconstruction: jax.Array


def antithetic_times(first: jax.Array, count: int) -> jax.Array:
    """Times of a batch, evenly spread: t_i = (u + i) / count from one u between 0 and 1.

    Example:
        >>> antithetic_times(jnp.asarray(0.5), 4).tolist()
        [0.125, 0.375, 0.625, 0.875]
    """
    return (first + jnp.arange(count, dtype=first.dtype)) / count


def bound_parts(
    level: Callable[[jax.Array], jax.Array],
    estimate: Callable[[jax.Array, jax.Array], jax.Array],
    x: jax.Array,
    times: jax.Array,
    noise: jax.Array,
    data_noise: Any,
) -> Parts:
    """The parts of the bound for some samples, each at one time.

    Args:
        level: gamma(t), for one time or several.
        estimate: eps_hat(z, gamma), z of the form of `x`, gamma (samples,).
        x: Samples, (samples, D).
        times: (samples,).
        noise: eps, of the form of `x`.
        data_noise: The deviation s.

    Returns:
        Three arrays (samples,).

    Example:
        A model that estimates no noise pays for all of it: with gamma' = 2 and eps = (1, 1) the
        first part is 1 nat a dimension.

        >>> parts = bound_parts(lambda t: 2 * t, lambda z, g: 0 * z, jnp.zeros((1, 2)),
        ...                     jnp.asarray([0.5]), jnp.ones((1, 2)), 1.0)
        >>> round(float(parts.diffusion[0]) * math.log(2), 6)
        1.0
    """
    size = x.shape[-1]
    gamma, slope = jax.jvp(level, (times,), (jnp.ones_like(times),))
    z = alpha(gamma)[:, None] * x + sigma(gamma)[:, None] * noise
    error = ((noise - estimate(z, gamma)) ** 2).sum(-1)
    least, most = level(jnp.zeros((), x.dtype)), level(jnp.ones((), x.dtype))
    variance = jax.nn.sigmoid(most)
    square = jax.nn.sigmoid(-most) * (x**2).sum(-1)
    prior = (size * (variance - 1 - jax.nn.log_sigmoid(most)) + square) / 2
    spread = jnp.asarray(data_noise, x.dtype) ** 2
    reconstruction = size * (jnp.log(2 * math.pi * spread) + jnp.exp(least) / spread) / 2
    bits = 1 / (size * math.log(2))
    return Parts(
        slope * error * (bits / 2), prior * bits,
        jnp.broadcast_to(reconstruction * bits, prior.shape),
    )  # fmt: skip
