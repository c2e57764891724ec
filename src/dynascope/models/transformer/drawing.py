"""How a transformer's weights start: a tree of entries, drawn by two calls of the generator.

XLA takes a third of a second to compile each call of the generator, whatever its size, so all
numbers of one law are drawn at once and cut into arrays.
"""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp

from dynascope.numerics.draws import normal, uniform


class Entry(NamedTuple):
    """One array: its shape, the law of its numbers, and the factor on them."""

    shape: tuple[int, ...]
    law: Literal["uniform", "normal", "constant"]  # from -1 to 1; deviation 1; all alike
    factor: Any = 1.0


class Start(NamedTuple):
    """The law of a start: PyTorch's (uniform within 1/sqrt(inputs)) or GPT-2's (deviation 0.02).

    GPT-2 divides the maps that write into the residual stream (`writes`) by sqrt(2 depth), and
    its offsets are 0. "ntk" has the scaling of the tangent kernel: standard normal numbers, whose
    factors 1/sqrt(inputs) belong to the network (`factors_apart`), and offsets at 0.
    """

    law: Literal["pytorch", "gpt2", "ntk"]
    depth: int
    scale: Any = 1.0  # factor on everything

    def weight(self, shape: tuple[int, ...], inputs: int, *, writes: bool = False) -> Entry:
        """A matrix of any shape whose outputs sum over so many inputs."""
        if self.law == "pytorch":
            return Entry(shape, "uniform", self.scale * inputs**-0.5)
        if self.law == "ntk":
            return Entry(shape, "normal", self.scale * inputs**-0.5)
        return Entry(
            shape, "normal", self.scale * 0.02 * ((2 * self.depth) ** -0.5 if writes else 1.0)
        )

    def offset(self, shape: tuple[int, ...], inputs: int) -> Entry:
        """The offsets of such a matrix."""
        pytorch = self.law == "pytorch"
        return self.weight(shape, inputs) if pytorch else Entry(shape, "constant", 0.0)

    def table(self, shape: tuple[int, ...]) -> Entry:
        """Vectors that are looked up: of words, of positions."""
        return Entry(shape, "normal", self.scale * (0.02 if self.law == "gpt2" else 1.0))


def _is_entry(node: Any) -> bool:
    return isinstance(node, Entry)


def factors_apart(entries: Any) -> tuple[Any, Any]:
    """The same entries with normal numbers of deviation 1, and the tree of factors left out.

    Example:
        >>> plain, factors = factors_apart({"a": Entry((2,), "normal", 0.5)})
        >>> plain["a"].factor, factors
        (1.0, {'a': 0.5})
    """

    def normal(e: Entry) -> bool:
        return e.law == "normal"

    plain = jax.tree.map(lambda e: e._replace(factor=1.0) if normal(e) else e, entries,
                         is_leaf=_is_entry)  # fmt: skip
    return plain, jax.tree.map(lambda e: e.factor if normal(e) else 1.0, entries, is_leaf=_is_entry)


def drawn(key: jax.Array, entries: Any) -> Any:
    """The tree of arrays that a tree of entries describes.

    Example:
        >>> tree = {"a": Entry((2,), "constant", 3.0), "b": Entry((4, 5), "uniform")}
        >>> start = drawn(jax.random.key(0), tree)
        >>> start["a"].tolist(), start["b"].shape
        ([3.0, 3.0], (4, 5))
    """
    form = jnp.result_type(float)
    leaves, tree = jax.tree.flatten(entries, is_leaf=_is_entry)
    arrays: list[jax.Array | None] = [
        jnp.ones(e.shape, form) * e.factor if e.law == "constant" else None for e in leaves
    ]
    keys = jax.random.split(key)
    for law, own_key in (("uniform", keys[0]), ("normal", keys[1])):
        places = [i for i, e in enumerate(leaves) if e.law == law]
        if not places:
            continue
        sizes = [math.prod(leaves[i].shape) for i in places]
        count = (sum(sizes),)
        flat = uniform(own_key, count, -1.0) if law == "uniform" else normal(own_key, count)
        end = 0
        for i, size in zip(places, sizes, strict=True):
            begin, end = end, end + size
            arrays[i] = flat[begin:end].reshape(leaves[i].shape) * leaves[i].factor
    return jax.tree.unflatten(tree, arrays)
