"""Networks whose trained weights are diagonal: functions of products u * v (boix2023 Def. 3.1).

Parameters are "u" and "v", flat and of one size p; the output depends on z = u * v alone.
`GradientDescent` moves u and v; `RescaledFlow` follows their flow from starts of any size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.core.errors import bad
from dynascope.models.base import Model, Network
from dynascope.models.transformer import Transformer
from dynascope.numerics.draws import normal
from dynascope.tasks.attention_teacher import attention


def _of_products(size: int, scale: float, output: Callable[[jax.Array, jax.Array], jax.Array],
                 start: tuple | None = None) -> Network:  # fmt: skip
    """The network x -> output(z, x), with u and v ~ N(0, scale^2) or as given."""

    def init(key: jax.Array) -> dict[str, jax.Array]:
        u, v = normal(key, (2, size)) if start is None else jnp.asarray(start, float)
        return {"u": scale * u, "v": scale * v}

    return Network(init, lambda params, x: output(params["u"] * params["v"], x))


@dataclass(frozen=True)
class DiagonalLinear(Model):
    """f(x) = sum u_i v_i x_i (boix2023 footnote 2).

    Args:
        init_scale: Standard deviation of u and v, or what multiplies the given start.
        start: u and v, one row each; None draws them.

    Example:
        >>> network = DiagonalLinear(start=((2.0, 1.0), (3.0, 0.0))).build(2, 1)
        >>> float(network.apply(network.init(jax.random.key(0)), jnp.array([1.0, 5.0]))[0])
        6.0
    """

    init_scale: float = 1.0
    start: tuple[tuple[float, ...], tuple[float, ...]] | None = None

    def check(self) -> None:
        """Raise for a start of two different lengths."""
        if self.start is not None and len({len(row) for row in self.start}) > 1:
            raise bad("start", self.start, "u and v of one length")

    def build(self, input_size: int, output_size: int) -> Network:
        """The pure functions; there is one output."""
        if output_size != 1:
            raise bad("output_size", output_size, "1", "this network has a single output")
        if self.start is not None and len(self.start[0]) != input_size:
            raise bad("start", self.start, f"two rows of {input_size} numbers")
        return _of_products(input_size, self.init_scale, lambda z, x: (x @ z)[..., None],
                            self.start)  # fmt: skip


@dataclass(frozen=True)
class DiagonalAttention(Model):
    """One attention head with diagonal weights; z = [w_K w_Q, w_V w_O], p = 2 d.

    Args:
        init_scale: Standard deviation of every weight.
    """

    reads: ClassVar[Literal["vectors", "sequences", "graphs"]] = "sequences"

    init_scale: float = 1.0

    def build(self, input_size: int, output_size: int) -> Network:
        """The pure functions for tokens of a size."""

        def output(z: jax.Array, x: jax.Array) -> jax.Array:
            return attention(x, z[:input_size], z[input_size:])

        return _of_products(2 * input_size, self.init_scale, output)


@dataclass(frozen=True)
class DiagonalTransformer(Model):
    """Residual layers of diagonal heads and a frozen feed-forward part (boix2023 Example 3.2).

    The blocks are those of `Transformer`, with diagonal matrices for a head's maps.

    Z~ = Z + sum over heads of attn(Z), then Z = Z~ + gelu(Z~ W_A) W_B^T. z holds, layer by layer
    and head by head, the d products of w_K and w_Q and then those of w_V and w_O; p = 2 d H L.

    Args:
        layers: L.
        heads: H, in every layer.
        init_scale: Standard deviation of every trained weight.
        feedforward_scale: Standard deviation of W_A and W_B times sqrt(d); 0 leaves them out.
    """

    reads: ClassVar[Literal["vectors", "sequences", "graphs"]] = "sequences"

    layers: int = 2
    heads: int = 1
    init_scale: float = 1.0
    feedforward_scale: float = 1.0

    def check(self) -> None:
        """Raise for no layers or no heads."""
        for name in ("layers", "heads"):
            if getattr(self, name) < 1:
                raise bad(name, getattr(self, name), "a whole number of at least 1")

    def build(self, input_size: int, output_size: int) -> Network:
        """The pure functions for tokens of a size."""
        shape = (self.layers, self.heads, 2, input_size)
        parts = Transformer(
            depth=self.layers, width=input_size, heads=self.heads, head_size=input_size,
            hidden=input_size, activation="gelu_tanh", norm="none", bias=False, scaled=False,
        )  # fmt: skip
        # Frozen: the same for every seed, and no rule may move it.
        drawn = np.random.default_rng(0).normal(size=(self.layers, 2, input_size, input_size))

        def output(z: jax.Array, x: jax.Array) -> jax.Array:
            frozen = self.feedforward_scale * jnp.asarray(drawn / input_size**0.5, x.dtype)
            unit = jnp.eye(input_size, dtype=x.dtype)
            for heads, (first, second) in zip(z.reshape(shape), frozen, strict=True):
                # Maps (width, head, size): a product on the diagonal of one, the other is 1.
                scores, values = (unit[:, None] * heads[:, k] for k in (0, 1))
                same = jnp.broadcast_to(unit[:, None], scores.shape)
                x = parts.block(
                    {
                        "attention_norm": {}, "feed_forward_norm": {},
                        "attention": {
                            "query": scores, "key": same, "value": values,
                            "output": same.transpose(1, 2, 0),
                        },
                        "feed_forward": {"in": first, "out": second.T},
                    },
                    x,
                )  # fmt: skip
            return x

        return _of_products(2 * input_size * self.heads * self.layers, self.init_scale, output)
