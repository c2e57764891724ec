"""Every weight by a name: `blocks.0.attention.query`, `output.weight`, and back again.

A dictionary of named arrays is what `numpy.savez` stores and `dynascope rank` reads.
"""

from __future__ import annotations

from typing import Any

import jax

from dynascope.core.errors import bad, unknown


def named_weights(params: Any) -> dict[str, jax.Array]:
    """All arrays by name, in jax's order of the tree: keys sorted.

    Example:
        >>> import jax.numpy as jnp
        >>> list(named_weights({"blocks": [{"a": jnp.ones(2)}], "b": jnp.ones(3)}))
        ['b', 'blocks.0.a']
    """
    return {_name(path): leaf for path, leaf in jax.tree_util.tree_leaves_with_path(params)}


def with_named_weights(params: Any, changes: dict[str, Any]) -> Any:
    """A copy with some arrays replaced by name; what is given is left as it was."""
    known = named_weights(params)
    for name, array in changes.items():
        if name not in known:
            raise unknown("weight", name, known)
        if array.shape != known[name].shape:
            raise bad(name, array.shape, f"an array of shape {known[name].shape}")
    return jax.tree_util.tree_map_with_path(
        lambda path, leaf: changes.get(_name(path), leaf), params
    )


def _name(path: tuple) -> str:
    return ".".join(str(getattr(part, "key", getattr(part, "idx", part))) for part in path)
