"""The identity mapping task against the formulas of yang2025."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.core.randomness import key_for
from dynascope.models import MLP, Linear, TiedLinear
from dynascope.runtime.precision import precision
from dynascope.tasks import IdentityMapping

PAPER = IdentityMapping((1.0, 2.0), (0.05, 0.05), dimension=4, samples_per_cluster=5000)


def draw(task, seed=0):
    with precision("float64"):
        return np.asarray(task.samples(key_for(seed, "data")))


@pytest.mark.slow
@pytest.mark.parametrize("origin", [False, True])
@pytest.mark.parametrize("scale_is", ["deviation", "variance"])
def test_sampled_second_moments_are_the_exact_ones(origin, scale_is):
    task = IdentityMapping(
        (1.0, 2.0), (0.05, 0.3), dimension=4, origin=origin, scale_is=scale_is,
        samples_per_cluster=5000,
    )  # fmt: skip
    x = draw(task)
    a = np.asarray(task.moments())
    assert len(x) == 5000 * (2 + origin)
    assert np.abs(x.T @ x / len(x) - np.diag(a)).max() <= 0.05 * a.max()  # M1
    variance = np.array([0.05, 0.3]) ** (1 if scale_is == "variance" else 2)
    assert np.allclose(a[:2], variance + np.array([1.0, 4.0]) / (2 + origin))
    assert not a[2:].any()


def test_loss_on_samples_is_the_jacobian_form_with_their_moments():
    """M2: (2.1) on samples equals (4.1) with the samples' own second moments."""
    x = draw(PAPER)
    w = np.random.default_rng(0).normal(size=(4, 4))
    with precision("float64"):
        network = Linear(initial_jacobian=w).build(4, 4)
        sampled = float(PAPER.loss(network.bind(w), x))
    error = w - np.eye(4)
    dense = 0.5 * np.trace(error @ (x.T @ x / len(x)) @ error.T)
    assert abs(sampled / dense - 1) < 1e-10


@pytest.mark.slow
@pytest.mark.parametrize("rotated", [False, True])
def test_population_loss_of_an_affine_model_is_the_sample_average(rotated):
    """With offset: the closed form against a large sample of the same clusters."""
    exact = IdentityMapping((1.0, 2.0), (0.3, 0.2), origin=True, rotated=rotated)
    sampled = IdentityMapping(
        (1.0, 2.0), (0.3, 0.2), origin=True, rotated=rotated, samples_per_cluster=200_000
    )
    network = MLP(2, 5, "linear").build(2, 2)
    with precision("float64"):
        params = network.init(jax.random.key(3))
        key = key_for(0, "data")
        values = [float(t.loss(network.bind(params), t.samples(key))) for t in (exact, sampled)]
    assert abs(values[0] / values[1] - 1) < 5e-3  # 600,000 samples: standard error 2e-3


@pytest.mark.slow
@pytest.mark.parametrize("axes", [2, 4, 5, 32])  # few of 32, too many to be few, all
@pytest.mark.parametrize(
    "model", [MLP(3, 6, "linear"), MLP(3, 6, "linear", bias=False), TiedLinear(3, 0.5)], ids=str
)
def test_population_loss_on_few_axes_is_the_dense_formula(axes, model):
    """1/2 tr(E A E^T) + b.E m + 1/2 |b|^2 with whole matrices, and its gradient."""
    task = IdentityMapping((1.0, 2.0), (0.3,) * axes, dimension=32, origin=True)
    network = model.build(32, 32)

    def dense(params):
        matrix, offset = network.matrix(params)
        offset = jnp.zeros(32) if offset is None else offset
        error, mean = matrix - jnp.eye(32), task.test_input() / 3
        value = jnp.trace(error @ jnp.diag(task.moments()) @ error.T) / 2
        return value + offset @ error @ mean + offset @ offset / 2

    with precision("float64"):
        params = network.init(jax.random.key(3))
        population = task.samples(key_for(0, "data"))
        ours = jax.value_and_grad(lambda p: task.loss(network.bind(p), population))(params)
        theirs = jax.value_and_grad(dense)(params)
        for mine, other in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-12, atol=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [3, 4, 5, 40])  # below, at and above the dimension
@pytest.mark.parametrize("bias", [False, True])
def test_batches_of_linear_models_enter_through_their_second_moments(rows, bias):
    """The shorter way gives the loss of (2.1) row by row, and its gradient."""
    x = draw(PAPER)[:rows]
    with precision("float64"):
        network = MLP(3, 6, "linear", bias=bias).build(4, 4)
        params = network.init(jax.random.key(3))
        by_rows = lambda p: ((network.apply(p, x) - x) ** 2).sum() / (2 * rows)  # noqa: E731
        ours = jax.value_and_grad(lambda p: PAPER.loss(network.bind(p), x))(params)
        for mine, theirs in zip(
            jax.tree.leaves(ours), jax.tree.leaves(jax.value_and_grad(by_rows)(params)), strict=True
        ):
            np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-15)


def test_mean_reduction_scales_the_objective_by_two_over_d():
    x = draw(PAPER)
    mean = IdentityMapping(
        (1.0, 2.0), (0.05, 0.05), dimension=4, samples_per_cluster=5000, reduction="mean"
    )
    w = np.zeros((4, 4))
    with precision("float64"):
        network = Linear().build(4, 4)
        values = [float(t.loss(network.bind(w), x)) for t in (PAPER, mean)]
    assert np.isclose(values[1], np.mean(x**2)) and np.isclose(values[1] / values[0], 2 / 4)


def test_rotation_is_undone_by_the_lens():
    """M13, on the task's side: the same cloud in concept coordinates, the same test point."""
    task = IdentityMapping(
        (1.0, 2.0), (0.05, 0.05), dimension=3, rotated=True, samples_per_cluster=50
    )
    plain = IdentityMapping((1.0, 2.0), (0.05, 0.05), dimension=3, samples_per_cluster=50)
    with precision("float64"):
        key = key_for(5, "data")
        r = np.asarray(task.context(key))
        assert np.allclose(r @ r.T, np.eye(3), atol=1e-6)
        assert np.allclose(draw(task, 5), draw(plain, 5) @ r)
        w = np.random.default_rng(1).normal(size=(3, 3))
        seen = task.lens(Linear().build(3, 3).bind(w), r)
        assert np.allclose(seen(np.eye(3)[0]), r @ w @ r.T @ np.eye(3)[0])
        assert np.allclose(seen.affine()[0], r @ w @ r.T)


@pytest.mark.slow
@pytest.mark.parametrize(("scale_is", "low", "high"), [("deviation", 0, 0), ("variance", 34, 54)])
def test_truncation_discards_what_the_ledger_counts(scale_is, low, high):
    """M24: 0 of 15,000 points at deviation .05, 44 +- 10 at variance .05 (mean of 4 seeds)."""
    task = IdentityMapping(
        (1.0, 2.0), (0.05, 0.05), origin=True, truncated=True, scale_is=scale_is,
        samples_per_cluster=5000,
    )  # fmt: skip
    counts = []
    look = jax.jit(lambda key: (task.discards(key), task.samples(key)))
    for seed in range(4):
        with precision("float64"):
            count, points = look(key_for(seed, "data"))
        counts.append(int(count))
        distance = np.linalg.norm(np.asarray(points) - [1.0, 2.0], axis=1)
        assert distance.min() > 0.5 and len(distance) == 15_000
    assert low <= np.mean(counts) <= high


def test_a_truncation_that_keeps_nothing_is_refused():
    with pytest.raises(BadInput, match="move the clusters apart"):
        IdentityMapping((1.0,), (0.001,), truncated=True, samples_per_cluster=10)


def test_the_lattice_has_a_corner_for_every_subset():
    task = IdentityMapping((1.0, 2.0, 3.0), (0.1, 0.1, 0.1), dimension=4)
    corners = np.asarray(task.corners())
    assert corners.shape == (8, 4)
    assert corners[0b101].tolist() == [1.0, 0.0, 3.0, 0.0]


def test_presets_say_what_text_and_program_say():
    exact = IdentityMapping()
    assert exact.as_in("text").moment == "A" and exact.as_in("code").moment == "A^2"
    code = PAPER.as_in("code")
    assert (code.origin, code.reduction, code.scale_is) == (True, "mean", "variance")
    text = code.as_in("text")
    assert (text.origin, text.reduction, text.scale_is) == (False, "eq2.1", "deviation")
    with pytest.raises(BadInput, match="text"):
        exact.as_in("cod")
    squared = np.asarray(exact.as_in("code").moments())
    assert np.allclose(squared, np.asarray(exact.moments()) ** 2)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"means": ()}, "at least one mean"),
        ({"means": (1.0, 2.0), "scales": (0.1,)}, "one per mean"),
        ({"means": (1.0, float("inf"))}, "finite"),
        ({"samples_per_cluster": 0}, "at least 1"),
        ({"truncated": True}, "samples_per_cluster"),
        ({"samples_per_cluster": 5, "moment": "A^2"}, "where samples are drawn"),
    ],
)
def test_settings_that_describe_no_task_are_refused(settings, message):
    with pytest.raises(BadInput, match=message):
        IdentityMapping(**settings)
