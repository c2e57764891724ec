"""A measured number with what certifies it: residual, products, verdict, definition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax

from dynascope.numerics.eigenpairs import Eigenpairs


@partial(
    jax.tree_util.register_dataclass,
    data_fields=["value", "vector", "residual", "products", "converged"],
    meta_fields=["definition"],
)
@dataclass(frozen=True)
class Certified:
    """A number that comes from an eigenpair, and how far it can be trusted.

    Within a function that jax traces (`jit`, `vmap`) the fields are arrays; outside they are
    plain numbers, except for `vector`.
    """

    value: float  # the eigenvalue, or the rate made of it
    vector: Any  # the unit eigenvector, in the shape of what was varied
    residual: float  # |A v - lambda v| / |lambda|, from a product of its own
    products: int  # products with vectors that it took, the last for the residual
    converged: bool  # residual <= tolerance, or lambda is zero up to rounding
    definition: str  # of what, by which loss, reduction and batch


def certify(
    pairs: Eigenpairs, restore: Callable[[jax.Array], Any], definition: str
) -> tuple[Certified, ...]:
    """One record per pair, best first."""
    count = pairs.values.shape[0]
    return tuple(
        plain(
            Certified(
                pairs.values[i],  # type: ignore[arg-type]
                restore(pairs.vectors[i]),
                pairs.residuals[i],  # type: ignore[arg-type]
                pairs.products[i],  # type: ignore[arg-type]
                pairs.converged[i],  # type: ignore[arg-type]
                definition,
            )
        )
        for i in range(count)
    )


def plain(record: Certified) -> Certified:
    """The same with Python's numbers, unless it is being traced."""
    if isinstance(record.value, jax.core.Tracer):
        return record
    return Certified(
        float(record.value),
        record.vector,
        float(record.residual),
        int(record.products),
        bool(record.converged),
        record.definition,
    )
