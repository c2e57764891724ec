"""All of a Hessian's spectrum at once: its density and trace, with their errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.core import quantities
from dynascope.core.errors import bad
from dynascope.core.quantities import Quantity
from dynascope.core.records import Measured
from dynascope.numerics.intervals import of_mean
from dynascope.numerics.products import flatten, hessian_product
from dynascope.numerics.quadrature import Quadrature, lanczos_quadrature
from dynascope.probes.base import Probe, Snapshot

DRAWS, PRODUCTS = 8, 32
MOST_BYTES = 2**30  # for one basis


@dataclass(frozen=True)
class SpectralDensity:
    """Estimates of a spectrum from some random vectors; the rest is arithmetic on them."""

    nodes: np.ndarray  # (draws, products)
    weights: np.ndarray  # (draws, products), adding to 1 along products
    size: int  # of the matrix

    @property
    def trace(self) -> Measured:
        """The sum of all eigenvalues, with its 95 % interval over draws."""
        values = self.size * (self.nodes * self.weights).sum(axis=1)
        low, high = of_mean(values) or (None, None)
        spread = float(values.std(ddof=1)) if len(values) > 1 else None
        return Measured(float(values.mean()), spread, len(values), low, high)

    def below(self, x: Any) -> tuple[np.ndarray, np.ndarray]:
        """Share of eigenvalues at most x, and its standard error over draws.

        Args:
            x: Where, (points,).

        Returns:
            Mean and standard error, both (points,). The error does not see that a quadrature
            of so many products resolves no more than as many steps.
        """
        at = np.asarray(x, float)
        return self._over_draws((self.nodes[..., None] <= at) * self.weights[..., None])

    def density(self, x: Any, width: float) -> tuple[np.ndarray, np.ndarray]:
        """The density of eigenvalues, each smeared to a normal curve, and its standard error.

        Args:
            x: Where, (points,).
            width: Standard deviation of the normal curve.

        Returns:
            Mean and standard error, both (points,).
        """
        if not width > 0:
            raise bad("width", width, "a standard deviation above 0")
        apart = (np.asarray(x, float) - self.nodes[..., None]) / width
        smeared = np.exp(-(apart**2) / 2) / (width * np.sqrt(2 * np.pi))
        return self._over_draws(smeared * self.weights[..., None])

    def _over_draws(self, terms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        each = terms.sum(axis=1)  # (draws, points)
        n = len(each)
        error = each.std(axis=0, ddof=1) / n**0.5 if n > 1 else np.full(each.shape[1:], np.nan)
        return each.mean(axis=0), error


def hessian_density(
    loss: Callable[..., jax.Array],
    params: Any,
    *,
    data: tuple = (),
    draws: int = DRAWS,
    products: int = PRODUCTS,
    seed: int = 0,
) -> SpectralDensity:
    """The spectral density of a loss's Hessian by stochastic Lanczos quadrature.

    Args:
        loss: `loss(params, *data)`, a scalar that jax can differentiate twice.
        params: A tree of floating arrays.
        data: Further arguments of the loss, such as a batch.
        draws: Random vectors; errors fall as one over their square root.
        products: Hessian-vector products for each, and steps of the quadrature.
        seed: Of the vectors.

    Returns:
        The density, with `trace`, `below(x)` and `density(x, width)`, each with its error.

    Cost: draws x products Hessian-vector products, memory of `products` copies of the
    parameters. Misleads: single eigenvalues inside the bulk are not resolved; outliers are
    (see `hessian_top`), with a weight of about 1 / size that few draws find only roughly.

    Example:
        >>> found = hessian_density(lambda w: w[0] ** 2 + 2 * w[1] ** 2, jnp.ones(2), products=2)
        >>> round(found.trace.value, 4), found.below([3.0])[0].round(4).tolist()
        (6.0, [0.5])
    """
    vector, _ = flatten(params)
    check_density(draws, products, vector.size, vector.dtype.itemsize)
    steps = min(products, vector.size)
    found = _density(loss, draws, steps, params, data, jax.random.key(seed))
    nodes, weights = (np.asarray(part, float) for part in found)
    return SpectralDensity(nodes, weights, vector.size)


def check_density(draws: int, products: int, size: int, itemsize: int) -> None:
    """Raise for numbers that give nothing, or a basis that is too large."""
    if draws < 1:
        raise bad("draws", draws, "at least 1 random vector", "2 or more give an error")
    if products < 1:
        raise bad("products", products, "at least 1 product for each vector")
    needed = min(products, size) * size * itemsize
    if needed > MOST_BYTES:
        most = MOST_BYTES // (size * itemsize)
        raise bad("products", products, f"at most {most} for {size:,} parameters (1 GB)")


@partial(jax.jit, static_argnums=(0, 1, 2))
def _density(
    loss: Callable, draws: int, products: int, params: Any, data: tuple, key: jax.Array
) -> Quadrature:
    vector, _ = flatten(params)
    product = hessian_product(lambda p: loss(p, *data), params)
    return lanczos_quadrature(product, key, vector.size, vector.dtype, draws, products)


@dataclass(frozen=True)
class HessianTrace(Probe):
    """The trace of the training objective's Hessian, from random sign vectors (Hutchinson).

    The same vectors at every record, so that changes along a run are not those of the draw.
    Cost: `draws` Hessian-vector products. Misleads: an estimate; its relative error is about
    sqrt(2 / draws) times the root of the off-diagonal squares over the trace.
    """

    quantity: ClassVar[Quantity] = quantities.HESSIAN_TRACE

    draws: int = DRAWS

    def check(self) -> None:
        """Raise for a number of draws that gives nothing."""
        if self.draws < 1:
            raise bad("draws", self.draws, "at least 1 random vector")

    def measure(self, snapshot: Snapshot) -> jax.Array:
        """The estimate."""
        vector, _ = flatten(snapshot.params)

        def loss(params: Any) -> jax.Array:
            return snapshot.task.loss(snapshot.network.bind(params), snapshot.samples)

        product = hessian_product(loss, snapshot.params)
        found = lanczos_quadrature(
            product, jax.random.key(0), vector.size, vector.dtype, self.draws, 1
        )
        return vector.size * jnp.mean(found.nodes[:, 0])
