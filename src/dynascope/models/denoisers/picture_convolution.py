"""A convolution of three by three whose gradients are convolutions of the plain form too.

Inside a compiled loop XLA's CPU takes the gradients that autodiff writes by a slow way: their
layouts are not those of its fast convolution, and what it would do outside, turning the arrays,
it leaves out (ten to sixteen times slower, measured in `benchmarks/unet_step.py`). Here the arrays
are turned by hand. Pictures of side 1 or 2 lie within every window: there the convolution is one
matrix, and XLA's own way takes ten times as long. Where few channels come out (the last
convolution of a denoiser), one product for all nine entries of the window and a sum of shifted
pictures is two and a half times as fast.
"""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
from jax import lax

FORM = ("NHWC", "HWIO", "NHWC")
FEW = 3  # channels


def _convolution(x: jax.Array, weight: jax.Array) -> jax.Array:
    edge = (1, 1)
    return lax.conv_general_dilated(x, weight, (1, 1), (edge, edge), dimension_numbers=FORM)


def convolved(x: jax.Array, weight: jax.Array) -> jax.Array:
    """Pictures (n, side, side, in) under a window (3, 3, in, out), zeros beyond the edge.

    Example:
        >>> window = jnp.ones((3, 3, 1, 1))
        >>> convolved(jnp.ones((1, 3, 3, 1)), window)[0, :, :, 0].tolist()
        [[4.0, 6.0, 4.0], [6.0, 9.0, 6.0], [4.0, 6.0, 4.0]]
        >>> convolved(jnp.ones((1, 2, 2, 1)), window)[0, :, :, 0].tolist()
        [[4.0, 4.0], [4.0, 4.0]]
    """
    if x.shape[1] <= 2:
        return _by_matrix(x, weight)
    return _by_shifts(x, weight) if weight.shape[-1] <= FEW else _by_windows(x, weight)


def _by_matrix(x: jax.Array, weight: jax.Array) -> jax.Array:
    """All places of a picture of side 1 or 2 as one row, times one matrix."""
    count, side, _, inputs = x.shape
    places = [(i, j) for i in range(side) for j in range(side)]
    # Place q enters place p through entry q - p + 1 of the window.
    columns = [weight[1 - i : 1 - i + side, 1 - j : 1 - j + side] for i, j in places]
    matrix = jnp.stack(columns, axis=3).reshape(side * side * inputs, -1)
    return (x.reshape(count, -1) @ matrix).reshape(count, side, side, -1)


def _by_shifts(x: jax.Array, weight: jax.Array) -> jax.Array:
    """What every place sends to each of its nine neighbours, then the sum of what arrives."""
    count, side, _, inputs = x.shape
    sent = x @ weight.transpose(2, 0, 1, 3).reshape(inputs, -1)
    sent = sent.reshape(count, side, side, 3, 3, -1)
    padded = jnp.pad(sent, ((0, 0), (1, 1), (1, 1), (0, 0), (0, 0), (0, 0)))
    shifts = [(i, j) for i in range(3) for j in range(3)]
    arrived = [padded[:, i : i + side, j : j + side, i, j] for i, j in shifts]
    return functools.reduce(jnp.add, arrived)


@jax.custom_vjp
def _by_windows(x: jax.Array, weight: jax.Array) -> jax.Array:
    return _convolution(x, weight)


def _forward(x: jax.Array, weight: jax.Array) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
    return _convolution(x, weight), (x, weight)


def _backward(saved: tuple[jax.Array, jax.Array], slope: jax.Array) -> tuple[jax.Array, jax.Array]:
    """By x: the turned window over the slope. By the window: the slope as a window over x."""
    x, weight = saved
    by_x = _convolution(slope, weight[::-1, ::-1].swapaxes(2, 3))
    by_weight = _convolution(x.transpose(3, 1, 2, 0), slope.transpose(1, 2, 0, 3))
    return by_x, by_weight.transpose(1, 2, 0, 3)


_by_windows.defvjp(_forward, _backward)
