"""What stands between layers, by name.

The derivative of ReLU at exactly 0 is jax's, 0; 004 takes 1. That matters only where a
pre-activation is exactly 0 while its input is not, which no random start gives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import jax
import jax.numpy as jnp

Activation = Literal["linear", "relu", "tanh", "swish"]

ACTIVATIONS: dict[str, Callable[[jax.Array], jax.Array]] = {
    "linear": lambda h: h,
    "relu": jax.nn.relu,
    "tanh": jnp.tanh,
    "swish": jax.nn.swish,
}
