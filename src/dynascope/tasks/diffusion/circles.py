"""Pictures of one disc, big or small, red or blue; the small blue ones are kept for the test.

yang2025 app. G.1 and Fig. 19. Pictures are drawn on the device from a key, so nothing is stored.
Lengths are shares of the picture's side, colours go from 0 to 1; the model sees pixels from -1
to 1. A picture's condition is its own (diameter, red, green, blue), each less one half and times
four: numbers of order one, with strengths in the same proportion as in the pictures.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.core.errors import bad
from dynascope.core.spec import static_field
from dynascope.numerics.draws import normal, uniform
from dynascope.tasks.diffusion.base import (
    Conditioned,
    DiffusionTask,
    check_share,
    shuffled_conditions,
)

CLASSES = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])  # (blue, small); the last is for the test
SMALLEST = 0.1  # diameter of a disc


@dataclass(frozen=True)
class Circles(DiffusionTask):
    """Discs of two sizes and two colours.

    Args:
        side: Of a picture in pixels.
        colour: Strength of the colour concept: red is (1 + c, 1 - c, 1 - c) / 2, blue the reverse.
        size: Strength of the size concept: how much longer the big diameter is.
        middle: Mean of the two diameters.
        blur: Deviation of the Gaussian that smooths the disc's edge.
        noise: Deviation of the pixels' noise.
        shuffled: Share of the pictures that get the condition of another: a control.
        samples_per_class: Size of a training set for rules that draw no fresh pictures, and of
            what the probes measure on.

    Example:
        >>> task = Circles(side=16)
        >>> six = lambda key: task.draw(key, 6, None)
        >>> x, condition = jax.eval_shape(six, jax.random.key(0))  # nothing is computed
        >>> x.shape, condition.shape
        ((6, 768), (6, 4))
        >>> [round(float(v), 3) for v in task.test_condition()]
        [-1.0, -1.4, -1.4, 1.4]
    """

    side: int = 16
    colour: float = 0.7
    size: float = 0.4
    middle: float = static_field(0.45)
    blur: float = static_field(1 / 32)
    noise: float = static_field(1e-3)
    shuffled: float = 0.0
    samples_per_class: int = 64

    def check(self) -> None:
        """Raise for settings that describe no pictures."""
        check_share(self.shuffled)
        if self.side < 8:
            raise bad("side", self.side, "at least 8 pixels")
        for name in ("colour", "size"):
            value = getattr(self, name)
            hint = "without strength a concept is never learned, so the order is undefined"
            if not 0 < value <= 1:
                raise bad(name, value, "a number above 0 and up to 1", hint)
        if self.middle - self.size / 2 <= SMALLEST or self.middle + self.size / 2 > 1:
            raise bad("size", self.size, f"diameters between {SMALLEST} and 1, around the middle")
        for name in ("blur", "noise"):
            if not 0 < getattr(self, name) < float("inf"):
                raise bad(name, getattr(self, name), "a finite number above 0")
        if self.samples_per_class < 1:
            raise bad("samples_per_class", self.samples_per_class, "at least 1")

    def as_in(self, spec: Literal["text", "code"]) -> Circles:
        """Diameters of the text (0.7 and 0.3) or of the authors' program (0.65 and 0.25)."""
        if spec not in ("text", "code"):
            raise bad("spec", spec, '"text" or "code"')
        return replace(self, size=0.4, middle=0.5 if spec == "text" else 0.45)

    @property
    def data_noise(self) -> float:
        """Deviation of the pixels' noise where pixels go from -1 to 1."""
        return 2 * self.noise

    @property
    def output_size(self) -> int:
        """Numbers of a picture."""
        return 3 * self.side**2

    @property
    def condition_size(self) -> int:
        """Diameter, red, green, blue."""
        return 4

    def means(self, classes: jax.Array) -> jax.Array:
        """Mean diameter and colour of classes (..., 2) as (blue, small): (..., 4)."""
        blue, small = classes[..., 0], classes[..., 1]
        diameter = self.middle + self.size * (0.5 - small)
        half = jnp.asarray(self.colour, diameter.dtype) / 2
        red = 0.5 + half * (1 - 2 * blue)
        return jnp.stack([diameter, red, 0.5 - half + 0 * red, 1 - red], axis=-1)

    def test_condition(self) -> jax.Array:
        """The mean small blue disc."""
        return as_condition(self.means(jnp.ones(2, jnp.result_type(float))))

    def draw(self, key: jax.Array, count: int, context: Any) -> Conditioned:
        """Fresh pictures of the three training classes in turn."""
        classes = jnp.asarray(CLASSES[np.arange(count) % 3], jnp.result_type(float))
        own, order = jax.random.split(key)
        found = self.pictures(own, classes)
        return shuffled_conditions(found, self.shuffled, order)

    def samples(self, key: jax.Array) -> Conditioned:
        """A training set."""
        return self.draw(key, 3 * self.samples_per_class, None)

    def pictures(self, key: jax.Array, classes: jax.Array) -> Conditioned:
        """A picture a row of `classes` (count, 2), as the model sees it, and its condition."""
        count, side = classes.shape[0], self.side
        place_key, noise_key = jax.random.split(key)
        u = uniform(place_key, (count, 9), -1.0)
        form = u.dtype
        spread = jnp.stack([
            3 * self.size * jnp.ones((), form),
            *[jnp.asarray(self.colour, form)] * 3,
        ])
        own = self.means(classes) + u[:, :4] * spread / 8
        own = own.at[:, 0].set(jnp.maximum(own[:, 0], SMALLEST))
        centre, background = u[:, 4:6] / 2, 0.9 + u[:, 6:9] / 10
        at = jnp.asarray((2 * np.arange(side) + 1) / side - 1, form)  # pixels from -1 to 1
        square = (at - centre[:, :1]) ** 2  # (count, side)
        square = square[:, None, :] + ((at - centre[:, 1:]) ** 2)[:, :, None]
        inside = (square <= own[:, :1, None] ** 2).astype(form)
        smooth = jnp.asarray(_smoothing(side, self.blur * side), form)
        inside = jnp.einsum("ij,njk,lk->nil", smooth, inside, smooth)[..., None]
        colours = own[:, None, None, 1:], background[:, None, None]
        picture = inside * colours[0] + (1 - inside) * colours[1]
        picture = picture + self.noise * normal(noise_key, picture.shape)
        seen = 2 * jnp.clip(picture, 0, 1).reshape(count, -1) - 1
        return Conditioned(seen, as_condition(own))

    def shown(self, x: jax.Array) -> jax.Array:
        """Pictures as (..., side, side, 3) with colours from 0 to 1."""
        return jnp.clip((x + 1) / 2, 0, 1).reshape(*x.shape[:-1], self.side, self.side, 3)


def as_condition(own: jax.Array) -> jax.Array:
    """Diameter and colour as a network is told of them."""
    return 4 * own - 2


def _smoothing(side: int, deviation: float) -> np.ndarray:
    """The Gaussian filter along one side as a matrix; what is beyond the edge is mirrored."""
    reach = max(1, round(4 * deviation))
    weights = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * deviation**2))
    matrix = np.zeros((side, side))
    for place in range(side):
        for offset, weight in zip(range(-reach, reach + 1), weights, strict=True):
            at = (place + offset) % (2 * side)
            matrix[place, min(at, 2 * side - 1 - at)] += weight
    return matrix / weights.sum()
