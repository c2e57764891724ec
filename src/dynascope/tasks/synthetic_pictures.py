"""Pictures that are made here: smooth patterns, shifted around and covered with noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from dynascope.core.errors import bad
from dynascope.core.spec import static_field
from dynascope.numerics.draws import normal, uniform
from dynascope.tasks.classes import Classes, Labelled

WAVES = 4  # cosines in a pattern
HIGHEST = 3  # of their whole-number frequencies along either side


@dataclass(frozen=True)
class SyntheticPictures(Classes):
    """Ten patterns of four random cosines; a sample is one of them, shifted, with noise over it.

    A built-in stand-in for pictures of things, and nothing else of them: a pattern has deviation
    1, is shifted by any number of pixels along both sides (what leaves at one edge comes in at the
    other), and every pixel gets normal noise. Each seed draws its own patterns.

    Args:
        side: Of a picture, in pixels; one channel.
        classes: Number of patterns.
        train: Number of training pictures.
        test: Number of test pictures.
        noise: Deviation of the noise.

    Example:
        >>> x, y = SyntheticPictures(train=20).samples(jax.random.key(0))
        >>> x.shape, y[:3].tolist()
        ((20, 256), [0, 1, 2])
    """

    offers: ClassVar[str | None] = "vectors"

    side: int = 16
    classes: int = 10
    train: int = 4000
    test: int = 1000
    noise: float = static_field(0.7)

    def check(self) -> None:
        """Raise for sizes below one and for negative noise."""
        for name in ("classes", "train", "test"):
            if getattr(self, name) < 1:
                raise bad(name, getattr(self, name), "a whole number of at least 1")
        if self.side <= 2 * HIGHEST:
            raise bad("side", self.side, f"more than {2 * HIGHEST} pixels")
        if not 0 <= self.noise < float("inf"):
            raise bad("noise", self.noise, "a finite number of at least 0")

    @property
    def input_size(self) -> int:
        """Pixels of a picture."""
        return self.side**2

    @property
    def output_size(self) -> int:
        """Number of patterns."""
        return self.classes

    def samples(self, key: jax.Array) -> Labelled:
        """The training pictures, a row each, and which pattern they show."""
        return self._drawn(key, 1, self.train)

    def context(self, key: jax.Array) -> Labelled:
        """The test pictures of the same patterns."""
        return self._drawn(key, 2, self.test)

    def test_set(self, context: Any) -> Labelled:
        """The test pictures."""
        return context

    def patterns(self, key: jax.Array) -> jax.Array:
        """One pattern a class, (classes, side, side), mean 0 and deviation 1."""
        drawn = uniform(jax.random.fold_in(key, 0), (4, self.classes, WAVES))
        row = jnp.floor(drawn[0] * (HIGHEST + 1))  # 0 to 3 waves down
        column = 1 + jnp.floor(drawn[1] * HIGHEST)  # 1 to 3 across: never constant
        phase, height = 2 * jnp.pi * drawn[2], 0.5 + drawn[3]
        place = 2 * jnp.pi * jnp.arange(self.side, dtype=drawn.dtype) / self.side
        angle = (
            row[..., None, None] * place[:, None]
            + column[..., None, None] * place
            + phase[..., None, None]
        )
        found = (height[..., None, None] * jnp.cos(angle)).sum(1)
        return found / found.std((1, 2), keepdims=True)

    def _drawn(self, key: jax.Array, part: int, count: int) -> Labelled:
        shift_key, noise_key = jax.random.split(jax.random.fold_in(key, part))
        classes = jnp.arange(count, dtype=jnp.int32) % self.classes
        shifts = jnp.floor(uniform(shift_key, (count, 2)) * self.side).astype(jnp.int32)
        rolled = jax.vmap(lambda p, s: jnp.roll(p, (s[0], s[1]), (0, 1)))
        x = rolled(self.patterns(key)[classes], shifts).reshape(count, -1)
        return x + self.noise * normal(noise_key, x.shape), classes
