"""One attention head with full weight matrices (boix2023 (1))."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import jax

from dynascope.core.errors import bad
from dynascope.models.base import Model, Network
from dynascope.models.transformer.attention import Attention
from dynascope.numerics.draws import normal


@dataclass(frozen=True)
class AttentionHead(Model):
    """softmax(X W_K W_Q^T X^T) X W_V W_O^T, with four matrices of shape (d, width).

    Args:
        width: d', columns of each matrix; None takes d.
        init_scale: Standard deviation of every entry.
    """

    reads: ClassVar[Literal["vectors", "sequences", "graphs"]] = "sequences"

    width: int | None = None
    init_scale: float = 1.0

    def check(self) -> None:
        """Raise for a width below one."""
        if self.width is not None and self.width < 1:
            raise bad("width", self.width, "a whole number of at least 1, or None for d")

    def build(self, input_size: int, output_size: int) -> Network:
        """The pure functions for tokens of a size."""

        def init(key: jax.Array) -> dict[str, jax.Array]:
            drawn = normal(key, (4, input_size, self.width or input_size))
            return dict(zip("KQVO", self.init_scale * drawn, strict=True))

        part = Attention(
            input_size, 1, self.width or input_size, 1, False, False, False, False, None
        )

        def apply(params: dict[str, jax.Array], x: jax.Array) -> jax.Array:
            k, q, v, o = (params[name] for name in "KQVO")
            # What the document calls keys asks here: the two differ by their names.
            maps = {
                "query": k[:, None],
                "key": q[:, None],
                "value": v[:, None],
                "output": o.T[None],
            }
            return part(maps, x)

        return Network(init, apply)
