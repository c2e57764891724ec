"""Gaussian inputs and a target that uses few directions of them (zhu2024 D1-D4, Table 4.1).

The expected gradient outer product, EGOP = E[grad f grad f^T], says which directions the
target uses; for these targets it has a closed form.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.core.errors import bad
from dynascope.core.spec import later_field
from dynascope.numerics.draws import normal
from dynascope.tasks.samples import Labelled, Samples

SUM_OVER = 10  # "rank-3" sums so many inputs
LEAST_INPUTS = {"rank-2": 2, "rank-3": SUM_OVER, "rank-4": 4, "full-rank": 1, "sign": 2}

VARIANCES = {"rank-2": 1.0, "rank-3": 14.0, "rank-4": 4.0, "sign": 1.0}  # of the target


class HeldOut(NamedTuple):
    """What a seed does not train on."""

    test: Labelled
    validation: Labelled | None


def _staircase(x: jax.Array) -> jax.Array:
    """x1 + x1 x2 + x1 x2 x3 + x1 x2 x3 x4."""
    return jnp.sum(jnp.cumprod(x[..., :4], axis=-1), axis=-1)


TARGETS: dict[str, Callable[[jax.Array], jax.Array]] = {
    "rank-2": lambda x: x[..., 0] * x[..., 1],
    "rank-3": lambda x: x[..., 0] * x[..., 1] * jnp.sum(x[..., :SUM_OVER], axis=-1),
    "rank-4": _staircase,
    "full-rank": lambda x: jnp.linalg.norm(x, axis=-1) / math.sqrt(x.shape[-1]),
    "sign": lambda x: jnp.sign(x[..., 0] + x[..., 1] / 2),
}


@dataclass(frozen=True)
class LowRank(Samples):
    """Learn a function of a few directions of Gaussian inputs; each seed draws its own samples.

    Args:
        target: "rank-2" x1 x2; "rank-3" x1 x2 (x1 + ... + x10); "rank-4" the staircase
            x1 + x1 x2 + x1 x2 x3 + x1 x2 x3 x4; "full-rank" |x| / sqrt(d); "sign" the sign of
            x1 + x2 / 2, which has no gradient.
        dimension: Number d of inputs.
        train: How many training samples.
        test: How many test samples; their targets carry noise too.
        noise: Standard deviation of what is added to the target.
        validation: How many samples are kept apart to choose a checkpoint.
        unit_variance: Whether the target is divided by its standard deviation, before the noise:
            sqrt(14) for "rank-3" and 2 for "rank-4".

    Example:
        >>> LowRank("rank-2", dimension=3).egop().tolist()
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    """

    offers: ClassVar[str | None] = "vectors"

    target: Literal["rank-2", "rank-3", "rank-4", "full-rank", "sign"] = "rank-2"
    dimension: int = 100
    train: int = 128
    test: int = 2000
    noise: float = 0.1
    validation: int = later_field(0)
    unit_variance: bool = later_field(False)

    def check(self) -> None:
        """Raise for sizes that are too small."""
        least = LEAST_INPUTS[self.target]
        if self.dimension < least:
            raise bad("dimension", self.dimension, f"at least {least} for {self.target!r}")
        for name in ("train", "test"):
            if getattr(self, name) < 1:
                raise bad(name, getattr(self, name), "a whole number of at least 1")
        if self.validation < 0:
            raise bad("validation", self.validation, "a whole number of at least 0")
        if self.unit_variance and self.target not in VARIANCES:
            raise bad("unit_variance", self.target, f"one of {', '.join(VARIANCES)}")
        if not 0 <= self.noise < math.inf:
            raise bad("noise", self.noise, "a finite number of at least 0")

    @property
    def input_size(self) -> int:
        """Number of inputs."""
        return self.dimension

    def function(self, x: jax.Array) -> jax.Array:
        """The target without noise, (..., d) -> (...)."""
        value = TARGETS[self.target](x)
        return value / math.sqrt(VARIANCES[self.target]) if self.unit_variance else value

    def samples(self, key: jax.Array) -> Labelled:
        """A seed's training samples."""
        return self._draw(jax.random.fold_in(key, 0), self.train)

    def context(self, key: jax.Array) -> HeldOut:
        """A seed's test samples, and those of its validation set."""
        test = self._draw(jax.random.fold_in(key, 1), self.test)
        apart = jax.random.fold_in(key, 2)
        return HeldOut(test, self._draw(apart, self.validation) if self.validation else None)

    def test_set(self, context: HeldOut) -> Labelled:
        """The seed's test samples."""
        return context.test

    def validation_set(self, context: HeldOut) -> Labelled:
        """The seed's samples by which a checkpoint is chosen."""
        if context.validation is None:
            raise bad("validation", 0, "a validation set", "set validation to a number of samples")
        return context.validation

    def _draw(self, key: jax.Array, count: int) -> Labelled:
        places, errors = jax.random.split(key)
        x = normal(places, (count, self.dimension))
        y = self.function(x) + self.noise * normal(errors, (count,))
        return x, y[:, None]

    def egop(self) -> np.ndarray:
        """(d, d) the expected gradient outer product, in closed form."""
        if self.target == "sign":
            raise bad("target", "sign", "a target that has a gradient")
        d, matrix = self.dimension, np.zeros((self.dimension, self.dimension))
        if self.target == "rank-2":
            matrix[0, 0] = matrix[1, 1] = 1
        elif self.target == "rank-4":
            matrix[range(4), range(4)] = (4, 3, 2, 1)
        elif self.target == "full-rank":
            matrix = np.eye(d) / d**2
        else:
            matrix[:SUM_OVER, :SUM_OVER] = _three_directions()
        return matrix / VARIANCES[self.target] if self.unit_variance else matrix


def _three_directions() -> np.ndarray:
    """The block of x1 x2 (x1 + ... + x10), from the fourth moments of a Gaussian."""
    block = np.ones((SUM_OVER, SUM_OVER))  # E[(x1 x2)^2] for two of the others
    block[:2, 2:] = block[2:, :2] = 2
    block[0, 1] = block[1, 0] = 5
    block[0, 0] = block[1, 1] = 15
    return block
