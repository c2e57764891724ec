"""The fixed operators of graph-augmented MLPs in JAX: the same maps as in `graphs.operators`.

Each entry of `OPERATORS` takes a graph and returns values -> operator @ values, built from sums
over neighbours only, so that one spelling serves sparse and dense graphs. A node without edges
has no inverse degree; it counts as 0.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp

from dynascope.graphs.operators import BETHE_SHIFT, TELEPORT, pagerank_terms
from dynascope.tasks.graph_input import GraphInput

Apply = Callable[[jax.Array], jax.Array]


def degrees(graph: GraphInput) -> jax.Array:
    """(nodes, 1) number of neighbours."""
    return graph.neighbour_sum(jnp.ones((graph.features.shape[0], 1)))


def _inverse_root(values: jax.Array) -> jax.Array:
    return jnp.where(values > 0, 1.0 / jnp.sqrt(jnp.where(values > 0, values, 1.0)), 0.0)


def _degree(graph: GraphInput) -> Apply:
    """D."""
    d = degrees(graph)
    return lambda h: d * h


def _normalized(graph: GraphInput) -> Apply:
    """D^-1/2 A D^-1/2."""
    scale = _inverse_root(degrees(graph))
    return lambda h: scale * graph.neighbour_sum(scale * h)


def _self_loop(graph: GraphInput) -> Apply:
    """(D + I)^-1/2 (A + I) (D + I)^-1/2."""
    scale = _inverse_root(degrees(graph) + 1.0)

    def apply(h: jax.Array) -> jax.Array:
        scaled = scale * h
        return scale * (scaled + graph.neighbour_sum(scaled))

    return apply


def _bethe(graph: GraphInput) -> Apply:
    """8 I - H(r), H(r) = (r^2 - 1) I - r A + D, r^2 the average degree."""
    d = degrees(graph)
    squared = jnp.mean(d)
    stay = BETHE_SHIFT - (squared - 1.0) - d
    return lambda h: stay * h + jnp.sqrt(squared) * graph.neighbour_sum(h)


def _pagerank(graph: GraphInput) -> Apply:
    """Sum the series of t (I - (1 - t) S)^-1, S = D^-1/2 A D^-1/2, by Horner's rule."""
    step = _normalized(graph)

    def apply(h: jax.Array) -> jax.Array:
        def term(_: jax.Array, total: jax.Array) -> jax.Array:
            return TELEPORT * h + (1.0 - TELEPORT) * step(total)

        return jax.lax.fori_loop(0, pagerank_terms(TELEPORT), term, TELEPORT * h)

    return apply


OPERATORS: dict[str, Callable[[GraphInput], Apply]] = {
    "adjacency": lambda graph: graph.neighbour_sum,
    "normalized": _normalized,
    "self_loop": _self_loop,
    "triangle": lambda graph: graph.triangle_sum,
    "bethe": _bethe,
    "ppr": _pagerank,
    "degree": _degree,
}


def standardise(values: jax.Array) -> jax.Array:
    """Every column with mean 0 and variance 1 over the nodes; columns of one value become 0.

    Instance normalisation without learned scale; the small constant is that of its usual form.
    """
    centred = values - jnp.mean(values, axis=0)
    return centred / jnp.sqrt(jnp.mean(centred**2, axis=0) + 1e-5)


def powers(operator: Apply, values: jax.Array, count: int, normalise: bool) -> jax.Array:
    """(count, nodes, columns): the operator applied once, twice, ...

    Args:
        operator: values -> S values.
        values: (nodes, columns).
        count: The largest power.
        normalise: Standardise after every application, so that deep powers stay in range.

    Returns:
        The propagated values.
    """

    def step(h: jax.Array, _: None) -> tuple[jax.Array, jax.Array]:
        h = operator(h)
        h = standardise(h) if normalise else h
        return h, h

    return jax.lax.scan(step, values, None, length=count)[1]
