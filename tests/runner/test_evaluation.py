"""Nodes are worked out once, stored, resumed between items, and missing for a reason."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

from dynascope.core.charts import Chart, Line, Panel
from dynascope.core.errors import FingerprintConflict
from dynascope.core.run import Run
from dynascope.core.sources import derived
from dynascope.core.spec import Spec
from dynascope.dynamics import GradientDescent
from dynascope.engine import Experiment
from dynascope.models import Linear
from dynascope.probes import Loss
from dynascope.runner.evaluation import Evaluation
from dynascope.runner.forecast import forecast
from dynascope.runner.run import run
from dynascope.store import Store
from dynascope.studies import Missing, Study, at_least, case, exact, studies, together
from dynascope.tasks import IdentityMapping


class Calls:
    """What was called, kept outside of anything that a function's code can be seen to read."""

    def __iter__(self):
        return iter(filter(None, os.environ.get("CALLS", "").split(",")))

    def __eq__(self, other):
        return list(self) == other

    def __bool__(self):
        return bool(list(self))

    def clear(self):
        os.environ["CALLS"] = ""

    def count(self, word):
        return list(self).count(word)


def note(word: str) -> None:
    os.environ["CALLS"] += f",{word}"


CALLS = Calls()


class Square(NamedTuple):
    """What an item gives."""

    value: float
    seed: int


@dataclass(frozen=True)
class Settings(Spec, tag="studies.small-study"):
    items: tuple[int, ...] = (1, 2, 3)
    factor: float = 2.0
    unrelated: int = 0
    left_out: bool = False
    steps: int = 5

    @property
    def doubled(self) -> float:
        return 2 * self.factor


@pytest.fixture
def study():
    """A study with a run, a computation with items, one without, findings and a claim."""
    CALLS.clear()
    made = Study(
        "small-study", title="A small study", sources=(derived(),), settings=Settings,
        scales={"smoke": {}, "laptop": {"unrelated": 1}, "paper": {"factor": 3.0}},
    )  # fmt: skip

    @made.run
    def descent(s: Settings) -> Experiment:
        task = IdentityMapping(means=(1.0,), scales=(0.0,))
        return Experiment(task, Linear(0.1), GradientDescent(0.1), (Loss(),), steps=s.steps)

    @made.compute(each=lambda s: s.items, reads=("items", "factor"), seconds=lambda s: 2.0)
    def squares(s: Settings, item: int) -> Square:
        note(f"square {item}")
        return Square(s.factor * item**2, item)

    @made.compute(descent, seconds=lambda s: 1.0)
    def fitted(s: Settings, descent: Run) -> dict[str, np.ndarray]:
        note("fit")
        return {"loss": descent["loss"].values * s.doubled}

    @made.finding(squares)
    def total(s: Settings, squares: dict[int, Square]) -> float:
        note("total")
        return sum(v.value for v in squares.values())

    @made.compute(data="no-such-data")
    def pictures(s: Settings) -> float:
        return 1.0

    @made.compute(only_if=lambda s: "left out here" if s.left_out else None)
    def optional(s: Settings) -> float:
        return 7.0

    made.claim(
        "large", "The total is at least 5.", derived(), lambda x, plus=0: exact(x + plus),
        at_least(5, "ours"), on=total, fails_on=case("less 1000", total, plus=-1000),
        holds_on=case("more", total, plus=1000),
    )  # fmt: skip
    made.claim(
        "on-data", "Pictures count.", derived(), exact, at_least(0, "ours"), on=pictures,
        fails_on=case("none", -1.0), holds_on=case("one", 1.0),
    )  # fmt: skip
    made.claim(
        "optional", "The optional part is 7.", derived(), exact, at_least(7, "ours"), on=optional,
        fails_on=case("6", 6.0), holds_on=case("8", 8.0),
    )  # fmt: skip
    there = together(fitted=fitted, pictures=pictures)

    @made.chart(total, there, headline=True)
    def drawn(s: Settings, total: float, there: dict) -> Chart:
        assert list(there) == ["fitted"]
        panel = Panel((Line([0, 1], [0, total]),))
        return Chart("drawn", "Total", "A line.", (panel,))

    @made.chart(together(only=pictures))
    def shown_pictures(s: Settings, there: dict) -> Chart:
        return Chart("pictures", "Pictures", "None.", (Panel((Line([0], [there["only"]]),)),))

    made.known = {n.name: n for n in made.nodes}
    yield made
    del studies._things["small-study"]


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def test_a_run_stores_everything_and_answers_from_the_store(study, store):
    first = run("small-study", "smoke", store=store, progress=False)
    verdicts = {c.id.split("/")[1]: c.verdict for c in first.claims}
    assert verdicts == {"large": "holds", "on-data": "not_applicable", "optional": "holds"}
    assert first.claims[0].measured.value == 2 * (1 + 4 + 9)
    assert "no-such-data is not there" in first.claims[1].note
    assert [c.name for c in first.charts] == ["drawn"]
    assert "The chart 'shown pictures' is left out: data set no-such-data" in first.result.notes[-1]
    kinds = sorted(store.manifest(r)["kind"] for r in first.result.runs)
    assert kinds == ["computation", "computation", "computation", "run"]
    assert CALLS.count("total") == 1, "a finding is worked out once"
    calls = list(CALLS)
    again = run("small-study", "smoke", store=store, progress=False)
    assert again.from_store and again.result == first.result and calls == CALLS


def test_what_a_computation_does_not_read_does_not_compute_it_again(study, store):
    run("small-study", "smoke", store=store, progress=False)
    CALLS.clear()
    run("small-study", "smoke", changes={"unrelated": 5}, store=store, progress=False)
    assert not [c for c in CALLS if c.startswith("square")]
    run("small-study", "smoke", changes={"factor": 5.0}, store=store, progress=False)
    assert len([c for c in CALLS if c.startswith("square")]) == 3


def test_a_setting_that_is_read_must_be_named(study, store):
    @study.compute(reads=("items",))
    def careless(s: Settings) -> float:
        return s.doubled  # a property that reads the factor

    values = Evaluation(study, study.at("smoke"), store, progress=False)
    with pytest.raises(AttributeError, match="reads the setting 'factor': name it in reads="):
        values.value(careless)


@pytest.mark.parametrize("again", [False, True], ids=["first", "again"])
def test_an_interrupted_computation_goes_on_after_its_last_item(study, store, again):
    if again:  # what is computed again goes on as well, and then agrees with what is stored
        Evaluation(study, study.at("smoke"), store, progress=False).value(study.known["squares"])
    node = study.known["squares"]
    function = node.function

    def breaks(s, item):
        if item == 3:
            raise KeyboardInterrupt
        return function(s, item)

    breaks.__annotations__, key = function.__annotations__, "function"
    settings = study.at("smoke")
    values = Evaluation(study, settings, store, again=again, progress=False)
    same = values.key(node)
    assert same  # kept: the broken function does not count as other code
    object.__setattr__(node, key, breaks)
    with pytest.raises(KeyboardInterrupt):
        values.value(node)
    object.__setattr__(node, key, function)
    CALLS.clear()
    found = Evaluation(study, settings, store, again=again, progress=False).value(node)
    assert CALLS == ["square 3"] and len(store.runs()) == 1
    assert found == {i: Square(2.0 * i**2, i) for i in (1, 2, 3)}


def test_the_value_is_the_same_whether_computed_or_stored(study, store):
    node = study.known["fitted"]
    one, two = (Evaluation(study, study.at("smoke"), store, progress=False) for _ in range(2))
    fresh, stored = one.value(node), two.value(node)
    assert np.array_equal(fresh["loss"], stored["loss"]) and CALLS.count("fit") == 1


def test_computed_again_the_same_agrees_and_something_else_is_a_conflict(study, store):
    first = run("small-study", "smoke", store=store, progress=False)
    again = run("small-study", "smoke", store=store, progress=False, again=True)
    assert again.record == first.record and not again.from_store
    node = study.known["squares"]
    values = Evaluation(study, study.at("smoke"), store, again=True, progress=False)
    assert values.key(node)  # kept: the function below does not count as other code

    def other(s, item) -> Square:
        return Square(-1.0, item)

    object.__setattr__(node, "function", other)
    with pytest.raises(FingerprintConflict, match="the same versions gave other numbers"):
        values.value(node)


def test_other_code_is_another_computation(study, store):
    node = study.known["squares"]
    values = Evaluation(study, study.at("smoke"), store, progress=False)
    before = values.key(node)

    def other(s, item) -> Square:
        return Square(s.factor * item**2 + 1, item)

    object.__setattr__(node, "function", other)
    assert Evaluation(study, study.at("smoke"), store, progress=False).key(node) != before


def test_missing_parts_say_why_and_pass_it_on(study, store):
    values = Evaluation(study, Settings(left_out=True), store, progress=False)
    assert values.value(study.known["optional"]) == Missing("left out here")
    squares = values.value(study.known["squares"][9])
    assert isinstance(squares, Missing) and "9" in squares.reason


def test_data_that_arrives_is_another_request(study, store, monkeypatch):
    first = run("small-study", "smoke", store=store, progress=False)
    for module in ("evaluation", "request"):
        found = sys.modules[f"dynascope.runner.{module}"]
        monkeypatch.setattr(found, "there", lambda name: True)
    study.charts.clear()
    later = run("small-study", "smoke", store=store, progress=False)
    assert not later.from_store and later.record != first.record
    assert later.claims[1].verdict == "holds"


def test_a_forecast_names_every_node_and_runs_nothing(study, store):
    found = {e.label: e for e in forecast(study, study.at("smoke"), store)}
    assert set(found) == {"descent", "squares", "fitted", "optional"} and not CALLS
    assert found["squares"].seconds == 2.0 and found["descent"].lanes == 1
    run("small-study", "smoke", store=store, progress=False)
    later = forecast(study, study.at("smoke"), store)
    assert sum(e.seconds for e in later) == 0 and all("stored as" in e.basis for e in later)
    again = {e.label: e for e in forecast(study, study.at("smoke"), store, again=True)}
    assert again["squares"].basis.startswith("record")
