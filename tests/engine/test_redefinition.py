"""Code of the user's own that changes in one process: the run is that of the code as it is now."""

from __future__ import annotations

import importlib
import json
import sys
import types

import numpy as np
import pytest

import dynascope as ds
from dynascope import dynamics, models, probes, tasks
from dynascope.core.plain import fingerprint
from dynascope.engine import program as programs
from dynascope.engine.experiment import make_experiment

HEAD = """
import functools
from dataclasses import dataclass
import equinox as eqx, jax, jax.numpy as jnp, numpy as np, optax
from jax import lax
import dynascope as ds
from dynascope import dynamics, models, probes, tasks, theories
from dynascope.core.quantities import Quantity
from dynascope.engine.record import Record
"""
X = np.array([1.0, 2.0])
SINE = """
@dataclass(frozen=True)
class Sine(tasks.Task):
    input_size = output_size = 1
    def samples(self, key):
        x = jnp.array([[1.0], [2.0]])
        return x, jnp.sin(x)
    def loss(self, predict, samples):
        error = predict(samples[0]) - samples[1]
        return LOSS
thing = Sine()
"""
SQUARES, ABSOLUTE = "jnp.mean(error ** 2)", "1000 * jnp.mean(jnp.abs(error))"
# The untrained model is zero everywhere, so the first loss is that of the target.
MEAN_SQUARE, THOUSAND = np.mean(np.sin(X) ** 2), 1000 * np.mean(np.sin(X))


@pytest.fixture
def cell():
    """Runs source in one notebook, which remembers what earlier cells defined."""
    module = types.ModuleType("notebook_of_a_test")
    sys.modules[module.__name__] = module
    exec(HEAD, vars(module))

    def run(source):
        exec(compile(source, "<cell>", "exec"), vars(module))
        return module.thing

    yield run
    del sys.modules[module.__name__]


def simulate(task=None, model=None, rule=None, probe=None, record=None, **options):
    """Three steps; what is not given is ours: one input, one output, a slope that starts at 0."""
    return ds.simulate(
        task or tasks.IdentityMapping((1.0,), (0.0,), samples_per_cluster=1),
        model or models.Linear(0.0),
        rule or dynamics.GradientDescent(0.1),
        steps=3,
        probes=[probe or probes.Loss(name="value")],
        record=record,
        dtype="float64",
        progress=False,
        **options,
    )


def first(run):
    return float(run["value"].values.ravel()[0])


def last(run):
    return float(run["value"].values.ravel()[-1])


KINDS = {
    # kind: source with OLD, two texts for it, what is read off the run, the two answers
    "task": (SINE.replace("LOSS", "OLD"), SQUARES, ABSOLUTE, first, MEAN_SQUARE, THOUSAND),
    "model": (
        """
@dataclass(frozen=True)
class Constant(models.Model):
    def build(self, inputs, outputs):
        return models.base.Network(lambda key: jnp.zeros(()), lambda p, x: 0 * p * x + OLD)
thing = Constant()
""",
        "3.0",
        "5.0",
        first,
        0.5 * (3 - 1) ** 2,  # the identity mapping's only input is 1
        0.5 * (5 - 1) ** 2,
    ),
    "probe": (
        """
@dataclass(frozen=True)
class Number(probes.Probe):
    quantity = Quantity("value", "v", "", (), "A number.")
    def measure(self, snapshot):
        return jnp.asarray(OLD)
thing = Number()
""",
        "3.0",
        "5.0",
        first,
        3.0,
        5.0,
    ),
    "rule": (
        """
@dataclass(frozen=True)
class Rule(dynamics.Descent):
    learning_rate: float = 0.1
    def optimizer(self):
        return optax.sgd(OLD * self.learning_rate)
thing = Rule()
""",
        "1",
        "2",
        last,
        0.5 * (1 - 0.1) ** 6,  # the slope's error shrinks by 1 - rate each step
        0.5 * (1 - 0.2) ** 6,
    ),
    "record": (
        """
@dataclass(frozen=True)
class Places(Record):
    def recorded_at(self, end, discrete):
        return np.array([0, OLD, 3])
thing = Places()
""",
        "1",
        "2",
        lambda run: int(run["step"][1]),
        1,
        2,
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_class_that_is_defined_anew_is_used_anew(cell, kind):
    source, old, new, read, before, after = KINDS[kind]
    found, prints = [], []
    for text in (old, new, old):
        piece = {kind: cell(source.replace("OLD", text))}
        run = simulate(**piece)
        found.append(read(run))
        prints.append(run.attrs["fingerprint"])
    assert np.allclose(found, [before, after, before], rtol=1e-6)
    assert prints[0] == prints[2] != prints[1]


def test_a_theory_has_another_fingerprint_when_it_says_something_else(cell):
    source = """
@dataclass(frozen=True)
class Guess(theories.Theory):
    def predict(self, task, model, **options):
        return OLD
thing = Guess()
"""
    one, other, same = (fingerprint(cell(source.replace("OLD", c))) for c in "121")
    assert one == same != other


CHANGES = {
    # what is changed: source before the task, the loss, two more cells
    "a helper": (
        "def helper(e): return jnp.mean(e ** 2)",
        "helper(error)",
        "def helper(e): return 1000 * jnp.mean(jnp.abs(e))",
    ),
    "a constant": (
        "absolute = False",
        f"{ABSOLUTE} if absolute else {SQUARES}",
        "absolute = True",
    ),
    "a base class": (
        "class Base:\n def error(self, e): return jnp.mean(e ** 2)",
        "Base().error(error)",
        "class Base:\n def error(self, e): return 1000 * jnp.mean(jnp.abs(e))",
    ),
    "a closure": (
        f"def make(absolute): return lambda error: {ABSOLUTE} if absolute else {SQUARES}\n"
        "helper = make(False)",
        "helper(error)",
        "helper = make(True)",
    ),
    "a default argument": (
        f"def helper(error, absolute=False): return {ABSOLUTE} if absolute else {SQUARES}",
        "helper(error)",
        "helper.__defaults__ = (True,)",
    ),
    "a partial": (
        f"def f(absolute, error): return {ABSOLUTE} if absolute else {SQUARES}\n"
        "helper = functools.partial(f, False)",
        "helper(error)",
        "helper = functools.partial(f, True)",
    ),
    "what a jitted helper calls": (
        f"def inner(error): return {SQUARES}\n@jax.jit\ndef helper(error): return inner(error)",
        "helper(error)",
        f"def inner(error): return {ABSOLUTE}",
    ),
    "what the body of a scan reads": (
        "absolute = False\n"
        f"def body(error, _): return error * 0 + ({ABSOLUTE} if absolute else {SQUARES}), 0.0",
        "lax.scan(body, error, jnp.zeros(1))[0].mean()",
        "absolute = True",
    ),
    "what a cached helper reads": (
        "absolute = False\n@functools.cache\ndef helper(): return absolute",
        f"{ABSOLUTE} if helper() else {SQUARES}",
        "absolute = True",
    ),
    "a method by hand": (
        "",
        SQUARES,
        "def loss(self, predict, samples):\n error = predict(samples[0]) - samples[1]\n"
        f" return {ABSOLUTE}\nSine.loss = loss",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_the_class_depends_on_is_seen(cell, name):
    """The class itself is not defined anew; what it reads is."""
    source, loss, change = CHANGES[name]
    task = cell(source + SINE.replace("LOSS", loss))
    one = simulate(task)
    same = simulate(task)
    cell(change)
    other = simulate(task)
    assert np.allclose([first(one), first(same)], MEAN_SQUARE, rtol=1e-6)
    assert np.allclose(first(other), THOUSAND, rtol=1e-6)
    assert one.attrs["fingerprint"] == same.attrs["fingerprint"] != other.attrs["fingerprint"]
    assert "code_unknown" not in {*one.attrs, *other.attrs}


def test_a_base_task_that_is_defined_anew_changes_the_tasks_that_are_built_on_it(cell):
    derived = "\n@dataclass(frozen=True)\nclass Derived(Sine):\n pass\nthing = Derived()"
    found = [first(simulate(cell(SINE.replace("LOSS", t) + derived))) for t in (SQUARES, ABSOLUTE)]
    assert np.allclose(found, [MEAN_SQUARE, THOUSAND], rtol=1e-6)


def test_an_equinox_module_that_is_defined_anew_is_used_anew(cell):
    source = """
class Net(eqx.Module):
    w: jax.Array
    def __call__(self, x):
        return 0 * self.w * x + OLD
thing = models.from_equinox(lambda key: Net(jnp.zeros(())))
"""
    found = [first(simulate(model=cell(source.replace("OLD", c)))) for c in ("3.0", "5.0")]
    assert np.allclose(found, [2.0, 8.0], rtol=1e-6)


def test_an_object_behind_a_pair_is_seen_as_it_is_now(cell):
    """Also where another object of equal state was compiled before it was changed."""
    source = """
class Layer:
    def __init__(self, c): self.c = c
    def init(self, key): return jnp.zeros(())
    def apply(self, params, x): return 0 * params * x + self.c
thing = Layer
"""
    layer = cell(source)
    one, other = layer(3.0), layer(3.0)
    found = [first(simulate(model=models.FunctionModel(one.init, one.apply)))]
    one.c = 5.0
    found.append(first(simulate(model=models.FunctionModel(one.init, one.apply))))
    # More seeds: a program for `one` that were traced again would read 5 where it stands for 3.
    found.append(first(simulate(model=models.FunctionModel(other.init, other.apply), seeds=3)))
    assert np.allclose(found, [2.0, 8.0, 2.0], rtol=1e-6)


def test_a_mended_bug_does_not_raise_again(cell):
    wrong = SINE.replace("LOSS", "jnp.mean(error ** 2) @ 'oops'")
    with pytest.raises(TypeError):
        simulate(cell(wrong))
    assert np.allclose(first(simulate(cell(SINE.replace("LOSS", SQUARES)))), MEAN_SQUARE)


def test_a_reloaded_module_is_used_anew(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # two versions within one second
    file = tmp_path / "task_of_a_reload.py"
    file.write_text(HEAD + SINE.replace("LOSS", SQUARES))
    module = importlib.import_module(file.stem)
    found = [first(simulate(module.thing))]
    file.write_text(HEAD + SINE.replace("LOSS", ABSOLUTE))
    importlib.reload(module)
    found.append(first(simulate(module.thing)))
    assert np.allclose(found, [MEAN_SQUARE, THOUSAND], rtol=1e-6)


def test_unknown_code_is_said_and_its_program_is_not_kept(cell):
    """A generator gives another number each time the loss is traced; no program may hide that."""
    source = "numbers = iter_of(1.0)\n" + SINE.replace("LOSS", f"next(numbers) * {SQUARES}")
    cell("def iter_of(c):\n while True:\n  yield c\n\nthing = 0")
    task = cell(source)
    kept = len(programs._PROGRAMS)
    one = simulate(task)
    cell("numbers = iter_of(2.0)")
    other = simulate(task)
    assert np.allclose([first(one), first(other)], [MEAN_SQUARE, 2 * MEAN_SQUARE], rtol=1e-6)
    assert json.loads(one.attrs["code_unknown"]) == ["Sine.loss.numbers: generator"]
    assert one.attrs["fingerprint"] != other.attrs["fingerprint"]
    assert len(programs._PROGRAMS) == kept


def test_the_program_of_code_that_has_not_changed_is_kept(cell):
    task = cell(SINE.replace("LOSS", SQUARES))
    simulate(task)
    kept = dict(programs._PROGRAMS)
    simulate(cell(SINE.replace("LOSS", SQUARES)))
    assert kept == programs._PROGRAMS


def test_a_sweep_reads_each_class_once(cell, monkeypatch):
    """However many points it has."""
    from dynascope.core import plain

    task, seen = cell(SINE.replace("LOSS", SQUARES)), []
    rates = {"dynamics.learning_rate": [0.1 * k for k in range(1, 30)]}
    experiment = make_experiment(
        task, models.Linear(0.0), dynamics.GradientDescent(0.1), steps=3, time=None,
        probes=[probes.Loss()], record=None, seeds=1, dtype=None, over=rates,
    )  # fmt: skip
    read = plain.code_of
    monkeypatch.setattr(plain, "code_of", lambda thing: seen.append(thing) or read(thing))
    ds.engine.execute(experiment, progress=False)
    assert seen == [type(task)] * 2  # once for the fingerprint, once for the program
