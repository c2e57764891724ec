"""All pairs of what the catalogue has: they can be traced, or they are refused by name."""

from __future__ import annotations

import dataclasses
from functools import cache

import jax
import pytest

from dynascope import dynamics, models, probes, simulate, tasks
from dynascope.core.errors import BadInput, DynascopeError, MissingData
from dynascope.engine import Experiment
from dynascope.engine.fitting import check_kinds
from dynascope.runner.pieces import catalogue
from dynascope.runner.work import trace
from dynascope.runtime.precision import precision

RULE = dynamics.GradientDescent(0.01)


@cache
def usual(package):
    """Every piece of a package that needs no settings, by name; walks the registry."""
    found = {}
    for name, cls in catalogue(package).items():
        missing = dataclasses.MISSING
        if all(f.default is not missing or f.default_factory is not missing
               for f in dataclasses.fields(cls) if f.init):  # fmt: skip
            try:
                found[name] = cls()
            except DynascopeError:  # some default is for one data set only
                continue
    return found


def attempt(task, model, *measured) -> str | None:
    """None if the combination can be traced, else the one line that refuses it."""
    try:
        setup = Experiment(task, model, RULE, measured, 3).grid()[0]
        with precision("float32"):
            trace(setup, "float32")
    except MissingData:
        pytest.skip("its data set is not there")
    except DynascopeError as error:
        assert "\n" not in str(error)
        return str(error)
    return None


@pytest.mark.slow
@pytest.mark.parametrize("name", usual("tasks"))
def test_every_task_with_every_model_and_every_probe(name):
    task, refused, works = usual("tasks")[name], {}, []
    for other, model in usual("models").items():
        said = attempt(task, model, probes.Loss())
        (works.append(model) if said is None else refused.update({other: said}))
    for other, said in refused.items():
        assert other in said or "got" in said or name in said, "the refusal names what it is about"
    for probe in usual("probes").values():
        for model in works[:1]:
            said = attempt(task, model, probe)
            assert said is None or type(probe).__name__ in said or "got" in said


def test_what_a_task_offers_is_held_against_what_a_model_reads():
    with pytest.raises(BadInput, match=r"GIN cannot learn Blobs .*models that do: .*MLP"):
        check_kinds(tasks.Blobs(), models.GIN())
    with pytest.raises(BadInput, match=r"MLP cannot learn WalkCounting .*models that do: GIN"):
        check_kinds(tasks.WalkCounting(), models.MLP())
    with pytest.raises(BadInput, match=r"Transformer\(tokens=Words"):
        check_kinds(tasks.NextLetter(), models.MLP())
    with pytest.raises(BadInput, match=r"RecallLayer cannot learn NextLetter"):
        check_kinds(tasks.NextLetter(), models.RecallLayer())
    with pytest.raises(BadInput, match=r"models that do: RecallLayer, Transformer\(tokens=Words"):
        check_kinds(tasks.NoisyRecall(), models.MLP())
    with pytest.raises(BadInput, match=r"MLP cannot learn VectorDiffusion .*ConditionalMLP"):
        check_kinds(tasks.VectorDiffusion(), models.MLP())
    check_kinds(tasks.NoisyRecall(), models.RecallLayer())
    check_kinds(tasks.Blobs(), models.MLP())


def test_a_misfit_that_nobody_declared_is_named_too(monkeypatch):
    monkeypatch.setattr(tasks.Blobs, "offers", None)
    with pytest.raises(BadInput, match=r"GIN cannot learn Blobs \(.*Error.*\); models that do:"):
        simulate(tasks.Blobs(), models.GIN(), RULE, steps=1, probes=[probes.Loss()])


def test_a_probe_that_cannot_measure_is_named(monkeypatch):
    monkeypatch.setattr(probes.OutputAt, "needs", lambda *_: None)
    task = tasks.OneExample()
    monkeypatch.setattr(type(task), "test_input", lambda self: 1 / 0)
    with pytest.raises(BadInput, match="probe OutputAt cannot measure"):
        simulate(task, models.MLP(), RULE, steps=1, probes=[probes.Loss(), probes.OutputAt()])


def test_a_probe_that_needs_a_test_point_says_so():
    with pytest.raises(BadInput, match="probe OutputAt needs a task with a test point"):
        Experiment(tasks.Sphere(), models.MLP(), RULE, (probes.OutputAt(),), 3)


def test_a_model_around_another_reads_what_that_one_reads():
    task, layer = tasks.NoisyRecall(), models.RecallLayer()
    start = layer.build(task.input_size, task.output_size).init(jax.random.key(0))
    for around in (
        models.Linearized(layer),
        models.Quadratized(layer),
        models.continued(layer, start),
    ):
        check_kinds(task, around)
        with pytest.raises(BadInput, match="cannot learn Blobs"):
            check_kinds(tasks.Blobs(), around)
