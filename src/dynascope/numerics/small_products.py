"""Products with few columns or rows, where XLA's own product is slow.

On a CPU, XLA calls a library for every product of matrices, which costs a microsecond each and
little less for two columns than for eight. Very small products are written out as sums of outer
products, which are fused with what stands around them and run through a batch of lanes in one
loop, the same numbers for any number of lanes. Larger ones with few columns go column by column:
a matrix times a vector XLA writes out as a loop. Those are of sizes whose lanes are mapped one
after the other (`engine.program`), so that lanes do not change them either. Where it pays is
measured in `benchmarks/small_products.py`.
"""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
from jax import lax

WRITTEN_OUT = range(4, 7)  # the largest side; below, XLA writes products out by itself
LARGE = 25  # the largest side from which on lanes are mapped, not vmapped
FEW = 4  # columns of such a product that go one by one


def product(a: jax.Array, b: jax.Array) -> jax.Array:
    """The matrix product a b of two matrices.

    Example:
        >>> a = jnp.arange(16.0).reshape(4, 4)
        >>> bool(jnp.allclose(product(a, a), a @ a))
        True
    """
    largest, columns = max(*a.shape, *b.shape), b.shape[1]
    if largest in WRITTEN_OUT:
        # Slices of lax: brackets take jax longer to trace than all the rest of a small program.
        column, row = partial(lax.slice_in_dim, a, axis=1), partial(lax.slice_in_dim, b, axis=0)
        terms = [column(k, k + 1) * row(k, k + 1) for k in range(a.shape[1])]
        return sum(terms[1:], terms[0])
    if largest < LARGE or columns > FEW:
        return a @ b
    return jnp.stack([a @ b[:, j] for j in range(columns)], axis=1)
