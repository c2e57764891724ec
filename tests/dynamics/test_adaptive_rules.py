"""Adaptive rules and schedules against updates worked out by hand."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import optax
import pytest

import dynascope as ds
from dynascope import dynamics, models, probes, record, tasks
from dynascope.core.errors import BadInput
from dynascope.core.plain import to_plain

GRADIENTS = (np.array([0.5, -2.0]), np.array([1.0, 0.25]))


def two_steps(rule, start=(1.0, 1.0)):
    """Parameters after the two gradients."""
    optimizer, params = rule.optimizer(), jnp.asarray(start)
    memory = optimizer.init(params)
    for gradient in GRADIENTS:
        updates, memory = optimizer.update(jnp.asarray(gradient, jnp.float32), memory, params)
        params = optax.apply_updates(params, updates)
    return np.asarray(params, float)


def by_hand(kind, rate):
    g, h = GRADIENTS
    if kind == "RMSprop":
        a, b = 0.01 * g**2, 0.99 * 0.01 * g**2 + 0.01 * h**2
        return 1 - rate * g / (np.sqrt(a) + 1e-8) - rate * h / (np.sqrt(b) + 1e-8)
    if kind == "Adagrad":
        return 1 - rate * np.sign(g) - rate * h / np.sqrt(g**2 + h**2)
    a, b = 0.1 * g**2, 0.9 * 0.1 * g**2 + 0.1 * h**2
    first = np.sqrt(1e-6) / np.sqrt(a + 1e-6) * g
    second = np.sqrt(0.1 * first**2 + 1e-6) / np.sqrt(b + 1e-6) * h
    return 1 - rate * (first + second)


@pytest.mark.parametrize(("kind", "rate"), [("RMSprop", 0.01), ("Adagrad", 0.1), ("Adadelta", 2.0)])
def test_two_steps_are_those_worked_out_by_hand(kind, rate):
    assert np.allclose(two_steps(getattr(dynamics, kind)(rate)), by_hand(kind, rate), rtol=2e-6)


@pytest.mark.parametrize(
    ("rule", "name", "options"),
    [
        (dynamics.RMSprop(0.01), "RMSprop", {}),
        (dynamics.Adagrad(0.1), "Adagrad", {}),
        (dynamics.Adadelta(2.0), "Adadelta", {}),
        (dynamics.Adam(0.01), "Adam", {}),
        (dynamics.Momentum(0.1), "SGD", {"momentum": 0.9}),
    ],
)
def test_pytorch_takes_the_same_steps(rule, name, options):
    torch = pytest.importorskip("torch")
    weight = torch.nn.Parameter(torch.ones(2))
    peer = getattr(torch.optim, name)([weight], lr=rule.learning_rate, **options)
    for gradient in GRADIENTS:
        weight.grad = torch.tensor(gradient, dtype=torch.float32)
        peer.step()
    assert np.allclose(two_steps(rule), weight.detach().numpy(), rtol=2e-6)


@pytest.mark.slow
def test_momentum_zero_is_plain_descent_and_a_batch_of_all_is_the_whole_set():
    task, model = tasks.LowRank("rank-2", 4, 10, 4), models.MLP(2, 8, parameterization="ntk")

    def losses(rule):
        run = ds.simulate(task, model, rule, steps=5, probes=[probes.Loss()],
                          record=record.Every(1), progress=False)  # fmt: skip
        return run["loss"].values[0]

    whole = losses(dynamics.GradientDescent(0.1))
    assert np.allclose(losses(dynamics.Momentum(0.1, momentum=0.0)), whole, rtol=1e-6)
    assert np.allclose(losses(dynamics.SGD(0.1, 10)), whole, rtol=1e-6)
    assert np.allclose(losses(dynamics.SGD(0.1, 10, "shuffled")), whole, rtol=1e-5)
    assert whole[-1] < whole[0]


def test_rates_of_zero_and_other_nonsense_are_refused():
    for rule in (dynamics.RMSprop, dynamics.Adagrad, dynamics.Adadelta):
        with pytest.raises(BadInput, match="learning_rate"):
            rule(0.0)
    with pytest.raises(BadInput, match="decay"):
        dynamics.RMSprop(0.1, decay=1.0)
    with pytest.raises(BadInput, match="batch_size"):
        dynamics.Adagrad(0.1, order="shuffled")
    with pytest.raises(BadInput, match="period"):
        dynamics.Cyclical(0.1, 0.2, 1)
    with pytest.raises(BadInput, match="low"):
        dynamics.Cyclical(0.2, 0.1, 10)
    for wrong in ({"factor": 1.0}, {"most": -1}, {"last": 2.0}, {"every": 0}):
        with pytest.raises(BadInput, match=next(iter(wrong))):
            dynamics.CatapultSchedule(**wrong)


def test_a_cycle_is_taken_step_by_step():
    rate = dynamics.Cyclical(0.5, 1.5, 7)
    values = np.array([float(rate(k)) for k in range(30)])
    assert np.allclose(values[:7], values[7:14]) and values.min() == 0.5 and values.max() <= 1.5
    assert np.allclose(rate.elapsed(np.arange(31)), np.concatenate([[0], np.cumsum(values)]))


@pytest.mark.slow
def test_the_catapult_schedule_raises_after_each_catapult():
    """Rates past critical while the loss is high, raised when it is back, low in the end."""
    task, model = tasks.LowRank("rank-2", 20, 60, 4), models.MLP(2, 256, parameterization="ntk")
    rule = dynamics.GradientDescent(dynamics.CatapultSchedule(factor=1.6, most=2, every=5))
    run = ds.simulate(
        task, model, rule, steps=200, progress=False, record=record.Every(5), probes=[
            probes.Loss(), probes.CriticalLearningRate("tangent_kernel"),
        ],
    )  # fmt: skip
    rate, loss = run["learning_rate"].values[0], run["loss"].values[0]
    critical = run["critical_learning_rate"].values[0]
    assert rate[0] == pytest.approx(1.6 * critical[0], rel=1e-3)
    raises = np.flatnonzero(np.diff(rate) > 1e-6 * rate[0])
    first = raises[0] + 1
    assert loss[first] < loss[0] <= loss[1:first].max(), "raised only once the loss is back"
    assert not run["diverged"].values.any() and critical[-1] > critical[0]
    assert rate[-1] == pytest.approx(0.5 * critical[np.isclose(rate[-1], 0.5 * critical)][-1])


def rates(rule, seen):
    """The rates of a schedule that sees these critical rates and losses one after the other."""
    found, last, memory = [], None, rule.begin()
    for critical, loss in seen:
        at = {"critical_learning_rate": jnp.float32(critical), "loss": jnp.float32(loss)}
        last, memory = rule.rate(at, last, memory)
        found.append(float(last))
    return found


def test_the_catapult_schedule_begins_without_a_critical_rate():
    rule = dynamics.CatapultSchedule(first=0.25)
    for unknown in (np.nan, np.inf, 0.0, -1.0):
        assert rates(rule, [(unknown, 1.0), (unknown, 0.9), (2.0, 0.8)]) == [0.25, 0.25, 3.0]
    with pytest.raises(BadInput, match="first"):
        dynamics.CatapultSchedule(first=0.0)
    assert "first" not in to_plain(dynamics.CatapultSchedule()), "stored records must be found"


def test_after_the_last_catapult_the_rate_stays_below_the_critical_one():
    seen = [(2.0, 1.0), (4.0, 0.5), (1.0, 0.6), (1.0, 0.7), (1.0, 0.8), (3.0, 0.7)]
    rule = dynamics.CatapultSchedule(most=1)
    assert rates(rule, seen) == [3.0, 2.0, 0.5, 0.5, 0.5, 0.5]
    # During the last catapult it may be as high as a raise makes it.
    during = [(2.0, 1.0), (2.0, 5.0), (1.6, 3.0), (1.6, 0.9)]
    assert np.allclose(rates(rule, during), [3.0, 3.0, 2.4, 0.8])
