"""Sizes and shapes of the denoisers, what they are told, and what they refuse."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from compiling import quick  # tests is on the path
from dynascope.core.errors import BadInput
from dynascope.models import ConditionalMLP, NoiseLevels, PictureClassifier, UNet
from dynascope.models.denoisers.schedule import COORDINATES
from dynascope.models.transformer.drawing import Entry
from dynascope.tasks import Circles
from dynascope.tasks.diffusion import Noised


def size_of(model, task):
    """The network and how many parameters it has, without drawing them."""
    network = model.build(task.input_size, task.output_size)
    return network, jax.eval_shape(network.init, jax.random.key(0)).size


def residual(a, b):
    """Parameters of a residual block."""
    own = 2 * a + 2 * b + 9 * a * b + b + 9 * b * b + b
    return own if a == b else own + a * b + b


def told(given, channels):
    """Parameters of a two-layer map."""
    return (given + 1) * channels + (channels + 1) * channels


@pytest.mark.parametrize("channels", [(64, 128, 256), (16, 32, 64), (8,)])
def test_parameters_are_as_many_as_the_parts_have(channels):
    """Counted by hand: ways down and up, bottleneck, norms, schedule."""
    task = Circles(side=32)
    _, size = size_of(UNet(channels), task)
    given, first, last = 4 + COORDINATES, channels[0], channels[-1]
    count = 2 + (27 * first + first) + 2 * first + (27 * first + 3)
    before = first
    for own in channels:
        count += residual(before, own) + residual(own, own)
        count += 4 * own * own + own + told(given, own)
        before = own
    below = last
    for own in reversed(channels):
        count += told(given, below) + residual(below + own, own) + residual(own, own)
        below = own
    attention = 2 * last + 3 * last * (last + 1) + last * (last + 1)
    count += 2 * residual(last, last) + attention
    assert size == count


def test_the_printed_size():
    """yang2025 G.2: three levels of 64, 128 and 256 channels, 32 x 32 pictures, four conditions."""
    task = Circles(side=32)
    network, size = size_of(UNet((64, 128, 256)), task)
    assert size == 10_261_637
    params = jax.eval_shape(network.init, jax.random.key(0))
    x = Noised(jnp.zeros((2, 3072)), jnp.zeros(2), jnp.zeros((2, 4)))
    assert jax.eval_shape(network.apply, params, x).shape == (2, 3072)


@pytest.mark.parametrize(
    "model", [UNet((4, 8), blocks=1), ConditionalMLP((8, 8))], ids=["unet", "mlp"]
)
def test_output_depends_on_all_that_is_told_and_on_each_row_alone(model):
    task = Circles(side=8)
    network = model.build(task.input_size, task.output_size)
    params = quick(network.init)(jax.random.key(0))
    # The last convolution starts at zero: move all arrays away from their start.
    params = params + 0.05
    rng = np.random.default_rng(0)
    z, c = (jnp.asarray(rng.normal(size=(3, n)), jnp.float32) for n in (192, 4))
    gamma = jnp.asarray([-2.0, 0.0, 3.0])
    apply = quick(network.apply)
    whole = apply(params, Noised(z, gamma, c))
    twice = jnp.asarray([1, 1, 2])  # other rows beside it
    one = apply(params, Noised(z[twice], gamma[twice], c[twice]))
    assert np.allclose(whole[1], one[0], rtol=1e-4, atol=1e-4)
    for other in (
        Noised(z + 1, gamma, c), Noised(z, gamma + 1, c), Noised(z, gamma, c + 1),
    ):  # fmt: skip
        assert np.abs(apply(params, other) - whole).max() > 1e-3


def test_an_untrained_unet_estimates_z():
    """Its last convolution starts at zero, and z is added."""
    task = Circles(side=8)
    network = UNet((4,), blocks=1).build(task.input_size, task.output_size)
    params = quick(network.init)(jax.random.key(0))
    z = jnp.asarray(np.random.default_rng(0).normal(size=(2, 192)), jnp.float32)
    found = quick(network.apply)(params, Noised(z, jnp.zeros(2), jnp.zeros((2, 4))))
    assert np.allclose(found, z)


def test_sides_that_cannot_be_halved_are_refused():
    with pytest.raises(BadInput, match="side: got 20, expected a multiple of 8: the U-Net halves"):
        task = Circles(side=20)
        UNet((4, 4, 4)).build(task.input_size, task.output_size)
    with pytest.raises(BadInput, match="3 x side x side"):
        UNet((4,)).build(11, 7)
    with pytest.raises(BadInput, match="a multiple of 4"):
        PictureClassifier((4, 4)).build(3 * 10 * 10, 2)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: UNet(()), "at least one level"),
        (lambda: UNet((6, 8), groups=4), "a divisor"),
        (lambda: UNet(blocks=0), "at least 1"),
        (lambda: ConditionalMLP(()), "at least one size"),
        (lambda: NoiseLevels(3.0, -3.0), "below most"),
        (lambda: PictureClassifier((0,)), "at least one level"),
    ],
)
def test_bad_settings_are_refused(make, words):
    with pytest.raises(BadInput, match=words):
        make()


def test_entries_are_laws_not_numbers():
    entries = UNet((4,)).entries(3)
    assert all(
        isinstance(e, Entry)
        for e in jax.tree.leaves(entries, is_leaf=lambda node: isinstance(node, Entry))
    )
