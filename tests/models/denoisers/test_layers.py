"""The parts of the denoisers against dense formulas and autodiff."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from compiling import quick  # tests is on the path
from dynascope.models.denoisers.layers import Affine, GroupNorm, PlaceAttention, doubled, halved
from dynascope.models.denoisers.picture_convolution import FORM, convolved, together
from dynascope.models.denoisers.schedule import NoiseLevels
from dynascope.models.transformer.drawing import drawn
from dynascope.runtime.precision import precision


def normals(seed, *shape):
    """Standard normal numbers in float64."""
    return jnp.asarray(np.random.default_rng(seed).normal(size=shape))


# Every way that `convolved` has: (side, channels in, channels out).
WAYS = {
    "window by window": (6, 4, 18),
    "two neighbours at a time": (8, 16, 16),
    "four neighbours at a time": (8, 3, 8),
    "an odd side, few in": (5, 3, 4),
    "few out": (5, 5, 3),
    "fewer out than in": (8, 20, 6),
    "one matrix, side 2": (2, 3, 4),
    "one matrix, side 1": (1, 3, 4),
    "side 3, few out": (3, 3, 2),
}


@pytest.mark.parametrize(("side", "inputs", "out"), WAYS.values(), ids=WAYS)
def test_convolution_is_the_sum_written_out(side, inputs, out):
    with precision("float64"):
        x, w = normals(0, 2, side, side, inputs), normals(1, 3, 3, inputs, out)
        padded = np.pad(np.asarray(x), ((0, 0), (1, 1), (1, 1), (0, 0)))
        want = sum(
            padded[:, i : i + side, j : j + side] @ np.asarray(w[i, j])
            for i in range(3)
            for j in range(3)
        )
        assert np.allclose(quick(convolved)(x, w), want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("side", "inputs", "out"), WAYS.values(), ids=WAYS)
def test_gradients_of_the_convolution_are_those_of_autodiff(side, inputs, out):
    with precision("float64"):
        x, w = normals(0, 2, side, side, inputs), normals(1, 3, 3, inputs, out)
        slope = normals(2, 2, side, side, out)

        def plain(x, w):
            return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=FORM)

        ours = quick(lambda x, w: jax.vjp(convolved, x, w)[1](slope))(x, w)
        theirs = quick(lambda x, w: jax.vjp(plain, x, w)[1](slope))(x, w)
        for a, b in zip(ours, theirs, strict=True):
            assert np.allclose(a, b, rtol=1e-10, atol=1e-11)


def test_neighbours_go_together_only_where_windows_are_narrow():
    assert together(16, 16, 16) == 2 and together(32, 3, 16) == 4
    assert together(16, 3, 32) == 2 and together(32, 3, 64) == 1
    assert together(16, 17, 16) == together(16, 16, 17) == 1
    assert together(6, 16, 16) == together(5, 3, 4) == 1, "the row has no such pairs"


def test_group_norm_is_mean_and_deviation_of_each_group():
    with precision("float64"):
        x = 3 + 2 * normals(0, 2, 4, 4, 6)
        scale, offset = normals(1, 6), normals(2, 6)
        for groups in (1, 2, 3):
            split = np.asarray(x).reshape(2, 16, groups, 6 // groups)
            mean = split.mean((1, 3), keepdims=True)
            unit = (split - mean) / np.sqrt(split.var((1, 3), keepdims=True) + 1e-5)
            want = unit.reshape(x.shape) * np.asarray(scale) + np.asarray(offset)
            assert np.allclose(quick(GroupNorm(scale, offset, groups).__call__)(x), want, rtol=1e-9)


def test_attention_over_places_is_the_formula():
    with precision("float64"):
        part = quick(lambda key: drawn(key, PlaceAttention.entries(4, 1)))(jax.random.key(0))
        x = normals(0, 1, 3, 3, 4)
        rows = np.asarray(quick(part.norm.__call__)(x)).reshape(9, 4)
        maps = rows @ np.asarray(part.maps.weight) + np.asarray(part.maps.bias)
        q, k, v = maps[:, :4], maps[:, 4:8], maps[:, 8:]
        scores = np.exp(q @ k.T / 2)
        read = scores / scores.sum(1, keepdims=True) @ v
        want = read @ np.asarray(part.output.weight) + np.asarray(part.output.bias)
        assert np.allclose(
            quick(part.__call__)(x), np.asarray(x) + want.reshape(1, 3, 3, 4), rtol=1e-9
        )


def test_halving_with_a_map_is_a_convolution_of_stride_two():
    with precision("float64"):
        x, w = normals(0, 2, 6, 6, 3), normals(1, 2, 2, 3, 5)
        want = lax.conv_general_dilated(x, w, (2, 2), "VALID", dimension_numbers=FORM)
        found = Affine(w.reshape(12, 5), jnp.zeros(5))(halved(x))
        assert np.allclose(found, want, rtol=1e-10)


def test_doubling_repeats_every_place():
    x = np.arange(8.0).reshape(1, 2, 2, 2)
    assert np.array_equal(doubled(jnp.asarray(x)), x.repeat(2, axis=1).repeat(2, axis=2))


def test_levels_start_where_they_should_and_rise():
    levels = quick(lambda key: drawn(key, NoiseLevels().entries()))(jax.random.key(0))
    assert np.allclose([levels(jnp.asarray(t)) for t in (0.0, 1.0)], [-5.0, 10.0])
    falling = eqx.tree_at(lambda part: part.w, levels, -levels.w)
    assert float(falling(jnp.asarray(1.0))) > float(falling(jnp.asarray(0.0)))
