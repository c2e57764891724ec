"""Low-rank targets: closed forms of the expected gradient outer product (check 25)."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.runtime.precision import precision
from dynascope.tasks import LowRank

RANKS = {"rank-2": 2, "rank-3": 3, "rank-4": 4, "full-rank": 20}


@pytest.mark.parametrize("target", RANKS)
def test_the_closed_form_agrees_with_a_million_gradients(target):
    """The gradients are jax's own, not ours; 2 % of the largest entry, as check 25 has it."""
    d = 20
    task = LowRank(target, dimension=d)

    @jax.jit
    def mean(key):
        x = jax.random.normal(key, (250_000, d))
        gradients = jax.vmap(jax.grad(task.function))(x)
        return gradients.T @ gradients / len(x)

    with precision("float32"):
        measured = np.mean([np.asarray(mean(jax.random.key(i))) for i in range(4)], axis=0)
    exact = task.egop()
    # |x|/sqrt(d) has E[x x^T / |x|^2] / d = I / d^2 exactly; the others are moments.
    assert np.abs(measured - exact).max() <= 0.02 * exact.max()
    assert np.linalg.matrix_rank(exact, tol=1e-9) == RANKS[target]


def test_the_rank_three_spectrum_and_variance():
    task = LowRank("rank-3", dimension=12)
    assert np.allclose(np.linalg.eigvalsh(task.egop())[-3:], [4, 10, 24])
    x = jax.random.normal(jax.random.key(0), (400_000, 12))
    assert float(jnp.var(task.function(x))) == pytest.approx(14, rel=0.03)


@pytest.mark.parametrize(
    "target, x, value",
    [
        ("rank-2", [2.0, 3.0, 5.0], 6.0),
        ("rank-4", [2.0, 3.0, 5.0, 7.0], 2 + 6 + 30 + 210),
        ("full-rank", [3.0, 4.0], 5 / 2**0.5),
        ("sign", [-1.0, 1.0], -1.0),
        ("rank-3", [2.0, 3.0] + [1.0] * 8, 6 * 13.0),
    ],
)
def test_targets_by_hand(target, x, value):
    got = LowRank(target, dimension=len(x)).function(jnp.asarray(x))
    assert float(got) == pytest.approx(value, rel=1e-6)


def test_training_and_test_samples_differ_and_carry_noise():
    task = LowRank("rank-2", dimension=5, train=3000, test=2000, noise=0.1)
    key = jax.random.key(0)
    (x, y), (x_test, y_test) = task.samples(key), task.test_set(task.context(key))
    assert x.shape == (3000, 5) and y_test.shape == (2000, 1)
    assert not np.array_equal(x[:10], x_test[:10])
    for inputs, targets in ((x, y), (x_test, y_test)):
        assert float(jnp.std(targets[:, 0] - task.function(inputs))) == pytest.approx(0.1, rel=0.1)


def test_settings_that_describe_no_target_are_refused():
    with pytest.raises(BadInput, match="at least 10 for 'rank-3'"):
        LowRank("rank-3", dimension=9)
    with pytest.raises(BadInput, match="did you mean 'rank-2'"):
        LowRank("rank2")
    with pytest.raises(BadInput, match="noise"):
        LowRank(noise=-1)
    with pytest.raises(BadInput, match="has a gradient"):
        LowRank("sign").egop()
