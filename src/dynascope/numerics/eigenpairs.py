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
    """An orthonormal basis and the operator within it."""

    basis: jax.Array  # (rows, size); zero beyond row `filled`
    small: jax.Array  # (rows, rows) the operator in the basis, for the multiplied vectors
    filled: jax.Array  # how many have been multiplied; the next to be is basis[filled]
    products: jax.Array
    best: jax.Array  # (rows,) the best pair's vector within the basis
    value: jax.Array  # its value
    rest: jax.Array  # estimate of |A v - value v| for it
    scale: jax.Array  # largest magnitude seen


def _one(
    multiply: Multiply, start: jax.Array, which: Which, tolerance: float, max_products: int
) -> tuple:
    size, dtype = start.shape[0], start.dtype
    most = min(size, BASIS - 1, max(6, BASIS_BYTES // (size * dtype.itemsize)))
    rows = -(-(most + 1) // CHUNK) * CHUNK  # one more, for the vector to be multiplied next

    def unfinished(space: _Space) -> jax.Array:
        # A NaN compares false and ends the loop. The margin is for rounding in the estimate.
        wanting = space.rest > 0.9 * tolerance * jnp.abs(space.value)
        wanting &= space.rest > rounding(space.scale) / 4
        return wanting & (space.products < max_products - 1)

    def cycle(space: _Space) -> _Space:
        # As a loop of one round or none: unlike a condition, it does not copy the basis.
        smaller = partial(_restart, which=which, kept=max(most // 2, 1))
        space = lax.while_loop(lambda s: s.filled >= most, smaller, space)
        room = lambda s: unfinished(s) & (s.filled < most)  # noqa: E731
        return lax.while_loop(room, partial(_step, multiply, which), space)

    basis = jnp.zeros((rows, size), dtype).at[0].set(start / jnp.linalg.norm(start))
    zero, none = jnp.zeros((), dtype), jnp.zeros((), jnp.int32)
    first = jnp.zeros(rows, dtype).at[0].set(1)
    space = _Space(basis, jnp.zeros((rows, rows), dtype), none, none, first, zero, zero + 1, zero)
    # A basis of the whole space needs no restart.
    space = cycle(space) if most == size else lax.while_loop(unfinished, cycle, space)
    vector = space.best @ space.basis
    vector = vector / jnp.linalg.norm(vector)
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
    at = space.filled
    image, row = _orthogonal(space.basis, multiply(space.basis[at]), at)
    length = _length(image)
    small = space.small.at[at].set(row).at[:, at].set(row)
    follow = jnp.where(length > 0, image / length, image)
    values, vectors, score = _ritz(small, at + 1, which)
    best = jnp.argmax(score)
    seen = jnp.where(score > -jnp.inf, jnp.abs(values), 0)
    return _Space(
        basis=lax.dynamic_update_slice(space.basis, follow[None], (at + 1, jnp.zeros_like(at))),
        small=small,
        filled=at + 1,
        products=space.products + 1,
        best=vectors[:, best],
        value=values[best],
        rest=length * jnp.abs(vectors[at, best]),
        scale=jnp.maximum(space.scale, seen.max()),
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


def _ritz(
    small: jax.Array, filled: jax.Array, which: Which
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Eigenvalues, vectors and scores within the filled part; -inf for what is not filled."""
    norm = _length(small)
    norm = jnp.where(norm > 0, norm, jnp.ones_like(norm))
    # Rows not filled yet get a value that no filled one can have.
    empty = jnp.where(
        jnp.arange(len(small), dtype=filled.dtype) < filled, jnp.zeros_like(norm), -1.5 * norm
    )
    values, vectors = jnp.linalg.eigh(small + jnp.diag(empty))
    score = jnp.abs(values) if which == "magnitude" else values
    return values, vectors, jnp.where(values < -1.25 * norm, -jnp.inf, score)


def _restart(space: _Space, which: Which, kept: int) -> _Space:
    """A space of the best vectors and the next one; the best comes first."""
    rows, size = space.basis.shape
    values, vectors, score = _ritz(space.small, space.filled, which)
    order = jnp.argsort(-score)
    best = vectors[:, order[:kept]].T @ space.basis
    follow = lax.dynamic_slice_in_dim(space.basis, space.filled, 1)
    blank = jnp.zeros((rows - kept - 1, size), space.basis.dtype)
    small = jnp.zeros_like(space.small).at[:kept, :kept].set(jnp.diag(values[order[:kept]]))
    return space._replace(
        basis=jnp.concatenate([best, follow, blank]),
        small=small,
        filled=jnp.asarray(kept, jnp.int32),
        best=jnp.zeros_like(space.best).at[0].set(1),
    )


def _without(found: jax.Array, v: jax.Array) -> jax.Array:
    """The part of v orthogonal to the rows of `found`, which are orthonormal or zero."""
    v = v - (found @ v) @ found
    return v - (found @ v) @ found


def _length(v: jax.Array) -> jax.Array:
    """The norm, also where squares would leave the range of float32."""
    largest = jnp.abs(v).max()
    return jnp.where(largest > 0, largest * jnp.linalg.norm(v / largest), largest)
