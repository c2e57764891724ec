"""Spectra and stable ranks of a transformer's head products, while it trains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import jax

from dynascope.core import quantities
from dynascope.core.quantities import Quantity
from dynascope.models.base import Network
from dynascope.models.transformer import head_maps
from dynascope.models.transformer.heads import has_heads
from dynascope.probes.base import Snapshot, WarmProbe
from dynascope.probes.product_spectra import difference_spectrum, product_spectrum, stable_rank
from dynascope.tasks.base import Task


@dataclass(frozen=True)
class ProductSpectrum(WarmProbe):
    """Singular values of W_K W_Q^T ("kq") or W_V W_O^T ("vo") of every head, or of their change.

    Cost: for every head a QR of two d x 2 d_h matrices and an SVD of one 2 d_h x 2 d_h matrix.
    Remembers the start. Misleads: the first steps of Adam have the signs of the gradient, which
    are not of low rank, so that the rank falls before it rises.

    Args:
        product: Which of the two products.
        of: "change" since the start, zero at first, or the "weights" themselves.
    """

    quantity: ClassVar[Quantity] = quantities.PRODUCT_SPECTRUM

    product: Literal["kq", "vo"] = "kq"
    of: Literal["change", "weights"] = "change"

    def dims(self, task: Task) -> tuple[str, ...]:
        """The weights themselves have half as many singular values as their change."""
        dims = self.quantity.dims
        return tuple("weight_rank" if d == "rank" and self.of == "weights" else d for d in dims)

    def needs(self, task: Task, network: Network) -> str | None:
        """A transformer."""
        params = jax.eval_shape(network.init, jax.random.key(0))
        return None if has_heads(params) else "models.Transformer"

    def memory(self, snapshot: Snapshot) -> Any:
        """Both factors of every head's product at the start; nothing for the weights themselves."""
        return self._factors(snapshot) if self.of == "change" else ()

    def remeasure(self, snapshot: Snapshot, memory: Any) -> tuple[jax.Array, Any]:
        """(layer, head, rank), the largest first."""
        now = self._factors(snapshot)
        found = difference_spectrum(*now, *memory) if memory else product_spectrum(*now)
        return found, memory

    def _factors(self, snapshot: Snapshot) -> tuple[jax.Array, jax.Array]:
        maps = head_maps(snapshot.params)
        return (maps.key, maps.query) if self.product == "kq" else (maps.value, maps.output)


@dataclass(frozen=True)
class StableRank(ProductSpectrum):
    """Stable rank of W_K W_Q^T or W_V W_O^T of every head, or of their change; nan before any.

    Cost and what misleads: as `ProductSpectrum`.
    """

    quantity: ClassVar[Quantity] = quantities.STABLE_RANK
    undefined = "NaN for the zero matrix"

    def remeasure(self, snapshot: Snapshot, memory: Any) -> tuple[jax.Array, Any]:
        """(layer, head)."""
        spectrum, memory = super().remeasure(snapshot, memory)
        return stable_rank(spectrum), memory
