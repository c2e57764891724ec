"""Wide residual networks and the Myrtle network: sizes, scale of outputs, samples apart."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from compiling import quick  # tests is on the path
from dynascope.core.errors import BadInput
from dynascope.models import Myrtle, WideResNet
from dynascope.models.residual import pool
from dynascope.probes import tangent_kernel, tangent_kernel_top

MODELS = [
    WideResNet((8, 8, 3), depth=10, widen=2, channels=4),
    WideResNet((8, 8, 3), depth=16, widen=1, channels=4, parameterization="pytorch"),
    Myrtle((8, 8, 3), channels=3),
]
every = pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)


def built(model, outputs=2):
    network = model.build(192, outputs)
    x = np.random.default_rng(1).normal(size=(5, 192)).astype(np.float32)
    return network, quick(network.init)(jax.random.key(0)), x


@pytest.mark.slow
@every
def test_samples_do_not_see_each_other(model):
    network, params, x = built(model)
    apply = quick(network.apply)
    whole = np.asarray(apply(params, x))
    assert whole.shape == (5, 2) and np.isfinite(whole).all()
    for row in range(5):  # beside other samples
        others = np.where(np.arange(5)[:, None] == row, x, 3 - x)
        assert np.allclose(whole[row], apply(params, others)[row], rtol=1e-4, atol=1e-6)


@pytest.mark.slow
@every
def test_kernels_by_layers_and_by_products_agree(model):
    network, params, x = built(model, 1)
    kernel = np.asarray(tangent_kernel(network.apply, params, x), float)
    (top,) = tangent_kernel_top(network.apply, params, x)
    assert top.value == pytest.approx(np.linalg.eigvalsh(kernel)[-1], rel=1e-3)
    tree = quick(jax.jacobian(lambda p: network.apply(p, x)[:, 0]))(params)
    flat = np.concatenate([np.reshape(a, (5, -1)) for a in jax.tree.leaves(tree)], axis=1)
    assert np.allclose(kernel, flat.astype(float) @ flat.T, rtol=1e-3, atol=1e-5)


def test_thesis_sizes():
    """WRN 10-10 has stages of 160, 320 and 640 channels, the Myrtle network 64 to 512."""
    shapes = jax.eval_shape(WideResNet().build(3072, 1).init, jax.random.key(0))
    assert [layer["weight"].shape[0] for layer in shapes] == [
        16, 160, 160, 160, 320, 320, 320, 640, 640, 640, 1,
    ]  # fmt: skip
    shapes = jax.eval_shape(Myrtle().build(3072, 10).init, jax.random.key(0))
    assert [layer["weight"].shape[0] for layer in shapes] == [64, 128, 256, 512, 10]


def test_without_offsets_outputs_scale_with_inputs():
    for model in (MODELS[0], MODELS[2]):
        network, params, x = built(model)
        apply = quick(network.apply)
        once, twice = apply(params, x), apply(params, 2 * x)
        assert np.allclose(2 * once, twice, rtol=1e-4, atol=1e-6)


def test_means_of_pixels():
    assert pool(jnp.arange(16.0).reshape(1, 4, 4, 1))[0, ..., 0].tolist() == [
        [2.5, 4.5],
        [10.5, 12.5],
    ]


def test_bad_sizes_are_refused():
    with pytest.raises(BadInput, match="such as 10 or 16"):
        WideResNet(depth=12)
    with pytest.raises(BadInput, match="halved 2 times"):
        WideResNet((6, 6, 3))
    with pytest.raises(BadInput, match="halved 3 times"):
        Myrtle((4, 4, 1))
    with pytest.raises(BadInput, match="as the task has"):
        Myrtle((8, 8, 1)).build(100, 1)
