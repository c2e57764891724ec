"""Top eigenpairs of a symmetric operator that is known only by its products with vectors.

Lanczos with full reorthogonalisation, restarted with its best vectors (thick restart), in one
compiled loop that stops as soon as the residual is small enough. The libraries at hand run a
fixed number of products and return no residual; here the residual is what decides.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

Multiply = Callable[[jax.Array], jax.Array]
Which = Literal["largest", "magnitude"]

TOLERANCE, MAX_PRODUCTS = 1e-4, 1000
BASIS = 32  # vectors kept; few operators need more before the first restart
BASIS_BYTES = 2**29  # large problems keep fewer
ROUNDING = 32  # how many units in the last place of the scale count as zero


class Eigenpairs(NamedTuple):
    """Eigenpairs, best first, each with what certifies it; the axis of pairs is the first."""

    values: jax.Array  # (count,)
    vectors: jax.Array  # (count, size), orthonormal
    residuals: jax.Array  # (count,) |A v - value v| / |value|, from a product of its own
    products: jax.Array  # (count,) products that each pair took
    converged: jax.Array  # (count,) bool
    scales: jax.Array  # (count,) largest magnitude seen; values far below it are rounding

    def positive(self) -> jax.Array:
        """(count,) whether a value is above zero by more than rounding."""
        return self.values > rounding(self.scales)


def rounding(scale: jax.Array) -> jax.Array:
    """What cannot be told from zero for an operator of this scale."""
    return ROUNDING * float(jnp.finfo(scale.dtype).eps) * scale


def top_eigenpairs(
    multiply: Multiply,
    start: jax.Array,
    *,
    which: Which = "largest",
    tolerance: float = TOLERANCE,
    max_products: int = MAX_PRODUCTS,
) -> Eigenpairs:
    """The algebraically largest eigenvalues, or those of largest magnitude, with vectors.

    Pairs are found one after the other, each from a start of its own and orthogonal to those
    before: a repeated eigenvalue is found as often as it occurs, and none is found twice.
    A value is a Rayleigh quotient: one that did not converge is too small, never too large.

    Args:
        multiply: v -> A v for a symmetric A, shape (size,) to (size,).
        start: One start per wanted pair, (count, size), not zero; see `starts`.
        which: "largest" takes signs into account, "magnitude" does not.
        tolerance: Largest |A v - value v| / |value| that counts as converged.
        max_products: Most products for one pair.

    Returns:
        The pairs. A value below rounding counts as converged: it is zero.

    Example:
        >>> pairs = top_eigenpairs(lambda v: jnp.array([1.0, 3.0]) * v, jnp.ones((1, 2)))
        >>> round(float(pairs.values[0]), 5), int(pairs.products[0])
        (3.0, 3)
    """
    count, size = start.shape
    if count == 1:
        pair = _one(multiply, start[0], which, tolerance, max_products)
        return Eigenpairs(*(jnp.asarray(field)[None] for field in pair))

    def next_pair(found: jax.Array, item: tuple) -> tuple[jax.Array, tuple]:
        i, own = item

        def deflated(v: jax.Array) -> jax.Array:
            return _without(found, multiply(v))

        pair = _one(deflated, _without(found, own), which, tolerance, max_products)
        return found.at[i].set(pair[1]), pair

    found = jnp.zeros((count, size), start.dtype)
    _, pairs = lax.scan(next_pair, found, (jnp.arange(count), start))
    # From warm starts the second may turn out to be the larger.
    score = jnp.abs(pairs[0]) if which == "magnitude" else pairs[0]
    return Eigenpairs(*(field[jnp.argsort(-score)] for field in pairs))


def starts(count: int, size: int, dtype: jnp.dtype, warm: jax.Array | None = None) -> jax.Array:
    """Random unit vectors (count, size); or given ones (count, size) with a tenth of those.

    The random part of a warm start is what finds a vector that has overtaken the given one. It
    can be missed if it had no share in the given one and leads by little: from a tenth spread
    over `size` directions, a lead below 10 sqrt(size) times the tolerance stays unseen.
    """
    drawn = jax.random.normal(jax.random.key(size), (count, size), jnp.float32).astype(dtype)
    drawn = drawn / jnp.linalg.norm(drawn, axis=1, keepdims=True)
    if warm is None:
        return drawn
    length = jnp.linalg.norm(warm, axis=1, keepdims=True)
    return jnp.where(length > 0, warm / length + 0.1 * drawn, drawn)


class _Space(NamedTuple):
    """An orthonormal basis and the operator within it."""

    basis: jax.Array  # (rows + 1, size); zero beyond `filled`
    small: jax.Array  # (rows, rows) the operator in the basis, for the multiplied vectors
    filled: jax.Array  # how many have been multiplied; the next to be is basis[filled]
    products: jax.Array
    rest: jax.Array  # estimated |A v - value v| of the best pair
    value: jax.Array  # its value
    scale: jax.Array  # largest magnitude seen


def _one(
    multiply: Multiply, start: jax.Array, which: Which, tolerance: float, max_products: int
) -> tuple:
    size, dtype = start.shape[0], start.dtype
    rows = min(size, BASIS, max(6, BASIS_BYTES // (size * dtype.itemsize)))

    def unfinished(space: _Space) -> jax.Array:
        # A NaN compares false and ends the loop. The margin is for rounding in the estimate.
        wanting = space.rest > 0.9 * tolerance * jnp.abs(space.value)
        wanting &= space.rest > rounding(space.scale) / 4
        return wanting & (space.products < max_products - 1)

    def cycle(space: _Space) -> _Space:
        room = lambda s: unfinished(s) & (s.filled < rows)  # noqa: E731
        return _restart(lax.while_loop(room, lambda s: _step(multiply, which, s), space), which)

    basis = jnp.zeros((rows + 1, size), dtype).at[0].set(start / jnp.linalg.norm(start))
    none, most = jnp.zeros((), jnp.int32), jnp.asarray(jnp.inf, dtype)
    empty = jnp.zeros((rows, rows), dtype)
    zero = jnp.zeros((), dtype)
    space = _Space(basis, empty, none, none, most, zero, zero)
    # A basis of the whole space is never restarted.
    space = cycle(space) if rows == size else lax.while_loop(unfinished, cycle, space)
    vector = space.basis[0] / jnp.linalg.norm(space.basis[0])
    return _certify(multiply, vector, space.products + 1, space.scale, tolerance)


def _certify(
    multiply: Multiply, vector: jax.Array, products: jax.Array, scale: jax.Array, tolerance: float
) -> tuple:
    """The pair of a vector, with a residual that no estimate has gone into."""
    image = multiply(vector)
    value = vector @ image
    rest = _length(image - value * vector)
    converged = (rest <= tolerance * jnp.abs(value)) | (rest <= rounding(scale))
    residual = jnp.where(rest == 0, rest, rest / jnp.abs(value))
    return value, vector, residual, products, converged, scale


def _step(multiply: Multiply, which: Which, space: _Space) -> _Space:
    """Multiply the next vector and look at the best pair of the larger space."""
    at, rows = space.filled, space.small.shape[0]
    image = multiply(space.basis[at])
    # Twice is enough: the second pass removes what rounding left of the first.
    inside = space.basis @ image
    image = image - inside @ space.basis
    again = space.basis @ image
    image = image - again @ space.basis
    row = (inside + again)[:rows]
    length = _length(image)
    small = space.small.at[at].set(row).at[:, at].set(row)
    follow = jnp.where(length > 0, image / length, image)
    values, vectors, order = _ritz(small, at + 1, which)
    best = order[0]
    return _Space(
        space.basis.at[at + 1].set(follow),
        small,
        at + 1,
        space.products + 1,
        length * jnp.abs(vectors[at, best]),
        values[best],
        jnp.maximum(
            space.scale,
            jnp.abs(jnp.where(jnp.arange(rows, dtype=at.dtype) <= at, values[order], 0)).max(),
        ),
    )


def _ritz(
    small: jax.Array, filled: jax.Array, which: Which
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Eigenvalues and vectors of the filled part, and their order, best first."""
    rows = small.shape[0]
    norm = _length(small)
    norm = jnp.where(norm > 0, norm, jnp.ones_like(norm))
    # Rows not filled yet get a value that no filled one can have.
    empty = jnp.where(
        jnp.arange(rows, dtype=filled.dtype) < filled, jnp.zeros_like(norm), -1.5 * norm
    )
    values, vectors = jnp.linalg.eigh(small + jnp.diag(empty))
    score = jnp.abs(values) if which == "magnitude" else values
    order = jnp.argsort(-jnp.where(values < -1.25 * norm, -jnp.inf, score))
    return values, vectors, order


def _restart(space: _Space, which: Which) -> _Space:
    """A space of the best half of the vectors and the next one; the best comes first."""
    rows, size = space.small.shape[0], space.basis.shape[1]
    kept = max(rows // 2, 1)
    values, vectors, order = _ritz(space.small, space.filled, which)
    best = vectors[:, order[:kept]].T @ space.basis[:rows]
    follow = space.basis[space.filled][None]
    blank = jnp.zeros((rows - kept, size), space.basis.dtype)
    basis = jnp.concatenate([best, follow, blank])
    small = jnp.zeros_like(space.small).at[:kept, :kept].set(jnp.diag(values[order[:kept]]))
    return space._replace(basis=basis, small=small, filled=jnp.asarray(kept, jnp.int32))


def _without(found: jax.Array, v: jax.Array) -> jax.Array:
    """The part of v orthogonal to the rows of `found`, which are orthonormal or zero."""
    v = v - (found @ v) @ found
    return v - (found @ v) @ found


def _length(v: jax.Array) -> jax.Array:
    """The norm, also where squares would leave the range of float32."""
    largest = jnp.abs(v).max()
    return jnp.where(largest > 0, largest * jnp.linalg.norm(v / largest), largest)
