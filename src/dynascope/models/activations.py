"""What stands between layers, by name.

The derivative of ReLU at exactly 0 is jax's, 0; zhu2024 takes 1. That matters only where a
pre-activation is exactly 0 while its input is not, which no random start gives.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal

import jax
import jax.numpy as jnp

Activation = Literal["linear", "relu", "tanh", "swish", "gelu", "gelu_tanh"]

ACTIVATIONS: dict[str, Callable[[jax.Array], jax.Array]] = {
    "linear": lambda h: h,
    "relu": jax.nn.relu,
    "tanh": jnp.tanh,
    "swish": jax.nn.swish,
    "gelu": partial(jax.nn.gelu, approximate=False),
    "gelu_tanh": partial(jax.nn.gelu, approximate=True),  # what GPT-2 has
}
