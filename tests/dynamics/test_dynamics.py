"""Dynamics against closed forms and loops written out in numpy."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import dynascope as ds
from compiling import quick  # tests is on the path
from dynascope import dynamics, models, probes, record, tasks
from dynascope.core.errors import BadInput
from dynascope.core.randomness import key_for
from dynascope.dynamics.batches import Objective
from dynascope.runtime.precision import foreign, precision

TASK = tasks.IdentityMapping((1.0, 2.0), (0.1, 0.2))
START = ((0.3, -0.2), (0.1, 0.4))
A = np.array([0.1**2 + 0.5, 0.2**2 + 2.0])


def jacobian(rule, steps, task=TASK, **options):
    run = ds.simulate(
        task, models.Linear(initial_jacobian=START), rule, steps=steps,
        probes=[probes.InputJacobian()], record=record.At(()), dtype="float64", **options,
    )  # fmt: skip
    return run["input_jacobian"].values[0, -1]


def gradient(w):
    return (w - np.eye(2)) * A


def test_gradient_descent_is_its_closed_form():
    """M3: (1 - eta a)^n, to 1e-12."""
    exact = np.eye(2) + (np.array(START) - np.eye(2)) * (1 - 0.05 * A) ** 200
    assert np.abs(jacobian(dynamics.GradientDescent(0.05), 200) - exact).max() < 1e-12


@pytest.mark.parametrize("nesterov", [False, True])
def test_momentum_is_the_loop_written_out(nesterov):
    w, v = np.array(START), np.zeros((2, 2))
    for _ in range(50):
        g = gradient(w)
        v = g + 0.8 * v
        w = w - 0.03 * (g + 0.8 * v if nesterov else v)
    got = jacobian(dynamics.Momentum(0.03, 0.8, nesterov), 50)
    assert np.abs(got - w).max() < 1e-12


def test_adam_is_the_loop_written_out():
    w, m, v = np.array(START), np.zeros((2, 2)), np.zeros((2, 2))
    for t in range(1, 51):
        g = gradient(w)
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        w = w - 0.02 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    assert np.abs(jacobian(dynamics.Adam(0.02), 50) - w).max() < 1e-10


def adamw_path(steps, decay=0.1, rate=0.02):
    """AdamW written out: weights after every step."""
    w, m, v = np.array(START), np.zeros((2, 2)), np.zeros((2, 2))
    found = [w]
    for t in range(1, steps + 1):
        g = gradient(w)
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        move = (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
        w = w - rate * (move + decay * w)
        found.append(w)
    return found


def test_adamw_is_the_loop_written_out():
    got = jacobian(dynamics.AdamW(0.02, 0.1), 50)
    assert np.abs(got - adamw_path(50)[-1]).max() < 1e-10


def test_probes_measure_on_the_average_and_training_goes_on_from_the_weights():
    """The average forgets by min(0.9, (1 + n) / (10 + n)) at step n."""
    path = adamw_path(50)
    mean = path[0]
    for n, w in enumerate(path[1:]):
        keep = min(0.9, (1 + n) / (10 + n))
        mean = keep * mean + (1 - keep) * w
    got = jacobian(dynamics.AdamW(0.02, 0.1, average=0.9), 50)
    assert np.abs(got - mean).max() < 1e-6  # the factor is a float32
    assert np.abs(got - path[-1]).max() > 1e-3


@pytest.mark.parametrize("bad", [{"weight_decay": -1.0}, {"average": 1.0}, {"average": 0.0}])
def test_adamw_refuses_what_makes_no_sense(bad):
    with pytest.raises(BadInput):
        dynamics.AdamW(0.1, **bad)


@pytest.mark.parametrize("make", [optax.adam, optax.lion, optax.rmsprop, optax.adagrad, optax.sgd])
def test_any_optax_optimiser_is_the_plain_optax_loop(make):
    import jax
    import jax.numpy as jnp

    with jax.enable_x64(True):
        w = jnp.asarray(START)
        rule = make(0.01)
        state = rule.init(w)

        @quick
        def step(w, state):
            updates, state = rule.update((w - jnp.eye(2)) * A, state, w)
            return optax.apply_updates(w, updates), state

        for _ in range(20):
            w, state = step(w, state)
        w = np.asarray(w)
    assert np.abs(jacobian(dynamics.Optax(make, 0.01), 20) - w).max() < 1e-10


def test_sgd_walks_through_the_shuffled_samples_in_order():
    task = tasks.IdentityMapping((1.0, 2.0), (0.1, 0.2), samples_per_cluster=10)
    with precision("float64"):
        x = np.asarray(task.samples(key_for(0, "data")))
    w = np.array(START)
    for step in range(12):  # 20 samples: batches of 6 begin at 0, 6, 12, 0, ...
        batch = x[(step % 3) * 6 : (step % 3) * 6 + 6]
        w = w - 0.1 * (w - np.eye(2)) @ (batch.T @ batch / 6)
    assert np.abs(jacobian(dynamics.SGD(0.1, 6), 12, task) - w).max() < 1e-12


def test_random_batches_depend_on_the_seed_and_on_nothing_else():
    task = tasks.IdentityMapping((1.0, 2.0), (0.5, 0.5), samples_per_cluster=10)
    rule = dynamics.SGD(0.05, 4, "random")
    first, again = jacobian(rule, 30, task), jacobian(rule, 30, task)
    assert (first == again).all()
    assert not np.allclose(first, jacobian(rule, 30, task, seeds=[1]))
    assert not np.allclose(first, jacobian(dynamics.SGD(0.05, 4), 30, task))


def test_a_schedule_is_followed_and_its_time_is_the_sum_of_rates():
    rule = dynamics.GradientDescent(dynamics.Piecewise((0.05, 0.2), (0, 10)))
    shrink = (1 - 0.05 * A) ** 10 * (1 - 0.2 * A) ** 5
    exact = np.eye(2) + (np.array(START) - np.eye(2)) * shrink
    assert np.abs(jacobian(rule, 15) - exact).max() < 1e-12
    steps = np.array([0, 5, 10, 15])
    assert np.allclose(rule.elapsed(steps), [0, 0.25, 0.5, 1.5])
    cosine = dynamics.Cosine(0.1, 8, final=0.01)
    summed = [sum(float(cosine(k)) for k in range(n)) for n in (0, 3, 8, 11)]
    assert np.allclose(cosine.elapsed(np.array([0, 3, 8, 11])), summed, atol=1e-6)
    warm = dynamics.Warmup(4, cosine)
    summed = [sum(float(warm(k)) for k in range(n)) for n in (0, 2, 4, 7, 15)]
    assert np.allclose(warm.elapsed(np.array([0, 2, 4, 7, 15])), summed, atol=1e-6)
    assert np.allclose([float(warm(k)) for k in (0, 3, 4, 12)], [0.025, 0.1, 0.1, 0.01])


def test_gradient_flow_is_the_exponential_of_theorem_4_1():
    """M3: to 1e-8."""
    run = ds.simulate(
        TASK, models.Linear(initial_jacobian=START), dynamics.GradientFlow(), time=6.0,
        probes=[probes.InputJacobian()], record=record.Evenly(25),
    )  # fmt: skip
    t = run["time"].values
    exact = np.eye(2) + (np.array(START) - np.eye(2)) * np.exp(-np.outer(t, A))[:, None, :]
    assert np.abs(run["input_jacobian"].values[0] - exact).max() < 1e-8


def test_gradient_flow_of_a_diagonal_start_is_logistic():
    """M6, at the true clock: rate 4 a for W = U U^T."""
    run = ds.simulate(
        TASK, models.TiedLinear(2, initial_jacobian=((0.01, 0), (0, 0.02))),
        dynamics.GradientFlow(), time=4.0, probes=[probes.InputJacobian()],
    )  # fmt: skip
    t = run["time"].values[:, None]
    exact = 1 / (1 + (1 / np.array([0.01, 0.02]) - 1) * np.exp(-4 * A * t))
    got = np.diagonal(run["input_jacobian"].values[0], axis1=1, axis2=2)
    assert np.abs(got - exact).max() < 1e-8


def test_a_flow_can_be_kept_by_the_compilation_cache():
    """A program that calls Python back is kept by no cache: each process would compile it anew."""
    rule = dynamics.GradientFlow()
    with precision("float64"):
        goal = Objective(lambda w, x: 0.5 * jnp.sum(w**2), None, key_for(0, "batches"), None)
        state = rule.begin(jnp.ones(2), goal)

        def moved(state, times):
            return rule.advance(state, goal, jnp.int32(0), jnp.int32(1), times)

        flow = jax.jit(moved).lower(state, (jnp.asarray(0.0), jnp.asarray(1.0)))
        assert "callback" not in flow.as_text()
        after = flow.compile()(state, (jnp.asarray(0.0), jnp.asarray(1.0)))
        assert np.allclose(after.params, np.exp(-1.0), rtol=1e-7)


def test_a_start_at_zero_stays_there():
    """M11, last part: nothing moves, nothing is NaN."""
    run = ds.simulate(
        TASK, models.TiedLinear(2, 0.0), dynamics.GradientFlow(), time=5.0,
        probes=[probes.TestLoss()], record=record.Evenly(5),
    )  # fmt: skip
    assert (run["test_loss"].values == 2.5).all() and not run["diverged"].any()


def test_divergence_is_a_value_and_stops_nobody_else():
    run = ds.sweep(
        TASK, models.TiedLinear(2, 0.1), dynamics.GradientDescent(0.01), steps=300, seeds=3,
        over={"dynamics.learning_rate": [0.05, 5.0]}, probes=[probes.TestLoss()],
        record=record.Every(1), dtype="float64",
    )  # fmt: skip
    calm, wild = run["test_loss"].values
    assert np.isfinite(calm).all() and not run["diverged"].values[0].any()
    assert run["diverged"].values[1].all()
    for lane, last in zip(wild, run["diverged_step"].values[1], strict=True):
        # The loss of finite parameters may itself be infinite; it is never NaN.
        assert not np.isnan(lane[: last + 1]).any() and np.isnan(lane[last + 1 :]).all()
    alone = ds.simulate(
        TASK, models.TiedLinear(2, 0.1), dynamics.GradientDescent(0.05), steps=300, seeds=3,
        probes=[probes.TestLoss()], record=record.Every(1), dtype="float64",
    )  # fmt: skip
    assert (alone["test_loss"].values == calm).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: dynamics.SGD(0.1, 0), "batch_size"),
        (lambda: dynamics.Momentum(0.1, 1.0), "momentum"),
        (lambda: dynamics.Adam(-1.0), "learning_rate"),
        (lambda: dynamics.GradientFlow(0.0), "relative_tolerance"),
        (lambda: dynamics.Piecewise((0.1,), (3,)), "begin with 0"),
        (lambda: dynamics.Cosine(0.1, 0), "steps"),
    ],
)
def test_rules_that_cannot_move_are_refused(make, message):
    with pytest.raises(BadInput, match=message):
        make()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_schedules_have_the_precision_of_the_run(dtype):
    cosine = dynamics.Cosine(0.3, 7, final=0.01)
    with precision(dtype):
        step = jnp.int32(3)
        for rate, exact in (
            (cosine, 0.01 + 0.29 * (1 + np.cos(np.pi * 3 / 7)) / 2),
            (dynamics.Cyclical(0.1, 0.3, 7), 0.1 + 0.2 * 6 / 7),
            (dynamics.Warmup(7, dynamics.Piecewise((0.3,), (0,))), 0.3 * 4 / 7),
            (dynamics.Warmup(7, cosine), 0.3 * 4 / 7),
        ):
            with foreign():
                found = rate(step)
            assert found.dtype == dtype
            assert abs(float(found) / exact - 1) < 10 * np.finfo(dtype).eps
