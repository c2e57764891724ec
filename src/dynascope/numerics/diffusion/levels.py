"""Noise levels: z = alpha x + sigma eps with alpha^2 + sigma^2 = 1.

The level gamma is the logarithm of sigma^2 / alpha^2, so that both follow from it.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp


def alpha(gamma: jax.Array) -> jax.Array:
    """What is left of the data: alpha^2 = sigmoid(-gamma).

    Example:
        >>> round(float(alpha(jnp.asarray(0.0))) ** 2, 6)
        0.5
    """
    return jnp.sqrt(jax.nn.sigmoid(-gamma))


def sigma(gamma: jax.Array) -> jax.Array:
    """How much noise there is: sigma^2 = sigmoid(gamma).

    Example:
        >>> g = jnp.asarray(1.3)
        >>> round(float(alpha(g) ** 2 + sigma(g) ** 2), 6)
        1.0
    """
    return jnp.sqrt(jax.nn.sigmoid(gamma))
