"""Probes that see every step: against loops written out in numpy, and across chunks."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import dynascope as ds
from compiling import quick  # tests is on the path
from dynascope import dynamics, models, probes, record, tasks
from dynascope.core.errors import BadInput
from dynascope.core.randomness import key_for
from dynascope.probes.batch_steps import kernel_norm

TASK = tasks.LowRank("rank-2", 6, 12, 4)
MODEL = models.MLP(2, 8, parameterization="ntk")
PROBES = (
    probes.Loss(), probes.BatchCriticalRate(), probes.SupercriticalSteps(), probes.BatchLosses(),
)  # fmt: skip


def run(rule, steps=9, **options):
    settings = {"probes": PROBES, "record": record.Every(1), "dtype": "float64", "progress": False}
    return ds.simulate(TASK, MODEL, rule, steps=steps, **settings | options)


@pytest.fixture(scope="module")
def by_hand():
    """Nine steps of SGD on batches of three in file order, in float64, written out."""
    with jax.enable_x64(True):
        network = MODEL.build(6, 1)
        x, y = (np.asarray(a, float) for a in quick(TASK.samples)(key_for(0, "data")))
        params = jax.tree.map(
            lambda a: jnp.asarray(a, float), quick(network.init)(key_for(0, "init"))
        )
        loss = lambda p, i: jnp.mean((network.apply(p, jnp.asarray(x)[i]) - jnp.asarray(y)[i]) ** 2)  # noqa: E731
        outputs = quick(jax.jacobian(lambda p, rows: network.apply(p, rows)[:, 0]))
        value, gradient = quick(loss), quick(jax.grad(loss))
        rows = []
        for step in range(9):
            batch = np.arange(3) + 3 * (step % 4)
            tree = outputs(params, x[batch])
            jacobian = np.concatenate([np.reshape(a, (3, -1)) for a in jax.tree.leaves(tree)], 1)
            critical = 3 / np.linalg.eigvalsh(jacobian @ jacobian.T)[-1]
            before = float(value(params, batch))
            slope = gradient(params, batch)
            params = jax.tree.map(lambda a, g: a - 2.0 * g, params, slope)
            rows.append((critical, before, float(value(params, batch))))
        return np.array(rows)


@pytest.mark.slow
def test_rates_and_losses_are_those_of_the_loop_written_out(by_hand):
    found = run(dynamics.SGD(2.0, 3))
    assert np.isnan(found["batch_critical_rate"].values[0, 0])
    assert np.allclose(found["batch_critical_rate"].values[0, 1:], by_hand[:, 0], rtol=1e-6)
    assert np.allclose(found["batch_losses"].values[0, 1:], by_hand[:, 1:], rtol=1e-6)
    above = np.cumsum(2.0 - by_hand[:, 0] > 1e-8)
    assert 0 < above[-1] < 9, "some steps are past critical and some are not"
    assert found["supercritical_steps"].values[0, 1:].tolist() == above.tolist()


@pytest.mark.slow
def test_a_count_does_not_depend_on_when_it_is_recorded():
    often = run(dynamics.SGD(2.0, 3, "shuffled"), steps=40, seeds=2)
    seldom = run(dynamics.SGD(2.0, 3, "shuffled"), steps=40, seeds=2, record=record.Every(20))
    at = often.sel(step=seldom["step"])
    for name in ("supercritical_steps", "batch_critical_rate", "loss"):
        assert np.allclose(at[name], seldom[name], rtol=1e-9, equal_nan=True), name


def test_a_schedule_is_counted_at_its_own_rate():
    rate = dynamics.Piecewise((1e-6, 1e6), (0, 5))
    found = run(dynamics.SGD(rate, 3), steps=6)
    assert found["supercritical_steps"].values[0].tolist() == [0, 0, 0, 0, 0, 0, 1]


def test_a_stopped_lane_counts_no_more():
    stop = record.Stop("loss", above=0.0, after=3)
    found = run(dynamics.SGD(1e5, 3), steps=9, stop=stop)
    assert found["supercritical_steps"].values[0, -1] == 3


def test_the_hessian_rate_is_the_kernels_where_the_residual_vanishes():
    """H = (2/b) J^T J + (2/b) sum r Hess f: for a linear model the second part is zero."""
    task = tasks.ArraySamples(np.random.default_rng(0).normal(size=(12, 4)), np.ones(12))
    found = ds.simulate(
        task, models.MLP(1, 1, bias=False), dynamics.SGD(0.01, 4), steps=6, dtype="float64",
        record=record.Every(1), progress=False, probes=[
            probes.BatchCriticalRate(), probes.BatchCriticalRate("hessian", name="hessian"),
        ],
    )  # fmt: skip
    kernel, hessian = (found[n].values[0, 1:] for n in ("batch_critical_rate", "hessian"))
    assert np.allclose(kernel, hessian, rtol=1e-3) and np.isfinite(kernel).all()


@pytest.mark.slow
def test_products_give_what_the_whole_kernel_gives(monkeypatch):
    network = MODEL.build(6, 1)
    x = quick(TASK.samples)(key_for(0, "data"))[0]
    params = quick(network.init)(key_for(0, "init"))
    dense = float(kernel_norm(network.apply, params, x))
    monkeypatch.setattr(probes.batch_steps, "DENSE_ENTRIES", 0)
    assert float(kernel_norm(network.apply, params, x)) == pytest.approx(dense, rel=1e-3)


def test_what_cannot_be_observed_is_refused():
    flow = dynamics.GradientFlow()
    with pytest.raises(BadInput, match="dynamics with steps"):
        ds.simulate(TASK, MODEL, flow, time=1.0, probes=[probes.BatchCriticalRate()])
    with pytest.raises(BadInput, match="at most 12"):
        run(dynamics.SGD(0.1, 13))
    with pytest.raises(BadInput, match="squared error"):
        classes = tasks.ArrayClasses(np.ones((4, 2)), np.array([0, 1, 0, 1]))
        ds.simulate(classes, models.MLP(1), dynamics.SGD(0.1, 2), steps=1,
                    probes=[probes.BatchLosses()])  # fmt: skip
    with pytest.raises(BadInput, match="margin"):
        probes.SupercriticalSteps(margin=-1.0)


def test_kernel_split_is_the_dense_decomposition():
    """Check 26: the parts add to the loss for every s, whatever the signs of eigenvectors."""
    network = MODEL.build(6, 1)
    found = {
        top: ds.simulate(
            TASK, MODEL, dynamics.GradientDescent(0.5), steps=3, dtype="float64", progress=False,
            probes=[probes.Loss(), probes.KernelSplit(top), probes.TangentKernel()],
            record=record.Every(1),
        )
        for top in (1, 3, 12)
    }  # fmt: skip
    for top, data in found.items():
        norm, inside, outside = np.moveaxis(data["kernel_split"].values[0], -1, 0)
        assert np.allclose(inside + outside, data["loss"].values[0], rtol=1e-12)
        assert np.allclose(norm, np.linalg.eigvalsh(data["tangent_kernel"].values[0])[:, -1])
        if top == 12:
            assert np.allclose(outside, 0, atol=1e-14), "all directions hold all of the loss"
    assert (np.diff([d["kernel_split"].values[0, -1, 1] for d in found.values()]) >= 0).all()
    identity = np.kron(np.eye(2), np.ones((2, 2)))  # eigenvalue 2 twice: any basis of the two
    inside, outside = probes.eigenspace_split(identity, np.array([1.0, 1.0, 1.0, -1.0]), 2)
    assert (inside, outside) == (pytest.approx(2), pytest.approx(2))
    x, y = quick(TASK.samples)(key_for(0, "data"))
    residual = np.asarray(
        quick(lambda key: network.apply(network.init(key), x) - y)(key_for(0, "init")), float
    )
    kernel = found[3]["tangent_kernel"].values[0, 0]
    twin = probes.eigenspace_split(kernel, residual, 3)
    assert np.allclose(found[3]["kernel_split"].values[0, 0, 1:], np.array(twin) / 12, rtol=1e-5)
