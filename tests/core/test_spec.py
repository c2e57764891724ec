"""Specs: every field counts, nothing is lost, bad values are named."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynascope import dynamics, models, probes, tasks
from dynascope.core.errors import BadInput, UnknownName
from dynascope.core.leaves import leaves, skeleton, with_leaves
from dynascope.core.paths import get_path, set_path
from dynascope.core.plain import fingerprint, from_plain, to_plain
from dynascope.core.spec import Spec
from dynascope.engine import Experiment, execute
from dynascope.engine.record import At, Evenly, Every, LogSpaced

number = st.floats(0.01, 5.0)


@st.composite
def identity_mappings(draw):
    s = draw(st.integers(1, 3))
    samples = draw(st.sampled_from([None, 4]))
    return tasks.IdentityMapping(
        means=draw(st.lists(number, min_size=s, max_size=s)),
        scales=draw(st.lists(number, min_size=s, max_size=s)),
        dimension=draw(st.integers(s, 4)),
        origin=draw(st.booleans()),
        rotated=draw(st.booleans()),
        samples_per_cluster=samples,
        reduction=draw(st.sampled_from(["eq2.1", "mean"])),
        scale_is=draw(st.sampled_from(["deviation", "variance"])),
        moment=draw(st.sampled_from(["A", "A^2"])) if samples is None else "A",
    )


some_model = st.one_of(
    st.builds(models.Linear, init_scale=number),
    st.builds(
        models.TiedLinear,
        width=st.integers(1, 4),
        init_scale=number,
        init=st.sampled_from(["gaussian", "uniform"]),
    ),
    st.builds(
        models.MLP,
        depth=st.integers(1, 3),
        width=st.integers(1, 4),
        activation=st.just("linear"),
        bias=st.booleans(),
    ),
)
some_rate = st.floats(1e-4, 0.05)
some_dynamics = st.one_of(
    st.builds(dynamics.GradientDescent, some_rate),
    st.builds(dynamics.Momentum, some_rate, momentum=st.floats(0, 0.9), nesterov=st.booleans()),
    st.builds(dynamics.Adam, some_rate),
    st.builds(dynamics.GradientDescent, st.builds(dynamics.Cosine, some_rate, st.integers(1, 9))),
)
some_record = st.one_of(
    st.builds(Evenly, st.integers(2, 9)),
    st.builds(Every, st.integers(1, 4).map(float)),
    st.builds(LogSpaced, st.integers(2, 5)),
    st.builds(At, st.lists(st.integers(0, 6).map(float), max_size=3)),
)


@st.composite
def experiments(draw):
    return Experiment(
        draw(identity_mappings()),
        draw(some_model),
        draw(some_dynamics),
        (probes.Loss(), probes.TestLoss(), probes.OutputAt(), probes.InputJacobian()),
        steps=draw(st.integers(6, 9)),
        record=draw(some_record),
        seeds=draw(st.lists(st.integers(0, 99), min_size=1, max_size=3, unique=True)),
        dtype=draw(st.sampled_from(["float32", "float64"])),
    )


@given(experiments())
@settings(max_examples=100, deadline=None)
def test_a_spec_survives_a_round_trip(experiment):
    again = from_plain(to_plain(experiment))
    assert again == experiment
    assert fingerprint(again) == fingerprint(experiment)


@given(experiments(), experiments())
@settings(max_examples=100, deadline=None)
def test_different_specs_have_different_fingerprints(one, other):
    assert (one == other) == (fingerprint(one) == fingerprint(other))


def _other(value):
    """Another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value * 2 + 1
    if isinstance(value, str):
        return value + "x"
    if value is None:
        return 1
    if isinstance(value, tuple):
        return (*value, 1.0)
    return "something else"


@given(experiments())
@settings(max_examples=50, deadline=None)
def test_every_field_changes_the_fingerprint(experiment):
    """Field by field, in every nested spec, without the checks that would refuse some."""

    def variants(spec):
        for field in dataclasses.fields(spec):
            value = getattr(spec, field.name)
            changed = list(variants(value)) if isinstance(value, Spec) else [_other(value)]
            for new in changed:
                copy = object.__new__(type(spec))
                for f in dataclasses.fields(spec):
                    v = new if f.name == field.name else getattr(spec, f.name)
                    object.__setattr__(copy, f.name, v)
                yield copy

    prints = [fingerprint(v) for v in variants(experiment)]
    assert len(set(prints)) == len(prints)
    assert fingerprint(experiment) not in prints


@given(experiments())
@settings(max_examples=4, deadline=None)
def test_no_valid_spec_crashes(experiment):
    _runs_to_the_end(experiment)


@pytest.mark.slow
@given(experiments())
@settings(max_examples=60, deadline=None)
def test_no_valid_spec_crashes_at_length(experiment):
    _runs_to_the_end(experiment)


def _runs_to_the_end(experiment):
    run = execute(experiment, progress=False)
    assert run.sizes["seed"] == len(experiment.seeds)
    assert int(run["step"][-1]) == experiment.steps
    finite = np.isfinite(run["test_loss"].values).all(axis=-1)
    assert (finite | run["diverged"].values).all()


def test_whole_numbers_and_floats_are_the_same_setting():
    assert fingerprint(tasks.IdentityMapping((1, 2), (0.05, 0.05))) == fingerprint(
        tasks.IdentityMapping([1.0, 2.0], np.array([0.05, 0.05]))
    )


def test_leaves_are_put_back_where_they_came_from():
    task = tasks.IdentityMapping((1.0, 2.0), (0.1, 0.2))
    found = leaves(task)
    assert set(found) == {"means", "scales"}
    moved = with_leaves(task, {k: v * 2 for k, v in found.items()})
    assert np.allclose(moved.means, (2, 4)) and moved.origin is task.origin


def test_skeletons_differ_exactly_when_more_than_numbers_differ():
    base = models.TiedLinear(3, 0.1)
    assert skeleton(base) == skeleton(models.TiedLinear(3, 0.7))
    assert skeleton(base) != skeleton(models.TiedLinear(4, 0.1))
    assert skeleton(base) != skeleton(models.TiedLinear(3, 0.1, "uniform"))


def test_paths_read_and_write():
    task = tasks.IdentityMapping((1.0, 2.0), (0.1, 0.2))
    assert get_path(task, "means[1]") == 2.0
    assert set_path(task, "means[1]", 3).means == (1.0, 3.0)
    with pytest.raises(BadInput, match=r"means\[1\]: got -3"):
        set_path(task, "means[1]", -3)
    with pytest.raises(BadInput, match="did you mean 'means'"):
        set_path(task, "meens", 1)
    with pytest.raises(BadInput, match="index below 2"):
        set_path(task, "means[7]", 1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: dynamics.GradientDescent("fast"), "learning_rate: got 'fast', expected"),
        (lambda: dynamics.GradientDescent(float("nan")), "not NaN"),
        (lambda: dynamics.GradientDescent(0.0), "above 0"),
        (lambda: models.TiedLinear(2.5), "whole number"),
        (lambda: models.TiedLinear(2, 0.1, "gausian"), "did you mean 'gaussian'"),
        (lambda: tasks.IdentityMapping((1.0,), (-1.0,)), r"scales\[0\]: got -1.0"),
        (lambda: tasks.IdentityMapping((1.0,), (float("nan"),)), "NaN"),
        (lambda: tasks.IdentityMapping((1.0, 2.0), (0.1, 0.1), dimension=1), "dimension: got 1"),
    ],
)
def test_bad_values_are_refused_in_one_line(make, message):
    with pytest.raises(BadInput, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_unknown_spec_names_the_nearest():
    with pytest.raises(UnknownName, match=r"tasks\.IdentityMapping"):
        from_plain({"spec": "tasks.IdentityMaping"})


@dataclass(frozen=True)
class Holder(Spec):
    function: object = None


SCALE = 1.0


def test_functions_are_told_apart_by_code_closures_and_globals(monkeypatch):
    def make(c):
        return lambda x: x * c

    assert fingerprint(Holder(make(1))) == fingerprint(Holder(make(1)))
    assert fingerprint(Holder(make(1))) != fingerprint(Holder(make(2)))
    assert fingerprint(Holder(lambda x: x + 1)) != fingerprint(Holder(lambda x: x - 1))
    arrays = [make(jnp.arange(3)), make(jnp.arange(3) + 1)]
    assert fingerprint(Holder(arrays[0])) != fingerprint(Holder(arrays[1]))

    def reads(x):
        return SCALE * x

    before = fingerprint(Holder(reads))
    monkeypatch.setattr(f"{__name__}.SCALE", 2.0)
    assert fingerprint(Holder(reads)) != before
    with pytest.raises(BadInput, match="rebuild this spec in Python"):
        from_plain(to_plain(Holder(jax.nn.relu)))


@dataclass(frozen=True)
class Renamed(Spec, tag="tests.Old"):
    """A class that records know by an earlier name."""

    rate: float = 1.0


def test_a_renamed_class_keeps_the_name_that_records_know():
    assert to_plain(Renamed())["spec"] == "tests.Old"
    assert from_plain({"spec": "tests.Old", "rate": 2.0}) == Renamed(2.0)
    assert models.FunctionModel.spec_tag == "models.Pair"
