"""All arrays of a network as one vector, cut to their shapes where they are used.

An optimiser, the check for divergence and an average then work on one array instead of hundreds,
each of which would be kernels of its own to compile.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from dynascope.models.base import Network
from dynascope.models.transformer.drawing import Entry, drawn


def flat_network(
    entries: Any,
    apply: Callable[[Any, Any], jax.Array],
    level: Callable[[Any, jax.Array], jax.Array] | None = None,
) -> Network:
    """A network whose parameters are one vector.

    Args:
        entries: The tree of arrays, with the law of each in its place.
        apply: Of the tree and the input.
        level: Noise levels of a denoiser, of the tree and a time.

    Returns:
        The network; `cut` of its parameters gives the tree back.

    Example:
        >>> tree = {"a": Entry((2,), "constant", 3.0), "b": Entry((), "constant", 1.0)}
        >>> network = flat_network(tree, lambda tree, x: tree["a"] * x + tree["b"])
        >>> params = network.init(jax.random.key(0))
        >>> params.tolist(), network.apply(params, 2.0).tolist()
        ([3.0, 3.0, 1.0], [7.0, 7.0])
    """

    def init(key: jax.Array) -> jax.Array:
        return jnp.concatenate([a.ravel() for a in jax.tree.leaves(drawn(key, entries))])

    own_level = None if level is None else lambda p, t: level(cut(p, entries), t)
    return Network(init, lambda p, x: apply(cut(p, entries), x), level=own_level)


def cut(vector: jax.Array, entries: Any) -> Any:
    """The tree of arrays that a vector holds."""
    leaves, tree = jax.tree.flatten(entries, is_leaf=lambda node: isinstance(node, Entry))
    sizes = [math.prod(e.shape) for e in leaves]
    parts = lax.split(jnp.asarray(vector), sizes)  # its gradient is one concatenation
    return jax.tree.unflatten(
        tree, [part.reshape(e.shape) for part, e in zip(parts, leaves, strict=True)]
    )
