"""Top eigenpairs of a symmetric operator that is known only by its products with vectors.

Lanczos with full reorthogonalisation, restarted with its best vectors (thick restart), in one
compiled loop that stops as soon as the residual is small enough. The libraries at hand run a
fixed number of products and return no residual; here the residual is what decides.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from dynascope.numerics.decompositions import eigh

Multiply = Callable[[jax.Array], jax.Array]
Which = Literal["largest", "magnitude"]

TOLERANCE, MAX_PRODUCTS = 1e-4, 1000
BASIS = 24  # vectors kept; few operators need more before the first restart
CHUNK = 8  # vectors that are orthogonalised against at a time; those not filled are left out
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
    drawn = _scattered(count * size).reshape(count, size).astype(dtype)
    drawn = drawn / jnp.linalg.norm(drawn, axis=1, keepdims=True)
    if warm is None:
        return drawn
    length = jnp.linalg.norm(warm, axis=1, keepdims=True)
    return jnp.where(length > 0, warm / length + 0.1 * drawn, drawn)


def _scattered(size: int) -> jax.Array:
    """Numbers between -1 and 1 without pattern, by mixing the bits of 1, 2, 3, ...

    They need not be random, only uneven, and compile in no time; the generator takes half a
    second. The multipliers are those of C. Wellons' 32-bit mixer.
    """
    bits = jnp.arange(1, size + 1, dtype=jnp.uint32)
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B), (16, 1)):
        bits = (bits ^ (bits >> jnp.uint32(shift))) * jnp.uint32(factor)
    return bits.astype(jnp.float32) / jnp.float32(2**31) - 1


class _Space(NamedTuple):
    """An orthonormal basis, the operator within it, and the vector that was multiplied last."""

    basis: jax.Array  # (rows, size); zero beyond row `filled`
    small: jax.Array  # (rows, rows) the operator in the basis, for the multiplied vectors
    filled: jax.Array  # how many have been multiplied; the next to be is basis[filled]
    products: jax.Array
    values: jax.Array  # (rows,) Ritz values, best first
    vectors: jax.Array  # (rows, rows) their vectors within the basis, one a column
    rest: jax.Array  # estimate of |A v - value v| for the best
    scale: jax.Array  # largest magnitude seen
    pair: tuple[jax.Array, jax.Array, jax.Array]  # v^T A v, v, |A v - v^T A v v| of the last v
    certified: jax.Array  # whether that v was the best, and the pair is the answer


def _one(
    multiply: Multiply, start: jax.Array, which: Which, tolerance: float, max_products: int
) -> tuple:
    size, dtype = start.shape[0], start.dtype
    most = min(size, BASIS - 1, max(6, BASIS_BYTES // (size * dtype.itemsize)))
    rows = -(-(most + 1) // CHUNK) * CHUNK  # one more, for the vector to be multiplied next

    def ready(space: _Space) -> jax.Array:
        # A NaN compares false and ends the search. The margin is for rounding in the estimate.
        wanting = space.rest > 0.9 * tolerance * jnp.abs(space.values[0])
        wanting &= space.rest > rounding(space.scale) / 4
        wanting &= space.products < max_products - 1
        # A basis of the whole space needs no restart.
        return ~wanting | (space.filled >= most if most == size else False)

    def cycle(space: _Space) -> _Space:
        # As a loop of one round or none: unlike a condition, it does not copy the basis.
        full = lambda s: (s.filled >= most) & ~ready(s)  # noqa: E731
        space = lax.while_loop(full, partial(_restart, kept=max(most // 2, 1)), space)
        room = lambda s: ~s.certified & (ready(s) | (s.filled < most))  # noqa: E731
        return lax.while_loop(room, lambda s: _step(multiply, which, s, ready(s)), space)

    space = _first(start, rows)
    space = cycle(space) if most == size else lax.while_loop(lambda s: ~s.certified, cycle, space)
    value, vector, rest = space.pair
    converged = (rest <= tolerance * jnp.abs(value)) | (rest <= rounding(space.scale))
    residual = jnp.where(rest == 0, rest, rest / jnp.abs(value))
    return value, vector, residual, space.products, converged, space.scale


def _first(start: jax.Array, rows: int) -> _Space:
    """The space before any product."""
    size, dtype = start.shape[0], start.dtype
    basis = jnp.zeros((rows, size), dtype).at[0].set(start / jnp.linalg.norm(start))
    zero, none = jnp.zeros((), dtype), jnp.zeros((), jnp.int32)
    values, small = jnp.zeros(rows, dtype), jnp.zeros((rows, rows), dtype)
    pair = zero, jnp.zeros(size, dtype), zero
    unsure = jnp.zeros((), bool)
    return _Space(basis, small, none, none, values, small, zero + 1, zero, pair, unsure)


def _step(multiply: Multiply, which: Which, space: _Space, ready: jax.Array) -> _Space:
    """Multiply the next vector and look at the pairs of the larger space.

    Or, when the best pair is ready, multiply its vector: a residual that no estimate has gone
    into. Both in one place, so that the product is compiled once; what is done to the space by
    the second is never looked at.
    """
    at = space.filled
    vector = lax.cond(ready, lambda: space.vectors[:, 0] @ space.basis, lambda: space.basis[at])
    vector = vector / jnp.linalg.norm(vector)
    image = multiply(vector)
    value = vector @ image
    pair = value, vector, _length(image - value * vector)
    image, row = _orthogonal(space.basis, image, at)
    length = _length(image)
    small = space.small.at[at].set(row).at[:, at].set(row)
    follow = jnp.where(length > 0, image / length, image)
    values, vectors = _ritz(small, at + 1, which)
    seen = jnp.where(jnp.arange(len(values), dtype=at.dtype) <= at, jnp.abs(values), 0)
    return _Space(
        basis=lax.dynamic_update_slice(space.basis, follow[None], (at + 1, jnp.zeros_like(at))),
        small=small,
        filled=at + 1,
        products=space.products + 1,
        values=values,
        vectors=vectors,
        rest=length * jnp.abs(vectors[at, 0]),
        scale=jnp.where(ready, space.scale, jnp.maximum(space.scale, seen.max())),
        pair=pair,
        certified=ready,
    )


def _orthogonal(basis: jax.Array, image: jax.Array, at: jax.Array) -> tuple[jax.Array, jax.Array]:
    """What the basis does not span of an image, and what it does, (rows,).

    Twice: first against the two latest vectors, which hold nearly all of it, then against all.
    """
    pair = lax.dynamic_slice_in_dim(basis, jnp.maximum(at - 1, 0), 2)
    latest = pair @ image
    image = image - latest @ pair
    row = jnp.zeros(basis.shape[0], basis.dtype)
    row = lax.dynamic_update_slice(row, latest, (jnp.maximum(at - 1, 0),))

    def against(chunk: jax.Array, carry: tuple) -> tuple:
        image, row = carry
        some = lax.dynamic_slice_in_dim(basis, chunk * CHUNK, CHUNK)
        part = some @ image
        before = lax.dynamic_slice_in_dim(row, chunk * CHUNK, CHUNK)
        row = lax.dynamic_update_slice(row, before + part, (chunk * CHUNK,))
        return image - part @ some, row

    return lax.fori_loop(0, at // CHUNK + 1, against, (image, row))


def _ritz(small: jax.Array, filled: jax.Array, which: Which) -> tuple[jax.Array, jax.Array]:
    """Eigenvalues and vectors within the filled part, best first; the rest comes behind."""
    norm = _length(small)
    norm = jnp.where(norm > 0, norm, jnp.ones_like(norm))
    # Rows not filled yet get a value that no filled one can have.
    empty = jnp.where(
        jnp.arange(len(small), dtype=filled.dtype) < filled, jnp.zeros_like(norm), -1.5 * norm
    )
    values, vectors = eigh(small + jnp.diag(empty))
    if which == "largest":  # sorting takes long to compile, and eigh sorts
        return values[::-1], vectors[:, ::-1]
    order = jnp.argsort(-jnp.where(values < -1.25 * norm, -jnp.inf, jnp.abs(values)))
    return values[order], vectors[:, order]


def _restart(space: _Space, kept: int) -> _Space:
    """A space of the best vectors and the next one; the best comes first."""
    rows, size = space.basis.shape
    best = space.vectors[:, :kept].T @ space.basis
    follow = lax.dynamic_slice_in_dim(space.basis, space.filled, 1)
    blank = jnp.zeros((rows - kept - 1, size), space.basis.dtype)
    values = jnp.where(jnp.arange(rows) < kept, space.values, 0)
    return space._replace(
        basis=jnp.concatenate([best, follow, blank]),
        small=jnp.diag(values),
        filled=jnp.asarray(kept, jnp.int32),
        vectors=jnp.eye(rows, dtype=space.basis.dtype),
    )


def _without(found: jax.Array, v: jax.Array) -> jax.Array:
    """The part of v orthogonal to the rows of `found`, which are orthonormal or zero."""
    v = v - (found @ v) @ found
    return v - (found @ v) @ found


def _length(v: jax.Array) -> jax.Array:
    """The norm, also where squares would leave the range of float32."""
    largest = jnp.abs(v).max()
    return jnp.where(largest > 0, largest * jnp.linalg.norm(v / largest), largest)
