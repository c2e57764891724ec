"""Batches, random losses, tokens and pictures: what the engine hands to tasks of every kind."""

from __future__ import annotations

from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import dynascope as ds
from compiling import quick  # tests is on the path
from dynascope import dynamics, models, probes, record, tasks
from dynascope.core.errors import BadInput, Interrupted
from dynascope.core.plain import fingerprint, to_plain
from dynascope.core.randomness import key_for
from dynascope.dynamics.batches import Batches, Objective
from dynascope.engine import drive, execution
from dynascope.engine.experiment import Setup
from dynascope.engine.lanes import stack
from dynascope.engine.loop_inputs import LoopInputs
from dynascope.engine.program import program
from dynascope.runtime.precision import precision

from .memory import Memory, same


@dataclass(frozen=True)
class Stream(tasks.Task):
    """Numbers around `mean` without end; the loss is the squared distance of one parameter."""

    mean: float = 2.0
    input_size = 1
    output_size = 1

    def samples(self, key):
        return self.draw(key, 64, self.context(key))

    def context(self, key):
        return jax.random.normal(key, ())  # a seed's own offset

    def draw(self, key, count, context):
        return self.mean + context + jax.random.normal(key, (count, 1))

    def loss(self, predict, samples):
        return jnp.mean((predict(jnp.ones((1, 1))) - samples) ** 2) / 2


@dataclass(frozen=True)
class Noisy(Stream):
    """The same with noise in the loss instead of the samples: its mean has a closed form."""

    def samples(self, key):
        return jnp.full((8, 1), 1.0)

    def random_loss(self, predict, samples, key):
        noise = jax.random.normal(key, samples.shape)
        return jnp.mean((predict(jnp.ones((1, 1))) - samples - noise) ** 2) / 2

    loss = tasks.Task.loss


POINT = models.FunctionModel(lambda key: jnp.zeros((1, 1)), lambda w, x: x @ w)
ROWS = tasks.IdentityMapping((1.0, 2.0), (0.5, 0.5), samples_per_cluster=12)


def rows(count):
    return Objective(None, jnp.arange(count), key_for(3, "batch"), None)


def numbers(order, steps, count=24, size=6, start=0):
    batches = Batches(rows(count), size, order, start)

    def step(carried, i):
        batch, carried = batches.at(i, carried)
        return carried, batch

    walk = quick(lambda: jax.lax.scan(step, batches.begin(), start + jnp.arange(steps))[1])
    return np.asarray(walk())


def test_every_epoch_sees_each_sample_once_in_an_order_of_its_own():
    first, second = numbers("shuffled", 8).reshape(2, 24)
    assert sorted(first) == sorted(second) == list(range(24))
    assert (first != second).any() and (first != np.arange(24)).any()
    assert len(np.unique(numbers("shuffled", 3, count=23)[:3])) == 18  # 5 are left out


def test_a_shuffled_epoch_that_is_begun_in_the_middle_goes_on_as_it_was():
    assert (numbers("shuffled", 9)[3:] == numbers("shuffled", 6, start=3)).all()


def test_random_batches_come_back_to_samples():
    """With replacement: 24 draws of 24 miss about a third; all 24 have odds below 1e-9."""
    assert len(np.unique(numbers("random", 4))) < 24


LINE = models.Linear(0.1)


def batch_run(rule, task=ROWS, model=LINE, **options):
    settings = {"steps": 40, "probes": [probes.Loss()], "seeds": 3, "progress": False} | options
    return ds.simulate(task, model, rule, **settings)


def test_shuffled_descent_is_the_loop_written_out():
    with precision("float64"):
        x = np.asarray(ROWS.samples(key_for(0, "data")))
        orders = [
            jax.random.permutation(jax.random.fold_in(key_for(0, "batch"), e), jnp.arange(24))
            for e in range(3)
        ]
    w = np.array(((0.3, -0.2), (0.1, 0.4)))
    rule, model = dynamics.SGD(0.1, 8, "shuffled"), models.Linear(initial_jacobian=w)
    for step in range(9):
        batch = x[np.asarray(orders[step // 3])[(step % 3) * 8 :][:8]]
        w = w - 0.1 * (w - np.eye(2)) @ (batch.T @ batch / 8)
    got = batch_run(
        rule, model=model, steps=9, probes=[probes.InputJacobian()], dtype="float64",
        record=record.At((4,)),
    )  # fmt: skip
    assert np.abs(got["input_jacobian"].values[0, -1] - w).max() < 1e-12


RULES = {
    "shuffled": (dynamics.SGD(0.05, 8, "shuffled"), ROWS, models.Linear(0.1)),
    "momentum": (dynamics.Momentum(0.02, batch_size=8, order="random"), ROWS, models.Linear(0.1)),
    "fresh": (dynamics.Adam(0.02, batch_size=8, order="fresh"), Stream(), POINT),
    "noisy": (dynamics.GradientDescent(0.05), Noisy(), POINT),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", RULES)
def test_batches_and_noise_are_the_seeds_own_and_survive_a_kill(monkeypatch, name):
    rule, task, model = RULES[name]
    whole = batch_run(rule, task, model)
    alone = batch_run(rule, task, model, seeds=[2])
    # Another number of lanes is another program, which may round differently.
    assert np.allclose(whole["loss"].values[2], alone["loss"].values[0], rtol=1e-5)
    assert len(np.unique(whole["loss"].values[:, -1])) == 3
    monkeypatch.setattr(drive, "CALL_SECONDS", 0.0)
    monkeypatch.setattr(execution, "APPEND_SECONDS", 0.0)
    sink = Memory(stop_after=6)
    with pytest.raises(Interrupted):
        batch_run(rule, task, model, sink=sink)
    same(batch_run(rule, task, model, sink=sink), whole)


def test_a_kill_changes_nothing_where_no_probe_measures_the_loss(monkeypatch):
    """There the engine looks at the loss of a batch itself, to see whether the lane diverged."""
    rule = dynamics.SGD(30.0, 8, "shuffled")
    options = {"probes": [probes.InputJacobian()], "record": record.Evenly(9)}
    whole = batch_run(rule, **options)
    assert (whole["diverged_step"].values > 10).all(), "after the kill, which could move the mark"
    monkeypatch.setattr(drive, "CALL_SECONDS", 0.0)
    monkeypatch.setattr(execution, "APPEND_SECONDS", 0.0)
    sink = Memory(stop_after=6)
    with pytest.raises(Interrupted):
        batch_run(rule, sink=sink, **options)
    same(batch_run(rule, sink=sink, **options), whole)


def test_fresh_samples_are_those_of_seed_and_step():
    """One parameter at rate 1: after a step it is the mean of that step's samples."""
    rule = dynamics.SGD(1.0, 16, "fresh")
    run = batch_run(rule, Stream(), POINT, steps=5, seeds=2, probes=[probes.OutputAt((1.0,))])
    for seed in range(2):
        offset = jax.random.normal(key_for(seed, "data"), ())
        for step in range(5):
            key = jax.random.fold_in(key_for(seed, "batch"), step)
            mean = 2 + offset + jax.random.normal(key, (16, 1)).mean()
            assert np.isclose(run["output_at"].values[seed, step + 1, 0], mean, rtol=1e-5)


def test_a_random_loss_is_drawn_anew_each_step_and_averages_to_its_closed_form():
    """At rate 1 each step lands on 1 + its mean noise: N(1, 1/8). The loss has mean (1 + 1)/2."""
    run = batch_run(
        dynamics.GradientDescent(1.0), Noisy(), POINT, steps=2000, seeds=1,
        probes=[probes.OutputAt((1.0,)), probes.Loss()], record=record.Every(1),
    )  # fmt: skip
    w = run["output_at"].values[0, 1:, 0]
    assert abs(w.mean() - 1) < 4 / np.sqrt(8 * 2000)
    assert abs(w.var() * 8 - 1) < 4 * np.sqrt(2 / 2000)
    # The probe's key is fixed: the loss is a parabola of w, without any scatter.
    loss = run["loss"].values[0, 1:]
    curve = np.polyfit(w, loss, 2)
    assert abs(curve[0] - 0.5) < 1e-3 and np.abs(np.polyval(curve, w) - loss).max() < 1e-4


def test_orders_that_cannot_be_are_refused_in_one_line():
    cases = [
        (lambda: batch_run(dynamics.SGD(0.1, 4, "fresh")), "IdentityMapping has no `draw`"),
        (lambda: batch_run(dynamics.SGD(0.1, 25, "shuffled")), "at most 24, the number of samples"),
        (lambda: batch_run(dynamics.SGD(0.1, 25)), "at most 24, the number of samples"),
        (lambda: dynamics.Adam(0.1, order="shuffled"), "a size for order='shuffled'"),
        (lambda: dynamics.SGD(0.1, order="shufled"), "did you mean 'shuffled'"),
    ]
    for make, message in cases:
        with pytest.raises(BadInput, match=message) as caught:
            make()
        assert "\n" not in str(caught.value)
    batch_run(dynamics.SGD(0.1, 25, "random"), steps=2)  # with replacement there is no such limit


def test_a_task_without_any_loss_says_so():
    with pytest.raises(NotImplementedError, match="Task has no loss"):
        tasks.Task().loss(None, None)


def test_a_later_field_enters_the_fingerprint_where_it_is_set():
    plain, ordered = (
        dynamics.Adam(0.1, batch_size=4),
        dynamics.Adam(0.1, batch_size=4, order="random"),
    )
    assert "order" not in to_plain(plain) and to_plain(ordered)["order"] == "random"
    assert fingerprint(plain) != fingerprint(ordered)


RNG = np.random.default_rng(0)
TOKENS = RNG.integers(0, 7, (20, 9))
PICTURES = RNG.integers(0, 256, (20, 4, 4, 3)).astype(np.uint8)


def embed(key):
    return {"table": 0.1 * jax.random.normal(key, (7, 7))}


BIGRAM = models.FunctionModel(embed, lambda p, x: p["table"][x])


def look(key):
    return 0.1 * jax.random.normal(key, (48, 2))


SEES = models.FunctionModel(look, lambda w, x: x.reshape(*x.shape[:-3], 48) @ w)


def test_a_bigram_model_learns_the_frequencies_of_its_tokens():
    """The best cross-entropy of a bigram table is the conditional entropy of the pairs."""
    x, y = TOKENS[:, :-1], TOKENS[:, 1:]
    weights = (RNG.random(x.shape) < 0.7).astype(float)
    counts = np.zeros((7, 7))
    np.add.at(counts, (x, y), weights)
    share = counts / np.maximum(counts.sum(1, keepdims=True), 1)
    logs = np.log(share, where=share > 0, out=np.zeros_like(share))
    entropy = -(counts * logs).sum() / counts.sum()
    task = tasks.ArrayClasses(x, y, weights)
    run = batch_run(dynamics.Adam(0.3), task, BIGRAM, steps=300, seeds=2)
    assert run["loss"].values[0, 0] > entropy + 0.3
    assert np.abs(run["loss"].values[:, -1] - entropy).max() < 5e-3


def test_cross_entropy_leaves_out_what_has_no_weight():
    logits, classes = RNG.normal(size=(3, 5, 7)), RNG.integers(0, 7, (3, 5))
    weights = np.zeros((3, 5))
    weights[1, 2], weights[0, 4] = 1.0, 3.0
    p = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    exact = -(np.log(p[1, 2, classes[1, 2]]) + 3 * np.log(p[0, 4, classes[0, 4]])) / 4
    given = jnp.asarray(logits), jnp.asarray(classes), jnp.asarray(weights)
    assert np.isclose(tasks.cross_entropy(*given), exact, rtol=1e-5)
    assert float(tasks.cross_entropy(*given[:2], jnp.zeros((3, 5)))) == 0.0


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_tokens_and_bytes_are_never_floats_and_are_held_once(dtype):
    y = np.arange(20) % 2
    for task, model, kind in (
        (tasks.ArrayClasses(TOKENS[:, :-1], TOKENS[:, 1:]), BIGRAM, "int32"),
        (tasks.ArrayClasses(PICTURES, y, x_test=PICTURES[:3], y_test=y[:3]), SEES, "uint8"),
    ):
        lanes = stack([Setup(task, model, dynamics.SGD(0.1, 4), ())], (0, 1, 2))
        with precision(dtype):
            compiled = program(LoopInputs(lanes, np.array([0]), np.zeros(1), dtype, np.array([])))
            data = compiled.shared(lanes.values)
            lane = compiled.prepare(lanes.values, (lanes.seeds,), data)
        assert data.samples[0].dtype == kind and data.samples[0].shape == task.x.shape
        assert lane.data is None


def test_pictures_are_read_as_zero_to_one_and_told_apart():
    y = (PICTURES.mean((1, 2, 3)) > np.median(PICTURES.mean((1, 2, 3)))).astype(int)
    task = tasks.ArrayClasses(PICTURES, y, x_test=PICTURES, y_test=y)
    options = {"probes": [probes.Loss(), probes.TestSetLoss(), probes.TestSetAccuracy()]}
    run = batch_run(dynamics.SGD(0.5, 5, "shuffled"), task, SEES, steps=400, **options)
    assert np.allclose(run["loss"], run["test_set_loss"], rtol=1e-5)
    assert (run["test_set_accuracy"].values[:, -1] > 0.9).all()
    floats = tasks.ArrayClasses(PICTURES / 255, y, x_test=PICTURES / 255, y_test=y)
    other = batch_run(dynamics.SGD(0.5, 5, "shuffled"), floats, SEES, steps=400, **options)
    assert np.allclose(run["loss"], other["loss"], atol=1e-3)


@dataclass(frozen=True)
class Scaled(Stream):
    """The same samples for every seed, times a number that can be swept."""

    factor: float = 1.0
    shared = True

    def samples(self, key):
        return self.factor * jnp.arange(4.0)[:, None]

    def context(self, key):
        return None


def test_shared_samples_that_a_sweep_changes_are_each_lanes_own():
    factors = [1.0, 2.0]
    run = ds.sweep(
        Scaled(), POINT, dynamics.GradientDescent(1.0), steps=1, seeds=2, progress=False,
        over={"task.factor": factors}, probes=[probes.OutputAt((1.0,))],
    )  # fmt: skip
    assert np.allclose(run["output_at"].values[:, :, -1, 0], [[1.5] * 2, [3.0] * 2])
    alone = batch_run(
        dynamics.GradientDescent(1.0), replace(Scaled(), factor=2.0), POINT, steps=1,
        probes=[probes.OutputAt((1.0,))],
    )  # fmt: skip
    assert np.allclose(alone["output_at"].values[:, -1, 0], 3.0)


def test_a_test_set_of_classes_is_asked_for_in_words():
    task = tasks.ArrayClasses(PICTURES, np.arange(20) % 2)
    with pytest.raises(BadInput, match="a task with a test set"):
        batch_run(dynamics.SGD(0.1, 4), task, SEES, probes=[probes.TestSetLoss()])
    with pytest.raises(BadInput, match="inputs, targets"):
        batch_run(dynamics.SGD(0.1, 4), task, SEES, probes=[probes.TangentKernelNorm()])


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ((TOKENS, TOKENS[:5]), "expected as many as x has, 20"),
        ((TOKENS, TOKENS - 1), "whole numbers from 0"),
        ((TOKENS, TOKENS * 0.5), "whole numbers, one row a sample"),
        ((TOKENS[0], TOKENS[0]), "one row a sample"),
        ((TOKENS * np.nan, TOKENS), "finite floats"),
        ((TOKENS, TOKENS, TOKENS[:, :3]), "the classes' shape"),
        ((TOKENS, TOKENS, -np.ones(TOKENS.shape)), "at least 0"),
    ],
)
def test_arrays_that_do_not_fit_are_refused_in_one_line(arrays, message):
    with pytest.raises(BadInput, match=message) as caught:
        tasks.ArrayClasses(*arrays)
    assert "\n" not in str(caught.value)
    with pytest.raises(BadInput, match="at least 7"):
        tasks.ArrayClasses(TOKENS, TOKENS, classes=3)
