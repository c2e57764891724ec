"""Two-layer ReLU networks with moving or frozen gates, and general quadratic models.

With its gates frozen at the start, the two-layer ReLU network *is* its own second-order
expansion in the parameters (zhu2024 (3.10), the neural quadratic model): ReLU is linear within a
gate, so the network is bilinear in its two layers. No Hessian is needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import jax
import jax.numpy as jnp

from dynascope.core.errors import bad
from dynascope.models.base import Model, Network
from dynascope.numerics.draws import normal, signs

Gates = Literal["moving", "frozen"]


@dataclass(frozen=True)
class TwoLayerReLU(Model):
    """f = sum_i v_i relu(u_i^T x) / sqrt(m d), with u_i ~ N(0, I) and v_i = 1 or -1 (3.9).

    Args:
        width: m.
        gates: "moving" is the network; "frozen" keeps the gates of the start, which makes it
            the network's quadratic model. Both begin at the same weights for the same key.

    Example:
        >>> x = jnp.array([[1.0, -2.0], [0.5, 0.5]])
        >>> outputs = []
        >>> for gates in ("moving", "frozen"):
        ...     network = TwoLayerReLU(width=8, gates=gates).build(2, 1)
        ...     outputs.append(network.apply(network.init(jax.random.key(0)), x))
        >>> bool(jnp.allclose(*outputs))
        True
    """

    width: int = 64
    gates: Gates = "moving"

    def check(self) -> None:
        """Raise for a width below one."""
        if self.width < 1:
            raise bad("width", self.width, "a whole number of at least 1")

    def build(self, input_size: int, output_size: int) -> Network:
        """The pure functions; there is one output."""
        if output_size != 1:
            raise bad("output_size", output_size, "1", "this network has a single output")

        def init(key: jax.Array) -> dict[str, jax.Array]:
            first, second = jax.random.split(key)
            u = normal(first, (self.width, input_size))
            v = signs(second, (self.width,))
            # The gates' own copy of the first layer has gradient zero, so no rule moves it.
            return {"u": u, "v": v} | ({"gates": u} if self.gates == "frozen" else {})

        def apply(params: dict[str, jax.Array], x: jax.Array) -> jax.Array:
            hidden = x @ params["u"].T
            reach = x @ params["gates"].T if self.gates == "frozen" else hidden
            on = (reach >= 0).astype(x.dtype)  # at zero too, as the document has it
            scale = 1.0 / (self.width * input_size) ** 0.5
            return scale * ((hidden * on) @ params["v"])[..., None]

        return Network(init, apply)


@dataclass(frozen=True)
class QuadraticModel(Model):
    """g = w^T x / |x| + gamma w^T S w / 2 with S = diag(1 or -1) and w ~ N(0, I) (zhu2024 (3.3)).

    The signs of S are drawn with the weights and never move. The tangent kernel of one example
    is |x / |x| + gamma S w|^2, close to 1 for a small gamma.

    Args:
        gamma: How far from linear the model is; 1 / gamma^2 plays the part of a width.

    Example:
        >>> network = QuadraticModel(gamma=0.0).build(3, 1)
        >>> params = network.init(jax.random.key(0))
        >>> bool(network.apply(params, jnp.array([2.0, 0.0, 0.0]))[0] == params["weights"][0])
        True
    """

    gamma: float = 1e-3

    def build(self, input_size: int, output_size: int) -> Network:
        """The pure functions; there is one output."""
        if output_size != 1:
            raise bad("output_size", output_size, "1", "this model has a single output")

        def init(key: jax.Array) -> dict[str, jax.Array]:
            first, second = jax.random.split(key)
            weights = normal(first, (input_size,))
            return {"weights": weights, "signs": signs(second, (input_size,))}

        def apply(params: dict[str, jax.Array], x: jax.Array) -> jax.Array:
            w, fixed = params["weights"], jax.lax.stop_gradient(params["signs"])
            feature = x / jnp.linalg.norm(x, axis=-1, keepdims=True)
            return (feature @ w + self.gamma * 0.5 * (fixed * w) @ w)[..., None]

        return Network(init, apply)
