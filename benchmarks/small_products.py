"""Products with few columns in a batch: column by column, against XLA's own product.

The rule takes columns one by one from 25 rows on; below, the numbers of a lane would depend
on how many run beside it.

Up to 24 rows lanes are vmapped, beyond they are mapped, as the engine does.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from timing import median_seconds

from dynascope.engine.program import LARGEST_VMAPPED
from dynascope.numerics import small_products

LANES = 12


def descent(product, mapped: bool, steps: int):
    """Gradient descent of a four-layer linear network, all lanes at once."""

    def loss(weights):
        whole = weights[0]
        for weight in weights[1:]:
            whole = product(weight, whole)
        return jnp.sum((whole - jnp.eye(*whole.shape, dtype=whole.dtype)) ** 2)

    def lane(weights):
        def step(_, weights):
            return [w - 1e-3 * s for w, s in zip(weights, jax.grad(loss)(weights))]

        return lax.fori_loop(0, steps, step, weights)

    return jax.jit(lambda w: lax.map(lane, w) if mapped else jax.vmap(lane)(w))


def by_columns(a, b):
    return jnp.stack([a @ b[:, j] for j in range(b.shape[1])], axis=1)


def is_used(width: int, columns: int) -> bool:
    sides = np.ones((width, width)), np.ones((width, columns))
    return str(jax.make_jaxpr(small_products.product)(*sides)).count("dot_general") > 1


def main() -> None:
    print("a step of a linear network of four layers, us a lane: XLA's product / by columns")
    for dtype in ("float32", "float64"):
        with jax.enable_x64(dtype == "float64"):
            for width in (2, 3, 4, 6, 8, 16, 24, 32, 64, 128, 256):
                mapped, steps = width > LARGEST_VMAPPED[dtype], max(10, 200_000 // width**2)
                cells = []
                for columns in (2, 3, 4, 6, 8):
                    random = np.random.default_rng(0)
                    shapes = [(width, columns), *[(width, width)] * 2, (columns, width)]
                    weights = [
                        jnp.asarray(random.normal(size=(LANES, *s)) / s[1] ** 0.5, dtype)
                        for s in shapes
                    ]
                    times = []
                    for product in (jnp.matmul, by_columns):
                        run = descent(product, mapped, steps)
                        call = lambda: jax.block_until_ready(run(weights))  # noqa: B023, E731
                        times.append(median_seconds(call) / steps / LANES * 1e6)
                    mark = "*" if is_used(width, columns) else ""
                    ratio = times[0] / times[1]
                    cells.append(f"{columns}: {times[0]:.2f}/{times[1]:.2f} ({ratio:.1f}x){mark}")
                print(f"{dtype} width {width:3d}, columns {'; '.join(cells)}")
    print("* taken by columns")


if __name__ == "__main__":
    main()
