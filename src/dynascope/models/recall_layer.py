"""The simplified layer of chen2025 (4.2): one attention and one linear part, from zero.

x_t = W_E(z_t) + W'_E(z_{t-1}), logits W_U sum_t a_t W_V x_t + W_U W_F x_T with a = softmax(x_T^T
W_QK x_t). All embeddings are orthonormal, so tokens and the tokens before them are coordinates:
the weights are matrices on these 2 (N + 1) features, and no width is needed. Exact population
gradients of the same layer are in `theories/recall/population.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp

from dynascope.models.base import Model, Network
from dynascope.tasks.recall.base import Asked

Params = dict[str, jax.Array]


@dataclass(frozen=True)
class RecallLayer(Model):
    """Asked at the last place alone; all weights start at zero, and nothing is random.

    Example:
        >>> network = RecallLayer().build(3, 3)
        >>> params = network.init(jax.random.key(0))
        >>> {name: weight.shape for name, weight in params.items()}
        {'attention': (6, 6), 'values': (3, 6), 'feed_forward': (3, 6)}
    """

    def accepts(self, kind: str) -> bool:
        """Tokens with places that are asked; it answers at the last one."""
        return kind == "asked tokens"

    def build(self, input_size: int, output_size: int) -> Network:
        """The pure functions for so many tokens."""
        shapes = {
            "attention": (2 * input_size, 2 * input_size),
            "values": (output_size, 2 * input_size),
            "feed_forward": (output_size, 2 * input_size),
        }

        def init(key: jax.Array) -> Params:
            form = jnp.result_type(float)
            return {name: jnp.zeros(shape, form) for name, shape in shapes.items()}

        def apply(params: Params, x: jax.Array | Asked) -> jax.Array:
            tokens = x.tokens if isinstance(x, Asked) else x
            logits = last_logits(params, tokens, input_size)
            return logits[:, None] if isinstance(x, Asked) else logits

        return Network(init, apply)


def features(tokens: jax.Array, count: int, form: jnp.dtype) -> jax.Array:
    """(rows, T, 2 count): which token is here, and which before; nothing before the first."""
    here = jax.nn.one_hot(tokens, count, dtype=form)
    before = jnp.pad(here[:, :-1], ((0, 0), (1, 0), (0, 0)))
    return jnp.concatenate([here, before], axis=-1)


def last_logits(params: Params, tokens: jax.Array, count: int) -> jax.Array:
    """Logits (rows, tokens) at the last place."""
    x = features(tokens, count, params["values"].dtype)
    scores = jnp.einsum("bi,ij,btj->bt", x[:, -1], params["attention"], x)
    read = jnp.einsum("bt,bti->bi", jax.nn.softmax(scores), x)
    return read @ params["values"].T + x[:, -1] @ params["feed_forward"].T
