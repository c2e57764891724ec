"""A convolution of three by three whose gradients are convolutions of the plain form too.

Inside a compiled loop XLA's CPU takes the gradients that autodiff writes by a slow way: their
layouts are not those of its fast convolution, and what it would do outside, turning the arrays,
it leaves out (ten to sixteen times slower, measured in `benchmarks/unet_step.py`). Here the arrays
are turned by hand. Three more shapes are far from its best:

- Pictures of side 1 or 2 lie within every window: there the convolution is one matrix.
- Where few channels come out (the last convolution of a denoiser), one product for all nine
  entries of the window and a sum of shifted pictures takes a third of the time.
- Where few go in, or at most 16 on both sides, XLA takes a slower library. Neighbours in a row
  are then computed together, as channels of a wider window that moves by as many places; that
  its corners are zero costs less than the better library saves.
"""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
from jax import lax

FORM = ("NHWC", "HWIO", "NHWC")
FEW = 3  # channels
NARROW = 16  # channels: with no more on either side XLA takes the slower library


def _convolution(x: jax.Array, weight: jax.Array, stride: int = 1) -> jax.Array:
    edge = (1, 1)
    return lax.conv_general_dilated(x, weight, (1, stride), (edge, edge), dimension_numbers=FORM)


def convolved(x: jax.Array, weight: jax.Array) -> jax.Array:
    """Pictures (n, side, side, in) under a window (3, 3, in, out), zeros beyond the edge.

    Example:
        >>> window = jnp.ones((3, 3, 1, 1))
        >>> convolved(jnp.ones((1, 3, 3, 1)), window)[0, :, :, 0].tolist()
        [[4.0, 6.0, 4.0], [6.0, 9.0, 6.0], [4.0, 6.0, 4.0]]
        >>> convolved(jnp.ones((1, 2, 2, 1)), window)[0, :, :, 0].tolist()
        [[4.0, 4.0], [4.0, 4.0]]
    """
    return _by_matrix(x, weight) if x.shape[1] <= 2 else _by_windows(x, weight)


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


def together(side: int, inputs: int, outputs: int) -> int:
    """How many neighbours in a row are best computed as channels of one window.

    Example:
        >>> together(16, 16, 16), together(16, 3, 16), together(16, 32, 32)
        (2, 4, 1)
    """
    best = 64 if inputs <= FEW else 32 if max(inputs, outputs) <= NARROW else outputs
    return next(k for k in (4, 2, 1) if k == 1 or (k * outputs <= best and side % (2 * k) == 0))


def _side_by_side(x: jax.Array, weight: jax.Array, count: int) -> jax.Array:
    """The convolution, `count` neighbours in a row at a time.

    The window is as wide as what they read together, and has the channels of each.
    """
    shifted = [jnp.pad(weight, ((0, 0), (k, count - 1 - k), (0, 0), (0, 0))) for k in range(count)]
    wide = _convolution(x, jnp.concatenate(shifted, axis=-1), count)
    return wide.reshape(*x.shape[:-1], weight.shape[-1])


def _chosen(x: jax.Array, weight: jax.Array) -> jax.Array:
    """The convolution by the way that is fastest for its channels."""
    inputs, outputs = weight.shape[2:]
    if outputs <= FEW:
        return _by_shifts(x, weight)
    return _side_by_side(x, weight, together(x.shape[1], inputs, outputs))


def _by_weight(x: jax.Array, slope: jax.Array) -> jax.Array:
    """The slope as a window over x, or x over the slope: turning the thinner one is cheaper."""
    if slope.shape[-1] < x.shape[-1]:
        turned = _convolution(slope.transpose(3, 1, 2, 0), x.transpose(1, 2, 0, 3))
        return turned[:, ::-1, ::-1].transpose(1, 2, 3, 0)
    return _convolution(x.transpose(3, 1, 2, 0), slope.transpose(1, 2, 0, 3)).transpose(1, 2, 0, 3)


@jax.custom_vjp
def _by_windows(x: jax.Array, weight: jax.Array) -> jax.Array:
    return _chosen(x, weight)


def _forward(x: jax.Array, weight: jax.Array) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
    return _chosen(x, weight), (x, weight)


def _backward(saved: tuple[jax.Array, jax.Array], slope: jax.Array) -> tuple[jax.Array, jax.Array]:
    """By x: the turned window over the slope. By the window: see `_by_weight`."""
    x, weight = saved
    return _chosen(slope, weight[::-1, ::-1].swapaxes(2, 3)), _by_weight(x, slope)


_by_windows.defvjp(_forward, _backward)
