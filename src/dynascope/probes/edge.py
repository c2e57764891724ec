"""At the edge of stability: does the gradient oscillate, and does the valley hold it?

chen2025 section 3.7.2. Past the edge the gradient should point along the Hessian's top eigenvector,
and the loss along it should satisfy the condition of Theorem 3.1 at the bottom of the valley
that the step crosses. Derivatives are exact: nested forward mode, at fixed signs of ReLU inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from dynascope.core import quantities
from dynascope.core.errors import bad
from dynascope.core.quantities import Quantity
from dynascope.core.spec import static_field
from dynascope.numerics.derivatives import derivative, tower
from dynascope.numerics.eigenpairs import MAX_PRODUCTS, TOLERANCE, starts, top_eigenpairs
from dynascope.numerics.products import flatten, hessian_product
from dynascope.probes.base import Snapshot, WarmProbe
from dynascope.probes.curvature import check_effort, unknown_vector
from dynascope.tasks.base import Task

POINTS, HALVINGS = 17, 30  # points along the step that are tried, then bisections around one


class Jet(NamedTuple):
    """The loss along minus the gradient, at the lowest place of a descent step (chen2025 Def. 5).

    Derivatives are with respect to the distance. At a place of 1 the step ends before a valley
    is crossed, and the slope is not zero.
    """

    place: Any  # c*, a share of the step from 0 to 1
    second: Any
    third: Any
    fourth: Any

    @property
    def criticality(self) -> Any:
        """3 f3^2 - f2 f4: above 0 the valley lets a step across it settle on an orbit."""
        return 3 * self.third**2 - self.second * self.fourth


def line_jet(
    loss: Callable[..., jax.Array], params: Any, learning_rate: float, *, data: tuple = ()
) -> Jet:
    """The lowest place along a step of gradient descent, and the loss's curvature there.

    Args:
        loss: `loss(params, *data)`, a scalar that jax can differentiate.
        params: A tree of floating arrays.
        learning_rate: Length of the step over the gradient's.
        data: Further arguments of the loss, such as a batch.

    Returns:
        Place and derivatives of order 2 to 4; NaN where the gradient is zero.

    Cost: about 17 evaluations of the loss and 30 directional derivatives. Misleads: for ReLU the
    derivatives hold at fixed signs of all inputs; kinks that the step crosses are not in them.

    Example:
        >>> valley = lambda x: (x[0] ** 2 - 1) ** 2 / 4  # flip's example, with its minimum at 1
        >>> jet = line_jet(valley, jnp.array([0.9]), 1.05)
        >>> [round(float(d), 2) for d in (jet.second, jet.third, jet.fourth, jet.criticality)]
        [2.0, 6.0, 6.0, 96.0]
    """
    jet = _line(loss, params, _checked(learning_rate, params), data)
    return Jet(*(float(part) for part in jet))


@partial(jax.jit, static_argnums=0)
def _line(loss: Callable, params: Any, rate: jax.Array, data: tuple) -> Jet:
    vector, restore = flatten(params)
    slope, _ = flatten(jax.grad(loss)(params, *data))
    size = jnp.linalg.norm(slope)

    def along(distance: jax.Array) -> jax.Array:
        return loss(restore(vector - distance * slope / size), *data)

    length = rate * size
    lowest = _lowest(along, length)
    *_, second, third, fourth = tower(along, 4)(lowest)
    return Jet(lowest / length, second, third, fourth)


def _lowest(f: Callable, length: jax.Array) -> jax.Array:
    """The lowest place from 0 to `length`: the best of many, then bisection on the slope."""
    points = length * jnp.linspace(0, 1, POINTS, dtype=length.dtype)
    # One after the other: many copies of a network side by side need no less time.
    best = jnp.argmin(lax.map(f, points))
    ends = points[jnp.maximum(best - 1, 0)], points[jnp.minimum(best + 1, POINTS - 1)]
    slope = derivative(f)

    def halve(_: int, ends: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        low, high = ends
        middle = (low + high) / 2
        falls = slope(middle) < 0
        return jnp.where(falls, middle, low), jnp.where(falls, high, middle)

    low, high = lax.fori_loop(0, HALVINGS, halve, ends)
    return (low + high) / 2


class Edge(NamedTuple):
    """Where a descent stands with respect to the edge of stability, 2 / learning rate."""

    sharpness: Any  # NaN where it did not converge, as is the alignment
    alignment: Any  # |cos| of the angle between gradient and top eigenvector, from 0 to 1
    place: Any  # and what follows: see `Jet`
    second: Any
    third: Any
    fourth: Any

    @property
    def criticality(self) -> Any:
        """3 f3^2 - f2 f4 at the lowest place of the step."""
        return Jet(*self[2:]).criticality


def edge_of_stability(
    loss: Callable[..., jax.Array],
    params: Any,
    learning_rate: float,
    *,
    data: tuple = (),
    tolerance: float = TOLERANCE,
    max_products: int = MAX_PRODUCTS,
) -> Edge:
    """Sharpness, alignment of the gradient with its eigenvector, and the valley of the step.

    Args:
        loss: `loss(params, *data)`, a scalar that jax can differentiate.
        params: A tree of floating arrays.
        learning_rate: Of the step that would be taken; the edge is 2 over it.
        data: Further arguments of the loss, such as a batch.
        tolerance: Largest residual of the eigenvector that counts as converged.
        max_products: Most Hessian-vector products.

    Returns:
        Plain numbers. Cost: that of `sharpness` and of `line_jet`, as are the limits.

    Example:
        >>> bowl = lambda w: 2 * w[0] ** 2 + w[1] ** 2 / 2
        >>> seen = edge_of_stability(bowl, jnp.array([0.3, 1.6]), 0.4)
        >>> round(seen.sharpness, 4), round(seen.alignment, 4)  # the gradient is (1.2, 1.6)
        (4.0, 0.6)
    """
    check_effort(tolerance, max_products)
    rate = _checked(learning_rate, params)
    seen, _ = _edge(loss, tolerance, max_products, params, rate, None, data)
    return Edge(*(float(part) for part in seen))


@partial(jax.jit, static_argnums=(0, 1, 2))
def _edge(
    loss: Callable, tolerance: float, most: int,
    params: Any, rate: jax.Array, warm: jax.Array | None, data: tuple,
) -> tuple[Edge, jax.Array]:  # fmt: skip
    """Where a descent stands, and the top eigenvector (1, parameters)."""
    vector, _ = flatten(params)
    product = hessian_product(lambda p: loss(p, *data), params)
    begin = starts(1, vector.size, vector.dtype, warm)
    pairs = top_eigenpairs(product, begin, tolerance=tolerance, max_products=most)
    slope, _ = flatten(jax.grad(loss)(params, *data))
    cosine = jnp.abs(pairs.vectors[0] @ slope) / jnp.linalg.norm(slope)
    value, cosine = (
        jnp.where(pairs.converged[0], v, jnp.nan)
        for v in (pairs.values[0], jnp.minimum(cosine, 1.0))
    )
    return Edge(value, cosine, *_line(loss, params, rate, data)), pairs.vectors


def _checked(learning_rate: float, params: Any) -> jax.Array:
    if not 0 < learning_rate < float("inf"):
        raise bad("learning_rate", learning_rate, "a finite number above 0")
    return jnp.asarray(learning_rate, flatten(params)[0].dtype)


@dataclass(frozen=True)
class EdgeOfStability(WarmProbe):
    """Sharpness, alignment and the valley of a descent step, in one measurement.

    Args:
        learning_rate: Of the step; that of the dynamics, which a probe does not see.
        tolerance: Largest residual of the eigenvector that counts as converged.
        max_products: Most Hessian-vector products.

    Cost and limits: see `edge_of_stability`.
    """

    quantity: ClassVar[Quantity] = quantities.EDGE_OF_STABILITY
    undefined = "NaN where the eigenvalue has not converged"

    learning_rate: float = 0.1
    tolerance: float = static_field(TOLERANCE)
    max_products: int = MAX_PRODUCTS

    def check(self) -> None:
        """Raise for a rate that is not positive, or an effort that certifies nothing."""
        check_effort(self.tolerance, self.max_products)
        if not 0 < self.learning_rate < float("inf"):
            raise bad("learning_rate", self.learning_rate, "a finite number above 0")

    def coords(self, task: Task) -> dict[str, Any]:
        """The names of the parts."""
        return {"part": list(Edge._fields)}

    def memory(self, snapshot: Snapshot) -> jax.Array:
        """No eigenvector yet."""
        return unknown_vector(snapshot)

    def remeasure(self, snapshot: Snapshot, memory: jax.Array) -> tuple[jax.Array, jax.Array]:
        """(6,): the fields of `Edge`; and the top eigenvector."""

        def loss(params: Any) -> jax.Array:
            return snapshot.task.loss(snapshot.network.bind(params), snapshot.samples)

        rate = jnp.asarray(self.learning_rate, flatten(snapshot.params)[0].dtype)
        effort = self.tolerance, self.max_products
        seen, vectors = _edge(loss, *effort, snapshot.params, rate, memory, ())
        return jnp.stack(seen), vectors
