"""Learning rates that follow a measurement: known curvatures, loops written out, a kill."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import dynascope as ds
from dynascope import dynamics, models, probes, record, tasks
from dynascope.core.errors import BadInput, Interrupted
from dynascope.dynamics import GradientDescent, Multiple
from dynascope.engine import drive, execution
from dynascope.engine.following import Rate, next_rate

from .memory import Memory, same

A = np.array([0.1**2 + 0.5, 0.2**2 + 2.0])  # curvatures of the quadratic
FLAT = tasks.IdentityMapping((1.0, 2.0), (0.1, 0.2))
START = ((0.3, -0.2), (0.1, 0.4))
ONE = tasks.IdentityMapping((1.0,), (0.0,))  # loss (1 - u^2)^2 / 2 for U = u
CRITICAL = probes.CriticalLearningRate()


def run(rule, task=ONE, model=None, **options):
    settings = {
        "steps": 12, "probes": [probes.Loss(), probes.InputJacobian(), CRITICAL],
        "record": record.Every(1), "dtype": "float64", "progress": False,
    } | options  # fmt: skip
    return ds.simulate(task, model or models.TiedLinear(1, 0.3), rule, **settings)


@pytest.mark.slow
def test_on_a_quadratic_the_rate_is_the_multiple_of_two_over_the_curvature():
    start = models.Linear(initial_jacobian=START)
    found = run(GradientDescent(Multiple(factor=0.4, every=5)), FLAT, start)
    rate = 0.4 * 2 / A.max()
    assert np.allclose(found["learning_rate"], rate, rtol=1e-5)
    assert np.allclose(found["time"], rate * np.arange(13), rtol=1e-5)
    assert found["time"].dims == ("seed", "step")
    exact = np.eye(2) + (np.array(START) - np.eye(2)) * (1 - rate * A) ** 12
    assert np.allclose(found["input_jacobian"].values[0, -1], exact, rtol=1e-4)


def by_hand(u, steps, every, factor, first):
    """u <- u - rate L'(u); every so many steps rate = factor 2 / L''(u) where that is above 0."""
    path, rates, rate = [u], [], first
    for step in range(steps + 1):
        curvature = 2 * (3 * u**2 - 1)
        if step % every == 0 and curvature > 0:
            rate = factor * 2 / curvature
        rates.append(rate)
        u = u + rate * 2 * u * (1 - u**2)
        path.append(u)
    return np.array(path[: steps + 1]), np.array(rates)


@pytest.mark.slow
@pytest.mark.parametrize(("u", "every"), [(0.9, 1), (0.9, 4), (0.3, 3)])
def test_a_curvature_that_changes_is_followed_as_in_the_loop_written_out(u, every):
    """From 0.3 the loss curves down at first: the rate is `first` until it does no longer."""
    rule = GradientDescent(Multiple(factor=0.3, every=every, first=0.2))
    model = models.TiedLinear(1, initial_jacobian=((u**2,),))
    found = run(rule, model=model, record=record.Every(1))
    path, rates = by_hand(u, 12, every, 0.3, 0.2)
    assert np.allclose(found["input_jacobian"].values[0, :, 0, 0], path**2, rtol=1e-4)
    assert np.allclose(found["learning_rate"].values[0], rates, rtol=1e-4)
    times = np.concatenate([[0], np.cumsum(rates[:-1])])
    assert np.allclose(found["time"].values[0], times, rtol=1e-4)
    measured = found["critical_learning_rate"].values[0, ::every]
    ahead = np.isfinite(measured)
    assert np.allclose(found["learning_rate"].values[0, ::every][ahead], 0.3 * measured[ahead])


@pytest.mark.slow
def test_when_to_record_changes_neither_rates_nor_steps():
    rule = GradientDescent(Multiple(factor=0.3, every=4, first=0.2))
    often, seldom = (run(rule, seeds=3, record=record.Every(n)) for n in (1, 5))
    at = often.sel(step=seldom["step"])
    for name in ("input_jacobian", "learning_rate", "time"):
        assert np.allclose(at[name], seldom[name], rtol=1e-12), name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "of"),
    [
        (GradientDescent, CRITICAL),
        (dynamics.Adam, probes.Loss()),
        (dynamics.Momentum, probes.Loss()),
    ],
)
def test_a_followed_rate_goes_on_after_a_kill_and_is_the_seeds_own(monkeypatch, make, of):
    rule = make(Multiple(of.stored_as, factor=0.1, every=3, first=0.1))
    options = {"seeds": 3, "dtype": "float32", "steps": 20, "probes": [of]}
    whole = run(rule, **options)
    assert len(np.unique(whole["time"].values[:, -1])) == 3
    alone = run(rule, **options | {"seeds": [2]})
    for name in ("learning_rate", "time"):
        assert np.allclose(alone[name].values[0], whole[name].values[2], rtol=1e-4), name
    monkeypatch.setattr(drive, "CALL_SECONDS", 0.0)
    monkeypatch.setattr(execution, "APPEND_SECONDS", 0.0)
    sink = Memory(stop_after=7)
    with pytest.raises(Interrupted):
        run(rule, sink=sink, **options)
    same(run(rule, sink=sink, **options), whole)


def test_the_factor_is_an_axis_and_a_stopped_lanes_time_stands_still():
    swept = ds.sweep(
        ONE, models.TiedLinear(1, initial_jacobian=((0.8,),)),
        GradientDescent(Multiple(factor=0.1, every=1)), steps=12, dtype="float64", progress=False,
        over={"dynamics.learning_rate.factor": [0.1, 0.3]}, probes=[probes.Loss(), CRITICAL],
        record=record.Every(1), stop=record.Stop("loss", below=1e-3),
    )  # fmt: skip
    slow, fast = swept["stopped_step"].values[:, 0]
    assert 0 < fast < slow
    times = swept["time"].values[1, 0]
    assert (times[fast:] == times[fast]).all() and times[fast] > times[fast - 1]
    rates = swept["learning_rate"].values[1, 0]
    assert np.isclose(times[fast], rates[:fast].sum(), rtol=1e-10)


def test_the_sum_of_many_small_rates_loses_nothing_in_float32():
    small, none = jnp.float32(1e-4), jnp.float32(0)

    def step(i, rate):
        look = lambda state, memory: ({"loss": small}, memory)  # noqa: E731
        return next_rate(Multiple("loss"), look, None, rate, i, i + 1, None)

    summed = jax.lax.fori_loop(
        0, 100_000, step, Rate(small, none, none, jnp.asarray(0, jnp.int32), {}, ())
    )
    exact = 100_000 * float(small)
    plain = float(np.add.accumulate(np.full(100_000, small))[-1])
    assert abs(float(summed.rows["time"]) / exact - 1) < 1e-6 < 1e-5 < abs(plain / exact - 1)


def test_time_does_not_depend_on_where_a_run_is_cut(monkeypatch):
    """A rate that is measured every 7 steps, recorded every 60, in calls of one step each."""
    options = {"steps": 240, "record": record.Every(60), "dtype": "float32", "seeds": 2}
    rule = GradientDescent(Multiple("loss", 0.013, every=7))
    whole = run(rule, **options)
    monkeypatch.setattr(drive, "CALL_SECONDS", 0.0)
    cut = run(rule, **options)
    for name in whole.variables:
        assert np.array_equal(cut[name].values, whole[name].values), name


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Multiple(every=0), "at least 1"),
        (lambda: Multiple(factor=0.0), "factor"),
        (lambda: Multiple(first=-1.0), "first"),
        (lambda: run(GradientDescent(Multiple("sharpness"))), "measures one number"),
        (
            lambda: run(GradientDescent(Multiple("time")), probes=[probes.Loss(name="time")]),
            "another name",
        ),
    ],
)
def test_rates_that_cannot_be_followed_are_refused_in_one_line(make, message):
    with pytest.raises(BadInput, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)
