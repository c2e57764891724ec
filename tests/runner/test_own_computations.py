"""The store and computations of the user's own: an edit gives new values, no edit stored ones."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass

import jax.numpy as jnp
import pytest

from dynascope import tasks
from dynascope.core import spec
from dynascope.core.sources import derived
from dynascope.core.spec import Spec
from dynascope.dynamics import Cosine, GradientDescent, Schedule
from dynascope.engine import Experiment
from dynascope.models import Linear
from dynascope.probes import Loss
from dynascope.runner.evaluation import Evaluation
from dynascope.runner.forecast import forecast
from dynascope.store import Store
from dynascope.studies import Study, at_least, case, exact, studies, together

NAME = "own-computations"


@dataclass(frozen=True)
class Settings(Spec, tag=f"studies.{NAME}"):
    factor: float = 2.0
    rate: Schedule = Cosine(0.5, 10)


def make(settings=Settings):
    return Study(
        NAME, title="Own", sources=(derived(),), settings=settings,
        scales={"smoke": {}, "laptop": {}, "paper": {}},
    )  # fmt: skip


@pytest.fixture(autouse=True)
def no_study_stays():
    yield
    studies._things.pop(NAME, None)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def worked_out(node, store, settings=Settings):
    """The value of a node, and how many computations were stored on the way to it."""
    before = len(store.runs("computation"))
    value = Evaluation(studies.get(NAME), settings(), store, progress=False).value(node)
    return value, len(store.runs("computation")) - before


def times(factor=2, items=(1, 2, 3)):
    """A computation whose code stays the same while what it is given is edited."""
    study = make()

    @study.finding
    def scale(s):
        return factor

    @study.compute(scale, each=lambda s, f: items)
    def times(s, f, item) -> float:
        return float(f * item)

    return times


@pytest.mark.parametrize("edit", [{"factor": 10}, {"items": (4, 5, 6)}, {"items": (1, 2, 3, 4)}])
def test_an_edited_finding_or_item_is_computed_anew(store, edit):
    assert worked_out(times(), store) == ({1: 2.0, 2: 4.0, 3: 6.0}, 1)
    made = {"factor": 2, "items": (1, 2, 3), **edit}
    assert worked_out(times(**edit), store) == ({i: made["factor"] * i for i in made["items"]}, 1)
    assert worked_out(times(), store) == ({1: 2.0, 2: 4.0, 3: 6.0}, 0)


def test_items_that_no_code_tells_count_as_well(store, monkeypatch):
    node = make().compute(each=lambda s: os.environ["ITEMS"].split(), name="read")(spoken)
    for items in ("a b", "c d"):
        monkeypatch.setenv("ITEMS", items)
        assert worked_out(node, store) == ({i: i * 2 for i in items.split()}, 1)
    assert worked_out(node, store)[1] == 0


def spoken(s, item) -> str:
    return item * 2


def experiment(task=None, rate=0.1):
    task = task or tasks.IdentityMapping((1.0,), (0.0,))
    return Experiment(task, Linear(0.1), GradientDescent(rate), (Loss(),), steps=1)


def first_losses(s, runs) -> dict[str, float]:
    return {name: float(run["loss"][0, 0]) for name, run in runs.items()}


def test_other_names_of_the_same_runs_are_other_inputs(store):
    for names in (("a", "b"), ("x", "y")):
        study = make()
        runs = study.run(name="runs")(lambda s, n=names: {k: experiment() for k in n})
        value, stored = worked_out(study.compute(runs)(first_losses), store)
        assert tuple(value) == names and stored == 1
    assert worked_out(study.nodes[-1], store)[1] == 0


def test_other_names_of_nodes_together_are_other_inputs(store):
    for first, second in (("a", "b"), ("b", "a")):
        study = make()
        one, two = (study.finding(name=f"n{i}")(lambda s, i=i: i) for i in (1, 2))
        node = study.compute(together(**{first: one, second: two}), name="told")(as_they_are)
        assert worked_out(node, store) == ({first: 1, second: 2}, 1)


def as_they_are(s, values) -> dict[str, int]:
    return dict(values)


def test_nodes_together_that_were_not_there_are_other_inputs(store, monkeypatch):
    study = make()
    one = study.finding(name="one")(lambda s: 1)
    two = study.finding(name="two", data="no-such-data")(lambda s: 2)
    node = study.compute(together(one=one, two=two), name="told")(as_they_are)
    assert worked_out(node, store)[0] == {"one": 1}
    monkeypatch.setattr(sys.modules["dynascope.runner.evaluation"], "there", lambda name: True)
    assert worked_out(node, store)[0] == {"one": 1, "two": 2}


FACTORS = {"letters": (c for c in "abc")}


@dataclass(frozen=True)
class Untold(tasks.Task):
    """A task whose code reads a generator, which nobody can look into."""

    input_size = output_size = 1

    def samples(self, key):
        assert FACTORS
        return jnp.ones((1, 1)), jnp.ones((1, 1))

    def loss(self, predict, samples):
        return jnp.mean((predict(samples[0]) - samples[1]) ** 2)


def test_on_runs_or_findings_of_unknown_code_nothing_is_answered(store):
    for task, stored in ((None, 0), (Untold(), 1)):
        study = make()
        runs = study.run(name="runs")(lambda s, t=task: {"a": experiment(t)})
        node = study.compute(runs)(first_losses)
        worked_out(node, store)
        assert worked_out(node, store)[1] == stored
    study = make()
    finding = study.finding(name="f")(lambda s: {"a": len(FACTORS)})
    node = study.compute(finding, name="told")(as_they_are)
    assert [worked_out(node, store)[1] for _ in range(2)] == [1, 1]


def test_a_property_of_the_settings_is_code_that_a_computation_reads(store, monkeypatch):
    monkeypatch.delitem(spec._CLASSES, f"studies.{NAME}")  # the tag is the class's above
    for size, expected in ((2, 4.0), (3, 6.0)):

        @dataclass(frozen=True)
        class Settings(Spec, tag=f"studies.{NAME}"):
            factor: float = 2.0

            @property
            def larger(self, size=size):
                return size * self.factor

        node = make(Settings).compute(reads=("factor",), name="read")(larger)
        assert worked_out(node, store, Settings) == (expected, 1)
        assert worked_out(node, store, Settings) == (expected, 0)


def larger(s) -> float:
    return s.larger


def test_a_setting_that_can_be_called_is_a_setting(store):
    """A schedule is a function of the step; its default stands in the class like a method."""
    changed = Settings(rate=Cosine(0.25, 10))

    def rate(s) -> float:
        return s.rate.peak

    named = make().compute(reads=("rate",))(rate)
    value = Evaluation(studies.get(NAME), changed, store, progress=False).value(named)
    assert value == 0.25
    careless = make().compute(reads=())(rate)
    with pytest.raises(AttributeError, match="reads the setting 'rate': name it in reads="):
        worked_out(careless, store)


def test_a_forecast_computes_no_items(store):
    study = make()

    @study.compute
    def many(s) -> int:
        return 2

    @study.compute(many, each=lambda s, many: range(many))
    def squares(s, many, item) -> float:
        return float(item**2)

    study.claim("all", "Both are there.", derived(), lambda found: exact(len(found)),
                at_least(2, "ours"), on=squares, fails_on=case("none", ()),
                holds_on=case("two", (1, 2)))  # fmt: skip
    assert [e.basis for e in forecast(study, Settings(), store)] == ["not known"] * 2
    assert not store.runs()
    worked_out(squares, store)
    assert all(e.basis.startswith("stored") for e in forecast(study, Settings(), store))
