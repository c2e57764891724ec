r"""Structured identity mapping: learn x -> x from clusters on the axes, tested at their sum.

Cluster p sits at `means[p]` on axis p and spreads with `scales`; the test point
x_hat = sum_p means[p] e_p combines concepts that were only ever seen alone. Papers yang2024
and yang2025, section 2 (SIM-D1 to D8). For linear models the training set enters only through
its second moments (4.1):

    L = 1/2 ||(W - I) A^(1/2)||^2,   A = diag(a),   a_p = scales[p]^2 + means[p]^2 / K

with K the number of clusters, the one at the origin included. `samples_per_cluster=None`
uses exactly that, without sampling.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.core.errors import bad
from dynascope.core.spec import static_field
from dynascope.numerics.decompositions import qr
from dynascope.numerics.draws import normal
from dynascope.numerics.small_products import FEW, LARGE
from dynascope.tasks.base import Predict, Task

# A truncated cluster that keeps fewer than this share of its points cannot be sampled by
# redrawing: 64 rounds at one quarter leave a bad point with probability 0.75^64 = 1e-8.
LEAST_ACCEPTED = 0.25
ROUNDS = 64


class Population(NamedTuple):
    """Exact second moments and mean of the inputs, in the coordinates the model sees."""

    moments: jax.Array  # (d,) where A is diagonal, (d, d) where it is rotated
    mean: jax.Array  # (d,)


class _Rotated(NamedTuple):
    """A model turned back into concept coordinates: x -> R f(R^T x)."""

    predict: Predict
    rotation: jax.Array

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.predict(x @ self.rotation) @ self.rotation.T

    @property
    def linear(self) -> bool:
        return self.predict.linear

    def affine(self) -> tuple[jax.Array, jax.Array | None]:
        matrix, offset = self.predict.affine()
        turned = self.rotation @ matrix @ self.rotation.T
        return turned, None if offset is None else self.rotation @ offset


@dataclass(frozen=True)
class IdentityMapping(Task):
    """The structured identity mapping task.

    Where the text, the authors' program and the derivation differ, the choice is a named
    option; `as_in("text")` and `as_in("code")` set them together.

    Args:
        means: Distance of each cluster from the origin, one per concept.
        scales: Spread along the first axes, at least one per concept.
        dimension: Number of input coordinates; the number of scales if not given.
        origin: Whether a further cluster sits at the origin.
        rotated: Whether each seed turns all data by its own random rotation.
        truncated: Whether points near the test point are drawn again (F.3).
        samples_per_cluster: None for the exact population (linear models only).
        reduction: "eq2.1" is 1/2 squared norm, mean over samples; "mean" also averages over
            coordinates and has no 1/2, so its gradient is 2/d times as large.
        scale_is: Whether `scales` are standard deviations or variances.
        moment: "A", or "A^2", which the authors' program uses in the theory's figures.

    Example:
        >>> task = IdentityMapping(means=(1.0, 2.0), scales=(0.05, 0.05), dimension=3)
        >>> [round(float(a), 4) for a in task.moments()]
        [0.5025, 2.0025, 0.0]
        >>> task.test_point
        (1.0, 2.0, 0.0)
    """

    offers: ClassVar[str | None] = "vectors"

    means: tuple[float, ...] = (1.0, 2.0)
    scales: tuple[float, ...] = (0.05, 0.05)
    dimension: int | None = None
    origin: bool = False
    rotated: bool = False
    truncated: bool = False
    samples_per_cluster: int | None = None
    reduction: Literal["eq2.1", "mean"] = "eq2.1"
    scale_is: Literal["deviation", "variance"] = "deviation"
    moment: Literal["A", "A^2"] = static_field("A")

    def check(self) -> None:
        """Raise for settings that describe no task."""
        s, d = len(self.means), self.input_size
        if not s:
            raise bad("means", self.means, "at least one mean")
        for name in ("means", "scales"):
            for i, value in enumerate(getattr(self, name)):
                if not math.isfinite(value) or value < 0:
                    raise bad(f"{name}[{i}]", value, "a finite number of at least 0")
        if len(self.scales) < s:
            raise bad("scales", self.scales, f"at least {s} values, one per mean")
        if s > d or len(self.scales) > d:
            clusters = max(s, len(self.scales))
            raise bad("dimension", d, f"at least {clusters}, one per cluster", "raise dimension")
        n = self.samples_per_cluster
        if n is not None and n < 1:
            raise bad("samples_per_cluster", n, "at least 1, or None for the exact population")
        if n is None and self.truncated:
            raise bad(
                "truncated", True, "False for the exact population", "set samples_per_cluster"
            )
        if n is not None and self.moment != "A":
            raise bad("moment", self.moment, '"A" where samples are drawn')
        if self.truncated and self._accepted() < LEAST_ACCEPTED:
            raise bad(
                "truncated",
                True,
                f"clusters that keep at least {LEAST_ACCEPTED:.0%} of their points "
                f"(the worst keeps {self._accepted():.1%})",
                "move the clusters apart",
            )

    def as_in(self, spec: Literal["text", "code"]) -> IdentityMapping:
        """The same clusters, read as the text or as the authors' program reads them."""
        if spec == "text":
            return replace(self, reduction="eq2.1", scale_is="deviation", moment="A", origin=False)
        if spec != "code":
            raise bad("spec", spec, '"text" or "code"')
        if self.exact:  # the program's theory figures: squared moments, no origin cluster
            return replace(self, scale_is="deviation", moment="A^2", origin=False)
        return replace(self, reduction="mean", scale_is="variance", moment="A", origin=True)

    @property
    def input_size(self) -> int:
        """Number of input coordinates."""
        return self.dimension or max(len(self.scales), len(self.means))

    @property
    def output_size(self) -> int:
        """As many outputs as inputs."""
        return self.input_size

    @property
    def exact(self) -> bool:
        """Whether the loss uses the exact second moments."""
        return self.samples_per_cluster is None

    @property
    def clusters(self) -> int:
        """Number K of training clusters, the one at the origin included."""
        return len(self.means) + self.origin

    @property
    def test_point(self) -> tuple[float, ...]:
        """x_hat: every concept at once."""
        return (*self.means, *(0.0,) * (self.input_size - len(self.means)))

    @property
    def gradient_factor(self) -> float:
        """How much larger the objective's gradient is than that of (2.1)."""
        return 1.0 if self.reduction == "eq2.1" else 2.0 / self.input_size

    def deviations(self) -> jax.Array:
        """Standard deviation along each of the d axes."""
        sigma = jnp.asarray(self.scales)
        sigma = sigma if self.scale_is == "deviation" else jnp.sqrt(sigma)
        return jnp.pad(sigma, (0, self.input_size - len(self.scales)))

    def test_input(self) -> jax.Array:
        """x_hat as an array, also where the means are traced."""
        return jnp.pad(jnp.asarray(self.means), (0, self.input_size - len(self.means)))

    def moments(self) -> jax.Array:
        """The diagonal a of A (or of A squared), one value per axis."""
        a = self.deviations() ** 2 + self.test_input() ** 2 / self.clusters
        return a if self.moment == "A" else a**2

    def corners(self) -> jax.Array:
        """The 2^s points that combine a subset of the concepts, in binary order: (2^s, d)."""
        s = len(self.means)
        bits = np.array(list(itertools.product((0.0, 1.0), repeat=s)))
        centre = self.test_input()
        return (
            jnp.asarray(bits, centre.dtype)
            @ jnp.eye(s, self.input_size, dtype=centre.dtype)
            * centre
        )

    def context(self, key: jax.Array) -> jax.Array | None:
        """The random rotation of a seed, or None."""
        if not self.rotated:
            return None
        # QR of a Gaussian matrix with the signs of R's diagonal taken out is uniform.
        gaussian = normal(jax.random.fold_in(key, 1), (self.input_size, self.input_size))
        q, r = qr(gaussian)
        return q * jnp.sign(jnp.diagonal(r))

    def samples(self, key: jax.Array) -> Population | jax.Array:
        """The exact population, or the shuffled samples of all clusters: (K n, d)."""
        rotation = self.context(key)
        if self.exact:
            a, mean = self.moments(), self.test_input() / self.clusters
            if rotation is None:
                return Population(a, mean)
            return Population(rotation.T @ (a[:, None] * rotation), mean @ rotation)
        draw_key, shuffle_key = jax.random.split(jax.random.fold_in(key, 2))
        x, _ = self._draw(draw_key)
        x = jax.random.permutation(shuffle_key, x)
        return x if rotation is None else x @ rotation

    def discards(self, key: jax.Array) -> jax.Array:
        """How many points of this seed were drawn again because of the truncation."""
        return self._draw(jax.random.split(jax.random.fold_in(key, 2))[0])[1]

    def _draw(self, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        d, n = self.input_size, self.samples_per_cluster or 0
        centre, sigma = self.test_input(), self.deviations()
        places = jnp.eye(len(self.means), d, dtype=centre.dtype) * centre
        if self.origin:
            places = jnp.concatenate([places, jnp.zeros((1, d), centre.dtype)])
        places = jnp.repeat(places, n, axis=0)

        def draw(round_key: jax.Array) -> jax.Array:
            return places + sigma * normal(round_key, places.shape)

        x = draw(jax.random.fold_in(key, 0))
        if not self.truncated:
            return x, jnp.zeros((), jnp.int32)
        radius = jnp.min(jnp.asarray(self.means)) / 2

        def redraw(i: jax.Array, carry: tuple) -> tuple:
            x, count = carry
            near = jnp.linalg.norm(x - centre, axis=1) <= radius
            fresh = draw(jax.random.fold_in(key, i + 1))
            return jnp.where(near[:, None], fresh, x), count + near.sum(dtype=jnp.int32)

        return jax.lax.fori_loop(0, ROUNDS, redraw, (x, jnp.zeros((), jnp.int32)))

    def _accepted(self) -> float:
        """Share of points that the cluster hit hardest by the truncation keeps (2,000 draws)."""
        sigma = np.asarray(self.scales)
        sigma = sigma if self.scale_is == "deviation" else np.sqrt(sigma)
        rng = np.random.default_rng(0)
        noise = rng.normal(size=(2000, len(sigma))) * sigma
        mu = np.pad(self.means, (0, len(sigma) - len(self.means)))
        places = [np.eye(len(sigma))[p] * mu for p in range(len(self.means))]
        places += [np.zeros(len(sigma))] * self.origin
        far = [np.linalg.norm(c + noise - mu, axis=1) > min(self.means) / 2 for c in places]
        return float(min(f.mean() for f in far))

    def loss(self, predict: Predict, samples: Any) -> jax.Array:
        """(2.1) on samples, or (4.1) on the exact population (with the offset of affine models).

        A linear model sees samples only through their second moments, too. With more samples
        than coordinates that is the shorter way: four layers of 64 on a batch of 128 then need
        six products of that size forwards and back, not eleven.
        """
        if isinstance(samples, Population):
            value = _population_loss(predict, samples, None if self.rotated else len(self.scales))
        elif predict.linear and samples.shape[0] > samples.shape[1]:
            value = _population_loss(predict, _moments(samples))
        else:
            value = jnp.sum((predict(samples) - samples) ** 2) / (2 * samples.shape[0])
        return value * self.gradient_factor

    def lens(self, predict: Predict, context: Any) -> Predict:
        """The model in concept coordinates."""
        return predict if context is None else _Rotated(predict, context)

    def test_loss(self, predict: Predict) -> jax.Array:
        """Half the squared error at x_hat (SIM-D3)."""
        x = self.test_input()
        return jnp.sum((predict(x) - x) ** 2) / 2


def _moments(samples: jax.Array) -> Population:
    """Second moments and mean of the rows of `samples`."""
    return Population(samples.T @ samples / samples.shape[0], samples.mean(axis=0))


def _population_loss(
    predict: Predict, population: Population, axes: int | None = None
) -> jax.Array:
    """1/2 E|f(x) - x|^2 for f(x) = W x + b: 1/2 tr(E A E^T) + b.E m + 1/2 |b|^2, E = W - I.

    Where x is zero beyond the first few axes, only so many columns of E count, and they are
    taken from f at the unit vectors: W itself would be a product of whole matrices.
    """
    matrix, offset = predict.affine()
    moments, mean = population
    if axes and axes <= FEW and mean.shape[0] >= LARGE:
        units = jnp.eye(axes, mean.shape[0], dtype=mean.dtype)
        outputs = jnp.stack([predict(e) for e in units], axis=1)  # W e + b
        matrix = outputs if offset is None else outputs - offset[:, None]
        moments, mean = moments[:axes], mean[:axes]
    error = matrix - jnp.eye(matrix.shape[0], matrix.shape[1], dtype=matrix.dtype)
    weighted = error * moments if moments.ndim == 1 else error @ moments
    value = jnp.sum(weighted * error) / 2
    if offset is not None:
        value += offset @ (error @ mean) + offset @ offset / 2
    return value
