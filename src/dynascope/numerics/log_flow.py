"""Gradient flow of a loss of products z = u v, from starts as small as one likes.

With w = u + v and w~ = u - v the flow of (u, v) is w' = w g and w~' = -w~ g, where g = -dL/dz
(boix2023 (6), (7)). So log|w| and log|w~| move by plus and minus the same displacement
G = integral of g dt, and G alone is integrated: u^2 - v^2 = w w~ is conserved exactly, and no
start is too small, since only logarithms of weights are kept. A simulation of u and v loses
u - v to rounding once a coordinate has grown; a coordinate that leaves the support then never
comes back with the other sign.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from dynascope.core.errors import BadInput, bad
from dynascope.numerics.stabilised import MOST_STAGES, Slope, chebyshev_step, reach, stages_for
from dynascope.runtime.precision import foreign, precision

MOST_STEPS = 20_000  # in one stretch; more is blow-up or a tolerance that cannot be met
STEPS_PER_ESTIMATE = 5  # of the stiffness, which costs one more gradient


class LogWeights(NamedTuple):
    """w = u + v and w~ = u - v as logarithms of their sizes, and their signs."""

    log_sum: jax.Array
    log_difference: jax.Array
    sum_sign: jax.Array
    difference_sign: jax.Array

    def moved(self, displacement: jax.Array) -> LogWeights:
        """The weights after a displacement G: log|w| + G, log|w~| - G."""
        return self._replace(
            log_sum=self.log_sum + displacement, log_difference=self.log_difference - displacement
        )

    @property
    def products(self) -> jax.Array:
        """Z = (w^2 - w~^2) / 4."""
        return (jnp.exp(2 * self.log_sum) - jnp.exp(2 * self.log_difference)) / 4

    @property
    def factors(self) -> tuple[jax.Array, jax.Array]:
        """U and v as plain numbers; what is below 1e-308 is zero."""
        w = self.sum_sign * jnp.exp(self.log_sum)
        other = self.difference_sign * jnp.exp(self.log_difference)
        return (w + other) / 2, (w - other) / 2


def log_weights(u: jax.Array, v: jax.Array, log_scale: float | jax.Array = 0.0) -> LogWeights:
    """The weights (e^log_scale u, e^log_scale v), without ever forming small numbers.

    Example:
        >>> weights = log_weights(jnp.array([2.0]), jnp.array([1.0]))
        >>> [round(float(x[0]), 4) for x in weights.factors]
        [2.0, 1.0]
    """
    w, other = u + v, u - v
    scale = jnp.asarray(log_scale, w.dtype)
    return LogWeights(
        jnp.log(jnp.abs(w)) + scale, jnp.log(jnp.abs(other)) + scale, jnp.sign(w), jnp.sign(other)
    )


class Moving(NamedTuple):
    """Where an integration is, and what it has learned about the flow."""

    displacement: jax.Array
    pull: jax.Array  # g there
    step: jax.Array  # the next step's length
    stiffness: jax.Array  # largest curvature known
    direction: jax.Array  # and where it points
    evaluations: jax.Array  # of g, so far


def at_rest(pull: Slope, start: LogWeights) -> Moving:
    """Before the first step."""
    nowhere = jnp.zeros_like(start.log_sum)
    number = partial(jnp.asarray, dtype=nowhere.dtype)
    # Some direction: uneven, so that it is orthogonal to no symmetric pattern.
    uneven = 1 + jnp.cos(jnp.arange(nowhere.size, dtype=nowhere.dtype)).reshape(nowhere.shape)
    return Moving(
        nowhere, pull(start.products), number(1e-3), number(0.0), uneven, jnp.asarray(1, jnp.int32)
    )


def integrate(
    pull: Slope, start: LogWeights, moving: Moving, length: jax.Array, tolerance: float
) -> Moving:
    """Follow the flow for a stretch of time.

    Args:
        pull: g of z.
        start: The weights at time 0.
        moving: Where the integration is.
        length: How long to go on; the last step lands on its end.
        tolerance: Largest local error of any log|w| in a step.

    Returns:
        The end; NaN where `MOST_STEPS` were not enough.
    """

    def slope(displacement: jax.Array) -> jax.Array:
        return pull(start.moved(displacement).products)

    def stiffness(y: jax.Array, f: jax.Array, direction: jax.Array) -> tuple[jax.Array, jax.Array]:
        """One power iteration on the slope's Jacobian, by a difference."""
        size = 1e-6 / jnp.sqrt(jnp.sum(direction**2))
        image = (slope(y + size * direction) - f) / 1e-6
        norm = jnp.sqrt(jnp.sum(image**2))
        return norm, jnp.where(norm > 1e-12, image / jnp.maximum(norm, 1e-300), direction)

    def unfinished(carry: tuple) -> jax.Array:
        _, rest, count = carry
        return (rest > 0) & (count < MOST_STEPS)

    def one(carry: tuple) -> tuple:
        moving, rest, count = carry
        f, stiff = moving.pull, moving.stiffness
        furthest = reach(MOST_STAGES) / jnp.maximum(1.2 * stiff, 1e-300)
        wanted = jnp.minimum(moving.step, furthest)
        h = jnp.minimum(wanted, rest)
        stages = stages_for(h, 1.2 * stiff)
        end = chebyshev_step(slope, moving.displacement, f, h, stages)
        error = jnp.max(jnp.abs(end.error)) / tolerance
        fine = error <= 1  # False for NaN
        factor = jnp.clip(0.8 * jnp.maximum(error, 1e-12) ** (-1 / 3), 0.1, 4.0)
        factor = jnp.where(jnp.isfinite(error), factor, 0.1)
        # A step that was cut short to land says nothing against a longer one.
        after = jnp.where(fine & (h < wanted), jnp.maximum(h * factor, wanted), h * factor)
        y = jnp.where(fine, end.state, moving.displacement)
        f = jnp.where(fine, end.slope, f)
        # The curvature changes slowly, but for a step that has just failed.
        known = fine & (count % STEPS_PER_ESTIMATE > 0)
        stiff, direction = jax.lax.cond(
            known, lambda: (stiff, moving.direction), lambda: stiffness(y, f, moving.direction)
        )
        counted = moving.evaluations + stages + jnp.where(known, 0, 1)
        rest = jnp.where(fine, rest - h, rest)
        return Moving(y, f, after, stiff, direction, counted), rest, count + 1

    carry = (moving, jnp.asarray(length, moving.pull.dtype), jnp.asarray(0, jnp.int32))
    moving, rest, _ = jax.lax.while_loop(unfinished, one, carry)
    return moving._replace(displacement=jnp.where(rest > 0, jnp.nan, moving.displacement))


class LogFlow(NamedTuple):
    """A flow at several scales and times; the last axes are those of u."""

    alphas: np.ndarray  # (scales,)
    times: np.ndarray  # (times,), rescaled: t / log(1 / alpha)
    products: np.ndarray  # (scales, times, ...)
    losses: np.ndarray  # (scales, times)
    log_sum: np.ndarray  # log|u + v|, (scales, times, ...)
    log_difference: np.ndarray  # log|u - v|
    evaluations: np.ndarray  # of the gradient, (scales,)


def log_flow(
    loss_of_product: Callable[..., jax.Array],
    u: ArrayLike,
    v: ArrayLike,
    alphas: Sequence[float],
    times: ArrayLike,
    tolerance: float = 1e-3,
    *,
    parameters: tuple[ArrayLike, ...] = (),
) -> LogFlow:
    """The flow from (alpha u, alpha v) of any loss of z = u v, in float64, in rescaled time.

    Args:
        loss_of_product: A jax function of z, and of the parameters if there are any.
        u: Unscaled start; |u_i| and |v_i| must differ.
        v: Of the same shape.
        alphas: Scales of the start, above 0 and below 1; 1e-300 is fine.
        times: Ascending times t / log(1 / alpha), boix2023 (14).
        tolerance: Largest local error of any log|u + v| in a step.
        parameters: Arrays that the loss takes beside z. With them the program is compiled once
            for a loss: other numbers of the same shapes are only other arguments.

    Returns:
        Products, losses and logarithms of the weights.

    Example:
        >>> flow = log_flow(lambda z: 0.5 * jnp.sum((z - 2) ** 2), [1.0], [0.0], [1e-300], [1.0])
        >>> round(float(flow.products[0, 0, 0]), 3)  # escapes at 1/2
        2.0
    """
    u, v, times = (np.asarray(x, float) for x in (u, v, times))
    if u.shape != v.shape:
        raise bad("v", v.shape, f"the shape of u, {u.shape}")
    check_unequal(u, v)
    for alpha in alphas:
        check_alpha(alpha)
    if times.ndim != 1 or (np.diff(times, prepend=0.0) < 0).any():
        raise bad("times", times, "times from 0 on, ascending")
    given = u, v, np.asarray(alphas, float), np.diff(times, prepend=0.0), tolerance
    with precision("float64"):
        if parameters:
            found = _compiled(loss_of_product, *given, tuple(map(np.asarray, parameters)))
        else:
            found = jax.jit(lambda: _over_alphas(loss_of_product, *given))()
        found = [np.asarray(x) for x in found]
    return LogFlow(np.asarray(alphas, float), times, *found)


def _over_alphas(
    loss: Callable, u: np.ndarray, v: np.ndarray, alphas: np.ndarray, lengths: np.ndarray,
    tolerance: float, parameters: tuple = (),
) -> tuple:  # fmt: skip
    """One scale after the other: their steps differ, and a batch would wait for the slowest."""

    def value(z: jax.Array) -> jax.Array:
        with foreign():
            return loss(z, *parameters)

    def pull(z: jax.Array) -> jax.Array:
        return -jax.grad(value)(z)

    def at(alpha: jax.Array) -> tuple:
        start = log_weights(jnp.asarray(u), jnp.asarray(v), jnp.log(alpha))

        def cell(moving: Moving, length: jax.Array) -> tuple:
            moving = integrate(pull, start, moving, -jnp.log(alpha) * length, tolerance)
            now = start.moved(moving.displacement)
            return moving, (now.products, value(now.products), now.log_sum, now.log_difference)

        rows: tuple
        moving, rows = jax.lax.scan(cell, at_rest(pull, start), jnp.asarray(lengths))
        return *rows, moving.evaluations

    return jax.lax.map(at, jnp.asarray(alphas, float))


_compiled = jax.jit(_over_alphas, static_argnums=(0, 5))


def check_alpha(alpha: float) -> None:
    """Raise unless the scale of a start lies between 0 and 1, both excluded."""
    if not 0 < alpha < 1:
        raise bad("alpha", alpha, "a number above 0 and below 1", "time is t / log(1 / alpha)")


def check_unequal(u: np.ndarray, v: np.ndarray) -> None:
    """Raise where |u_i| = |v_i|: w or w~ is zero there for ever, so one sign is never reached."""
    equal = np.flatnonzero(np.abs(u) == np.abs(v))
    if equal.size:
        raise BadInput(
            f"u, v: |u| = |v| at coordinate {equal[0]}, expected different sizes (assumption 4.3); "
            "such a coordinate can learn one sign only"
        )
