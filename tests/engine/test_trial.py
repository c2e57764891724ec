"""A user's own code is tried once: what would fail inside the engine is said in one line."""

from __future__ import annotations

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import dynascope as ds
from dynascope import dynamics, models, probes, tasks
from dynascope.core.errors import BadInput


@dataclass(frozen=True)
class Sine(tasks.Task):
    input_size = output_size = 1

    def samples(self, key):
        x = jnp.linspace(-1, 1, 64)[:, None]
        return x, jnp.sin(x)

    def loss(self, predict, batch):
        return jnp.mean((predict(batch[0]) - batch[1]) ** 2)


class Vector(Sine):
    def loss(self, predict, batch):
        return (predict(batch[0]) - batch[1]) ** 2


class Nothing(Sine):
    def loss(self, predict, batch):
        jnp.mean(predict(batch[0]))


class Broken(Sine):
    def loss(self, predict, batch):
        return jnp.mean(predict(batch[0]) @ jnp.ones((7, 7)))


class Number(Sine):
    def samples(self, key):
        return jnp.ones(())


class NoLoss(tasks.Task):
    input_size = output_size = 1

    def samples(self, key):
        return jnp.ones((4, 1))


class NoSize(tasks.Task):
    def loss(self, predict, batch):
        return jnp.mean(predict(batch))


class NoBuild(models.Model):
    pass


class Norm(probes.Probe):
    """The norm of the weights."""

    name = "norm"

    def measure(self, snapshot):
        return jnp.sqrt(sum(jnp.sum(p**2) for p in jax.tree.leaves(snapshot.params)))


class Weights(probes.Probe):
    name = "weights"

    def measure(self, snapshot):
        return snapshot.params["a"]


class Table(probes.Probe):
    name = "table"

    def measure(self, snapshot):
        return {"a": 1}


def function(init, apply=lambda p, x: x):
    return models.FunctionModel(init, apply)


NET = function(
    lambda key: {"a": jax.random.normal(key, (1, 8)), "b": jnp.zeros((8, 1))},
    lambda p, x: jnp.tanh(x @ p["a"]) @ p["b"],
)
MISTAKES = {
    "a vector": (dict(task=Vector()), "your loss returned shape (64, 1) of float32, expected a s"),
    "nothing": (dict(task=Nothing()), "your loss returned nothing (None), expected a scalar"),
    "no rows": (dict(task=Number()), "samples of your task Number returned shape ()"),
    "no loss": (dict(task=NoLoss()), "your task NoLoss has no loss(predict, samples)"),
    "no size": (dict(task=NoSize()), "your task NoSize has no input_size"),
    "no build": (dict(model=NoBuild()), "your model NoBuild has no build(inputs, outputs)"),
    "whole numbers": (
        dict(model=function(lambda key: jnp.zeros(3, int))),
        "expected floating numbers: whole ones cannot be trained",
    ),
    "no parameters": (dict(model=function(lambda key: {})), "returned no arrays: nothing to train"),
    "a dictionary": (
        dict(probes=[Table()]),
        "your probe Table returned {'a': a int}, expected one",
    ),
    "no probes": (dict(probes=[]), "probes: got [], expected something to measure"),
    "one probe": (dict(probes=probes.Loss()), "expected a list: [Loss(...)]"),
    "a class": (dict(probes=[probes.Loss]), "expected an instance of the class: Loss()"),
    "a name": (dict(probes="loss"), "probes: got 'loss', expected a list of probes"),
    "a task's class": (dict(task=Sine), "expected an instance of the class: Sine(...)"),
    "a large batch": (
        dict(rule=dynamics.SGD(0.1, batch_size=128)),
        "batch_size: got 128, expected at most 64, the number of samples",
    ),
    "no optimiser": (
        dict(rule=dynamics.Optax(lambda rate: 3, 0.1)),
        "the optimiser of Optax is a int, expected an optax optimiser",
    ),
}


LOSS = (probes.Loss(),)


def run(task=None, model=None, rule=None, probes=LOSS, **options):
    rule = rule or dynamics.GradientDescent(0.1)
    return ds.simulate(
        task or Sine(), model or NET, rule, steps=3, probes=probes, progress=False, **options
    )


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_line(name):
    pieces, words = MISTAKES[name]
    with pytest.raises(BadInput) as found:
        run(**pieces)
    assert words in str(found.value) and "\n" not in str(found.value)


def test_an_error_of_the_users_own_stays_that_error_and_says_where():
    with pytest.raises(TypeError) as found:
        run(Broken())
    [note] = [n for n in found.value.__notes__ if n.startswith("dynascope")]
    assert "loss of your task Broken" in note and "predict got shape (64, 1)" in note


def test_a_probe_needs_a_name_and_measure():
    found = run(probes=[Norm(), Weights(), Norm(name="again")])
    assert found["norm"].dims == found["again"].dims == ("seed", "step")
    assert found["weights"].dims == ("seed", "step", "weights_0", "weights_1")
    assert found["norm"].attrs["meaning"] == "The norm of the weights."
    first = jnp.sqrt(jnp.sum(found["weights"].values[0, 0] ** 2))  # b starts at zero
    assert np.allclose(found["norm"][0, 0], first, rtol=1e-5)


def test_a_sweep_measures_the_losses_that_the_task_has():
    over = {"dynamics.learning_rate": [0.1, 0.2]}
    rule = dynamics.GradientDescent(0.1)
    found = ds.sweep(Sine(), NET, rule, steps=3, over=over, progress=False)
    assert "loss" in found and "test_loss" not in found


def test_an_optimiser_as_it_is_does_what_its_maker_with_a_rate_does():
    made, maker = (
        run(rule=rule)
        for rule in (dynamics.Optax(optax.adam(1e-2)), dynamics.Optax(optax.adam, 1e-2))
    )
    assert np.allclose(made["loss"], maker["loss"])
    assert np.allclose(made["time"], [0, 1, 2, 3])
    assert np.allclose(maker["time"], [0, 0.01, 0.02, 0.03])


def test_a_module_starts_every_seed_and_a_factory_each_its_own():
    module = eqx.nn.Linear(1, 1, key=jax.random.key(0))
    same = run(model=models.from_equinox(module), seeds=2)["loss"].values[:, 0]
    own = run(model=models.from_equinox(lambda key: eqx.nn.Linear(1, 1, key=key)), seeds=2)
    assert np.allclose(same[0], same[1]) and not np.allclose(*own["loss"].values[:, 0])


def test_a_run_can_be_written_by_anybody(tmp_path):
    import xarray as xr

    found = run(probes=[probes.Loss(), Norm()])
    found.to_netcdf(tmp_path / "run.nc")
    with xr.open_dataset(tmp_path / "run.nc") as back:
        assert np.allclose(back["loss"], found["loss"])
        assert back.attrs["fingerprint"] == found.attrs["fingerprint"]
    assert found["loss"].attrs["long_name"] == "loss"
