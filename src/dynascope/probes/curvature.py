"""Curvature of a loss or of a network's output: its top eigenpairs, without forming Hessians.

None of these functions moves parameters or touches the caller's jax configuration: they
compute in the dtype of the parameters. A function object is compiled once; pass the same one
along a trajectory, with what changes in `data`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from dynascope.core import quantities
from dynascope.core.errors import bad
from dynascope.core.quantities import Quantity
from dynascope.core.spec import static_field
from dynascope.numerics.eigenpairs import (
    MAX_PRODUCTS,
    TOLERANCE,
    Eigenpairs,
    starts,
    top_eigenpairs,
)
from dynascope.numerics.products import flatten, hessian_product
from dynascope.probes.base import Snapshot, WarmProbe
from dynascope.probes.certificates import Certified, certify, plain


def sharpness(
    loss: Callable[..., jax.Array],
    params: Any,
    *,
    data: tuple = (),
    start: Any = None,
    tolerance: float = TOLERANCE,
    max_products: int = MAX_PRODUCTS,
) -> Certified:
    """The algebraically largest eigenvalue of a loss's Hessian.

    Args:
        loss: `loss(params, *data)`, a scalar that jax can differentiate twice.
        params: A tree of floating arrays.
        data: Further arguments of the loss, such as a batch.
        start: A vector to start from, such as that of the last record; random by default.
        tolerance: Largest residual that counts as converged.
        max_products: Most Hessian-vector products.

    Returns:
        The eigenvalue, its vector in the shape of `params`, residual |Hv - value v| / |value|,
        number of products, verdict. A value that did not converge is a lower bound.

    Cost: about 10 to 40 Hessian-vector products, each like two gradients; memory of a gradient
    and up to 24 copies of the parameters. Misleads: where the loss has kinks (ReLU) it is the
    curvature of one smooth piece; a negative value means that the loss curves down everywhere.

    Example:
        >>> found = sharpness(lambda w: 2 * w[0] ** 2 - 5 * w[1] ** 2, jnp.ones(2))
        >>> round(found.value, 5), found.converged
        (4.0, True)
    """
    warm = None if start is None else (start,)
    return hessian_top(
        loss, params, data=data, start=warm, tolerance=tolerance, max_products=max_products
    )[0]


def hessian_top(
    loss: Callable[..., jax.Array],
    params: Any,
    count: int = 1,
    *,
    data: tuple = (),
    start: Sequence[Any] | None = None,
    tolerance: float = TOLERANCE,
    max_products: int = MAX_PRODUCTS,
) -> tuple[Certified, ...]:
    """The algebraically largest eigenvalues of a loss's Hessian, one record each; see `sharpness`.

    Repeated eigenvalues come as often as they occur. `start` holds one vector per value;
    `max_products` is for each of them.

    Example:
        >>> curves = jnp.array([3.0, 3.0, 1.0])
        >>> pairs = hessian_top(lambda w: w @ (curves * w) / 2, jnp.zeros(3), count=3)
        >>> [round(pair.value, 4) for pair in pairs]
        [3.0, 3.0, 1.0]
    """
    vector, restore = flatten(params)
    check_count(count, vector.size)
    warm = _flat_starts(start, params, count)
    pairs = _hessian_pairs(loss, count, tolerance, max_products, params, warm, data)
    return certify(pairs, restore, "largest eigenvalue of the loss Hessian")


@partial(jax.jit, static_argnums=(0, 1, 2, 3))
def _hessian_pairs(
    loss: Callable, count: int, tolerance: float, most: int, params: Any, warm: Any, data: tuple
) -> Eigenpairs:
    vector, _ = flatten(params)
    product = hessian_product(lambda p: loss(p, *data), params)
    begin = starts(count, vector.size, vector.dtype, warm)
    return top_eigenpairs(product, begin, tolerance=tolerance, max_products=most)


def check_count(count: int, size: int) -> None:
    """Raise unless there are so many eigenpairs."""
    if not 1 <= count <= size:
        raise bad("count", count, f"from 1 to {size}, the size of the matrix")


def _flat_starts(start: Sequence[Any] | None, params: Any, count: int) -> jax.Array | None:
    if start is None:
        return None
    if len(start) != count:
        raise bad("start", f"{len(start)} vectors", f"one for each of {count} values")
    shape = jax.tree.map(jnp.shape, params)
    for one in start:
        if jax.tree.map(jnp.shape, one) != shape:
            raise bad("start", jax.tree.map(jnp.shape, one), f"the shape of params, {shape}")
    return jnp.stack([flatten(one)[0] for one in start])


def output_hessian_norm(
    f: Callable[[Any, jax.Array], jax.Array],
    params: Any,
    x: Any,
    *,
    tolerance: float = TOLERANCE,
    max_products: int = MAX_PRODUCTS,
) -> Certified:
    """Spectral norm of the Hessian of a network's output with respect to its parameters.

    The largest magnitude of an eigenvalue, for the sample and output where it is largest. With
    c outputs, the norm of the whole tensor lies between this and sqrt(c) times this.

    Args:
        f: `f(params, x)` on a batch, one row a sample.
        params: A tree of floating arrays.
        x: Inputs with one row a sample.
        tolerance: Largest residual that counts as converged.
        max_products: Most products for each output.

    Returns:
        The norm (not negative), with the eigenvector in the shape of `params`. `products` counts
        all outputs, `converged` asks it of all.

    Cost: a `sharpness` of each output of each sample, one after the other. Misleads: ReLU kinks
    have no Hessian; this is that of the smooth piece around the parameters.

    Example:
        >>> found = output_hessian_norm(lambda w, x: x[:, 0] * w[0] * w[1], jnp.ones(2), [[-3.0]])
        >>> round(found.value, 4)
        3.0
    """
    _, restore = flatten(params)
    rows = jnp.asarray(x)
    value, vector, residual, products, converged = _output_norm(
        f, tolerance, max_products, params, rows
    )
    definition = "spectral norm of the output Hessian, largest over samples and outputs"
    return plain(Certified(value, restore(vector), residual, products, converged, definition))


@partial(jax.jit, static_argnums=(0, 1, 2))
def _output_norm(f: Callable, tolerance: float, most: int, params: Any, x: jax.Array) -> tuple:
    vector, _ = flatten(params)
    begin = starts(1, vector.size, vector.dtype)

    def one(place: tuple[jax.Array, jax.Array]) -> Eigenpairs:
        row, output = place
        product = hessian_product(lambda p: f(p, row[None]).reshape(-1)[output], params)
        return top_eigenpairs(
            product, begin, which="magnitude", tolerance=tolerance, max_products=most
        )

    outputs = jax.eval_shape(f, params, x[:1]).size
    each = (jnp.repeat(x, outputs, axis=0), jnp.tile(jnp.arange(outputs), len(x)))
    pairs = jax.tree.map(lambda a: a[:, 0], jax.lax.map(one, each))
    best = jnp.argmax(jnp.abs(pairs.values))
    return (
        jnp.abs(pairs.values[best]),
        pairs.vectors[best],
        pairs.residuals[best],
        pairs.products.sum(),
        pairs.converged.all(),
    )


@dataclass(frozen=True)
class Sharpness(WarmProbe):
    """Largest eigenvalue of the Hessian of the training objective, on the whole training set.

    NaN where the residual stays above `tolerance` after `max_products`: what is recorded is
    certified. Starts from the vector of the last measurement. Cost: see `sharpness`, at every
    record; lanes wait for the slowest. Misleads: with batches, a step sees the curvature of its
    batch, which is larger on average.
    """

    quantity: ClassVar[Quantity] = quantities.SHARPNESS
    undefined = "NaN where the eigenvalue has not converged"

    tolerance: float = static_field(TOLERANCE)
    max_products: int = MAX_PRODUCTS

    def check(self) -> None:
        """Raise for a tolerance or a number of products that certifies nothing."""
        check_effort(self.tolerance, self.max_products)

    def memory(self, snapshot: Snapshot) -> jax.Array:
        """No eigenvector yet."""
        return unknown_vector(snapshot)

    def remeasure(self, snapshot: Snapshot, memory: jax.Array) -> tuple[jax.Array, jax.Array]:
        """The sharpness or NaN, and its vector."""
        pairs = loss_hessian_pairs(snapshot, memory, self.tolerance, self.max_products)
        return jnp.where(pairs.converged[0], pairs.values[0], jnp.nan), pairs.vectors


def unknown_vector(snapshot: Snapshot) -> jax.Array:
    """(1, parameters) zeros: what `starts` takes for no vector at all."""
    return jnp.zeros_like(flatten(snapshot.params)[0])[None]


def loss_hessian_pairs(
    snapshot: Snapshot, warm: jax.Array, tolerance: float, max_products: int
) -> Eigenpairs:
    """The top eigenpair of the Hessian of the task's loss at a snapshot."""
    vector, _ = flatten(snapshot.params)
    product = hessian_product(
        lambda p: snapshot.task.loss(snapshot.network.bind(p), snapshot.samples), snapshot.params
    )
    begin = starts(1, vector.size, vector.dtype, warm)
    return top_eigenpairs(product, begin, tolerance=tolerance, max_products=max_products)


def check_effort(tolerance: float, max_products: int) -> None:
    """Raise for a tolerance or a number of products that certifies nothing."""
    if not 0 < tolerance < 1:
        raise bad("tolerance", tolerance, "a number between 0 and 1")
    if max_products < 2:
        raise bad("max_products", max_products, "at least 2: one to estimate, one to certify")
