"""Truncation (chen2025 section 4.3) against dense decompositions and known spectra."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.edits.truncation import kept_rank, truncate_matrix

W = np.random.default_rng(0).standard_normal((30, 12))


@pytest.mark.parametrize("rank", [1, 5, 11])
def test_what_is_lost_are_the_small_singular_values(rank):
    s = np.linalg.svd(W, compute_uv=False)
    lost = np.sum((W - truncate_matrix(W, rank=rank)) ** 2)
    assert lost == pytest.approx(np.sum(s[rank:] ** 2), rel=1e-8)


def test_ends_of_the_range():
    assert truncate_matrix(W, keep=1.0) is W
    assert not truncate_matrix(W, keep=0.0).any()


def test_rank_is_floored_as_by_hand_and_does_not_depend_on_the_side():
    assert kept_rank((100, 400), 0.29) == kept_rank((400, 100), 0.29) == 29
    assert kept_rank((64, 64), 0.01) == 0
    np.testing.assert_allclose(
        truncate_matrix(W.T, keep=0.5), truncate_matrix(W, keep=0.5).T, atol=1e-12
    )


def test_ranks_of_the_seven_settings_of_the_document():
    settings = [(1024, 0.02), (2048, 0.008), (2048, 0.0125), (2048, 0.025), (2560, 0.04),
                (3072, 0.02), (4096, 0.02)]  # fmt: skip
    ranks = [kept_rank((width, 4 * width), rho) for width, rho in settings]
    assert ranks == [20, 16, 25, 51, 102, 61, 81]


def test_truncating_twice_changes_nothing():
    once = truncate_matrix(W, rank=4)
    np.testing.assert_allclose(truncate_matrix(once, rank=4), once, atol=1e-12)


@pytest.mark.parametrize("options", [
    {"keep": -0.1}, {"keep": 1.1}, {"keep": float("nan")}, {"rank": -1}, {},
    {"rank": 2, "keep": 0.1},
])  # fmt: skip
def test_ranks_that_make_no_sense_are_refused(options):
    with pytest.raises(BadInput):
        truncate_matrix(W, **options)


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_entries_that_are_no_numbers_are_refused(wrong):
    broken = W.copy()
    broken[3, 3] = wrong
    with pytest.raises(BadInput, match="finite"):
        truncate_matrix(broken, rank=2)


def test_stacks_and_compiled_programs_agree_with_numpy():
    stack = np.stack([W, 2 * W + 1]).astype(np.float32)
    compiled = jax.jit(lambda w: truncate_matrix(w, keep=0.25))(jnp.asarray(stack))
    one_by_one = np.stack([truncate_matrix(w, keep=0.25) for w in stack])
    np.testing.assert_allclose(compiled, one_by_one, atol=1e-5)
    assert compiled.dtype == jnp.float32
