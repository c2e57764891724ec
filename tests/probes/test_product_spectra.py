"""Spectra of products and of their change: dense twins, invariances, and known numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dynascope as ds
from compiling import quick  # tests is on the path
from dynascope.core.errors import BadInput
from dynascope.dynamics import GradientDescent
from dynascope.engine.record import At
from dynascope.models import MLP, Transformer
from dynascope.probes import (
    ProductSpectrum,
    StableRank,
    difference_spectrum,
    normalized,
    product_spectrum,
    stable_rank,
)
from dynascope.runtime.precision import precision
from dynascope.tasks import ArraySamples

RNG = np.random.default_rng(0)


def in_float64(function, *arrays):
    with precision("float64"):
        return np.asarray(quick(function)(*arrays))


@pytest.mark.parametrize(("d", "k"), [(40, 6), (12, 12), (10, 8)])
def test_the_factor_form_is_the_dense_spectrum(d, k):
    """RANK-Q1, check 20: within 2.3e-12 of the dense decomposition, also where 2 k exceeds d."""
    a, b, a0, b0 = RNG.normal(size=(4, 3, d, k))
    dense = np.linalg.svd(a @ b.swapaxes(1, 2), compute_uv=False)
    ours = in_float64(product_spectrum, a, b)
    assert ours.shape == (3, min(d, k))
    assert np.abs(ours - dense[:, :k]).max() < 2.3e-12 * dense.max()
    dense = np.linalg.svd(a @ b.swapaxes(1, 2) - a0 @ b0.swapaxes(1, 2), compute_uv=False)
    ours = in_float64(difference_spectrum, a, b, a0, b0)
    assert ours.shape == (3, min(d, 2 * k)), "check 22: the rank is at most 2 d_h"
    assert np.abs(ours - dense[:, : 2 * k]).max() < 2.3e-12 * dense.max()


def test_no_change_is_exactly_zero_and_has_no_stable_rank():
    """Check 22; in float32 too, where a difference of two rounded products would not be zero."""
    a, b = RNG.normal(size=(2, 4, 20, 5)).astype(np.float32)
    spectrum = np.asarray(difference_spectrum(a, b, a, b))
    assert not spectrum.any()
    assert np.isnan(np.asarray(stable_rank(spectrum))).all()
    assert np.isnan(np.asarray(normalized(spectrum))).all()


def test_a_small_change_keeps_its_digits_in_float32():
    """A change of 1e-6 of rank one: the difference of the products would be mostly rounding."""
    a, b = RNG.normal(size=(2, 30, 5)).astype(np.float32)
    step = np.float32(2**-20) * np.outer(RNG.integers(-3, 4, 30), np.eye(5)[0]).astype(np.float32)
    now = (np.round(a * 2**10) / 2**10).astype(np.float32)
    spectrum = np.asarray(difference_spectrum(now + step, b, now, b))
    exact = np.linalg.norm(step.astype(float) @ b.astype(float).T)
    assert abs(spectrum[0] / exact - 1) < 1e-5
    assert np.asarray(stable_rank(spectrum)) < 1 + 1e-6


def test_stable_rank_of_known_matrices():
    """Check 20."""

    def rank(m):
        return float(in_float64(lambda x: stable_rank(product_spectrum(x, np.eye(len(x.T)))), m))

    assert rank(np.eye(7)) == pytest.approx(7, rel=1e-12)
    assert rank(np.outer(RNG.normal(size=5), RNG.normal(size=4))) == pytest.approx(1, rel=1e-12)
    m = RNG.normal(size=(6, 6))
    turned = np.linalg.qr(RNG.normal(size=(6, 6)))[0] @ m
    assert rank(3e-7 * m) == pytest.approx(rank(m), rel=1e-10)
    assert rank(m.T) == pytest.approx(rank(m), rel=1e-10)
    assert rank(turned) == pytest.approx(rank(m), rel=1e-10)
    low = RNG.normal(size=(6, 2)) @ RNG.normal(size=(2, 6))
    assert 1 <= rank(low) <= 2 + 1e-12


def test_random_products_have_the_ledgers_stable_rank():
    """Check 20 and RANK-Q: 512 x 128 gives 42.6 +- 4; the difference of two products 61.7."""
    a, b, a0, b0 = RNG.normal(size=(4, 2, 512, 128)).astype(np.float32)
    assert abs(np.asarray(stable_rank(product_spectrum(a, b))).mean() - 42.6) < 4
    assert abs(np.asarray(stable_rank(difference_spectrum(a, b, a0, b0))).mean() - 61.7) < 4


TASK = ArraySamples(RNG.normal(size=(16, 6)), RNG.normal(size=(16, 2)))
MODEL = Transformer(depth=2, width=8, heads=2, feed_forward="none", norm="none")


@pytest.mark.slow
def test_probes_record_the_change_since_the_start():
    probes = (
        ProductSpectrum(name="kq"), StableRank(),
        ProductSpectrum("kq", "weights", name="kq_weights"),
    )  # fmt: skip
    run = ds.simulate(
        TASK, MODEL, GradientDescent(0.1), steps=20, probes=probes, record=At((5, 6)), seeds=2,
        dtype="float64",
    )  # fmt: skip
    assert run["kq"].dims == ("seed", "step", "layer", "head", "rank")
    assert run["kq"].shape == (2, 4, 2, 2, 8) and run["kq_weights"].shape == (2, 4, 2, 2, 4)
    assert not run["kq"].values[:, 0].any() and np.isnan(run["stable_rank"].values[:, 0]).all()
    assert (run["kq"].values[:, 1:, ..., 0] > 0).all()
    assert (np.diff(run["kq"].values, axis=-1) <= 0).all(), "the largest first"
    later = run["kq"].values[:, 1:]
    squares = (later**2).sum(-1) / later[..., 0] ** 2
    assert np.allclose(run["stable_rank"].values[:, 1:], squares, rtol=1e-10)
    # Weights of a start are those that the model draws: told without any training.
    import jax

    from dynascope.core.randomness import key_for
    from dynascope.models.transformer import head_maps

    with precision("float64"):
        maps = head_maps(MODEL.build(6, 2).init(key_for(1, "init")))
        key, query = (np.asarray(m, float) for m in jax.tree.leaves((maps.key, maps.query)))
    dense = np.linalg.svd(key @ query.swapaxes(-1, -2), compute_uv=False)[..., :4]
    assert np.allclose(run["kq_weights"].values[1, 0], dense, rtol=1e-6)


def test_only_a_transformer_has_heads():
    with pytest.raises(BadInput, match=r"needs models\.Transformer"):
        ds.simulate(TASK, MLP(), GradientDescent(0.1), steps=1, probes=(StableRank(),))


def test_grouped_heads_have_a_product_for_every_query_head():
    import jax

    from dynascope.models.transformer import head_maps

    network = replace(MODEL, heads=4, groups=2).build(6, 2)
    maps = quick(lambda key: head_maps(network.init(key)))(jax.random.key(0))
    ranks = np.asarray(stable_rank(product_spectrum(maps.value, maps.output)))
    assert ranks.shape == (2, 4) and (ranks >= 1).all() and (ranks <= 2).all()
    assert np.array_equal(maps.key[:, 0], maps.key[:, 1])
    assert not np.array_equal(maps.key[:, 1], maps.key[:, 2])
