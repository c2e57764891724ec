"""A model that goes on from trained parameters: the second phase of a training in two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.core.errors import bad
from dynascope.models.base import Model, Network


@dataclass(frozen=True, eq=False)
class Continued(Model):
    """Another model whose start is not drawn but given; the fingerprint covers the values.

    Args:
        model: What learns.
        values: All its parameters as one row, in jax's order of the tree.

    Example:
        >>> from dynascope.models import MLP
        >>> first = MLP(1, 2, bias=False).build(2, 2)
        >>> start = first.init(jax.random.key(3))
        >>> again = continued(MLP(1, 2, bias=False), start).build(2, 2).init(jax.random.key(4))
        >>> all(map(np.array_equal, jax.tree.leaves(start), jax.tree.leaves(again)))
        True
    """

    model: Model
    values: Any

    def check(self) -> None:
        """Raise unless the values are a row of finite numbers."""
        row = np.asarray(self.values)
        if row.ndim != 1 or not np.isfinite(row).all():
            raise bad("values", f"shape {row.shape}", "one row of finite numbers")
        object.__setattr__(self, "values", row)

    def accepts(self, kind: str) -> bool:
        """What the model itself can read."""
        return self.model.accepts(kind)

    def build(self, input_size: int, output_size: int) -> Network:
        """The model's functions, with the given start."""
        network = self.model.build(input_size, output_size)
        shapes, tree = jax.tree.flatten(jax.eval_shape(network.init, jax.random.key(0)))
        ends = np.cumsum([int(np.prod(s.shape)) for s in shapes])
        if ends[-1] != len(self.values):
            raise bad("values", len(self.values), f"{ends[-1]} numbers, as the model has")

        def init(key: jax.Array) -> Any:
            parts = np.split(self.values, ends[:-1])
            shaped = [jnp.asarray(p.reshape(s.shape)) for p, s in zip(parts, shapes, strict=True)]
            return jax.tree.unflatten(tree, shaped)

        return network._replace(init=init)


def continued(model: Model, params: Any) -> Continued:
    """The model started from a tree of parameters, such as `kept_parameters` gives."""
    return Continued(model, np.concatenate([np.ravel(a) for a in jax.tree.leaves(params)]))
