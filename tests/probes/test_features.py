"""AGOP: closed forms, scale, zero, several outputs."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import dynascope as ds
from compiling import quick  # tests is on the path
from dynascope import dynamics, models, probes, record, tasks
from dynascope.core.errors import BadInput

TARGETS = ("rank-2", "rank-3", "rank-4", "full-rank")


@pytest.mark.parametrize("target", TARGETS)
# As they are, tests/tasks/test_low_rank.py has the same sums.
@pytest.mark.parametrize("unit", [pytest.param(False, marks=pytest.mark.slow), True])
def test_closed_forms_are_the_mean_over_many_inputs(target, unit):
    """Check 25: within 2 % of a million draws, and of the right rank."""
    if unit and target == "full-rank":
        pytest.skip("its variance is not a round number; the task refuses it")
    task = tasks.LowRank(target, dimension=12, unit_variance=unit)
    gradient = jax.jit(jax.vmap(jax.grad(task.function)))
    total = np.zeros((12, 12))
    for part in range(10):
        g = np.asarray(gradient(jax.random.normal(jax.random.key(part), (100_000, 12))), float)
        total += g.T @ g / 1e6
    exact = task.egop()
    assert np.linalg.norm(total - exact) <= 0.02 * np.linalg.norm(exact)
    rank = {"rank-2": 2, "rank-3": 3, "rank-4": 4, "full-rank": 12}[target]
    assert np.linalg.matrix_rank(exact) == rank
    if unit:
        x = jax.random.normal(jax.random.key(99), (400_000, 12))
        assert float(jnp.var(task.function(x))) == pytest.approx(1.0, rel=0.05)


def test_alignment_of_known_matrices():
    task = tasks.LowRank("rank-2")
    assert probes.agop_alignment(task.egop(), 7 * task.egop()) == pytest.approx(1)
    assert probes.agop_alignment(np.eye(100), task.egop()) == pytest.approx(2**0.5 / 10)
    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b = (m @ m.T for m in rng.normal(size=(2, 5, 3)))
        assert 0 <= probes.agop_alignment(a, b) <= 1
    assert np.isnan(probes.agop_alignment(np.zeros((3, 3)), np.eye(3)))
    assert np.isnan(probes.agop_correlation(np.ones((3, 3)), np.eye(3)))
    with pytest.raises(BadInput, match="as the first has"):
        probes.agop_alignment(np.eye(3), np.eye(4))


def test_correlation_is_the_centred_one():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 4, 4))
    expected = np.corrcoef(a.ravel(), b.ravel())[0, 1]
    assert probes.agop_correlation(a, b) == pytest.approx(expected)
    assert probes.agop_correlation(a + 3, b + 3) == pytest.approx(expected)
    assert probes.agop_alignment(a + 3, b + 3) > 0.8


def test_several_outputs_sum_over_the_jacobian():
    network = models.MLP(2, 7, "tanh").build(4, 3)
    params = quick(network.init)(jax.random.key(0))
    x = jax.random.normal(jax.random.key(1), (5, 4))
    jacobian = np.asarray(
        quick(jax.vmap(jax.jacobian(lambda r: network.apply(params, r))))(x), float
    )
    expected = np.einsum("nki,nkj->ij", jacobian, jacobian) / 5
    assert np.allclose(probes.agop(network.apply, params, x), expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("samples", [50, 6, 2])  # fewer samples than inputs: the other product
def test_probes_tell_what_the_functions_tell(samples):
    task = tasks.LowRank("rank-2", 8, samples, 4)
    run = ds.simulate(
        task, models.MLP(2, 16, parameterization="ntk"), dynamics.GradientDescent(1.0), steps=4,
        probes=[probes.AGOP(), probes.AGOPAlignment(), probes.AGOPSpectrum(3)],
        record=record.Every(2), progress=False,
    )  # fmt: skip
    for row in range(3):
        matrix = run["agop"].values[0, row]
        assert np.allclose(matrix, matrix.T) and np.linalg.eigvalsh(matrix).min() > -1e-6
        told = probes.agop_alignment(matrix, task.egop())
        assert run["agop_alignment"].values[0, row] == pytest.approx(told, rel=1e-4)
        top = np.linalg.eigvalsh(matrix)[::-1][:3]
        assert np.allclose(run["agop_spectrum"].values[0, row], top, rtol=1e-3, atol=1e-6)


def test_a_network_that_is_constant_has_no_alignment():
    model = models.MLP(2, 4, init_scale=0.0, parameterization="ntk")
    run = ds.simulate(
        tasks.LowRank("rank-2", 4, 8, 4), model, dynamics.GradientDescent(0.1), steps=1,
        probes=[probes.AGOPAlignment()], progress=False,
    )  # fmt: skip
    assert np.isnan(run["agop_alignment"].values[0, 0])


def test_tasks_without_an_egop_are_refused():
    with pytest.raises(BadInput, match="egop"):
        ds.simulate(tasks.Sphere(), models.MLP(2), dynamics.GradientDescent(0.1), steps=1,
                    probes=[probes.AGOPAlignment()])  # fmt: skip
    with pytest.raises(BadInput, match="validation"):
        ds.simulate(tasks.LowRank(), models.MLP(2), dynamics.GradientDescent(0.1), steps=1,
                    probes=[probes.ValidationLoss()])  # fmt: skip
