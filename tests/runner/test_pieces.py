"""Experiments from names."""

from __future__ import annotations

import pytest

from dynascope import dynamics, models, probes
from dynascope.core.errors import BadInput, UnknownName
from dynascope.core.spec import Spec
from dynascope.runner.pieces import PACKAGES, assemble, catalogue


@pytest.mark.parametrize("package", PACKAGES)
def test_a_catalogue_has_every_public_class_that_can_be_used(package):
    module, base = PACKAGES[package]
    found = catalogue(package)
    assert found and all(issubclass(c, base) and c.__doc__ for c in found.values())
    assert not {"Task", "Model", "Dynamics", "Descent", "Probe", "Theory"} & set(found)
    public = {n for n in module.__all__ if n[0].isupper()}
    specs = {n for n in public if issubclass(getattr(module, n), Spec)}
    assert set(found) <= specs


def test_catalogues_know_the_nearest_room():
    with pytest.raises(UnknownName, match="did you mean 'models'"):
        catalogue("model")


def test_nothing_named_is_the_swing_by_setting():
    found = assemble(over={"model.init_scale": [0.1, 0.2]})
    assert found.task.means == (1.0, 1.5) and found.model == models.TiedLinear(3, 0.2, "uniform")
    assert found.dynamics == dynamics.GradientDescent(0.005)
    assert (found.steps, found.time, len(found.seeds)) == (4000, None, 32)
    assert found.probes == (probes.Loss(), probes.TestLoss())


def test_a_named_class_begins_with_its_own_defaults_and_takes_what_it_needs():
    found = assemble({"dynamics": "SGD", "model": "Linear"},
                     {"dynamics.learning_rate": 0.1, "task.samples_per_cluster": 200})  # fmt: skip
    assert found.dynamics == dynamics.SGD(0.1) and found.model == models.Linear()
    with pytest.raises(
        BadInput, match=r"SGD needs learning_rate; set dynamics.learning_rate=\.\.\."
    ):
        assemble({"dynamics": "SGD"})


def test_naming_the_default_class_keeps_its_setting():
    assert assemble({"task": "IdentityMapping"}) == assemble()


def test_flows_get_a_time_and_steps_an_error():
    flow = assemble({"dynamics": "GradientFlow"})
    assert (flow.steps, flow.time, flow.dtype) == (None, 20.0, "float64")
    with pytest.raises(BadInput, match="GradientFlow, which has no steps"):
        assemble({"dynamics": "GradientFlow"}, steps=10)


def test_changes_reach_every_field_of_the_experiment():
    found = assemble(changes={"record.points": 7, "dtype": "float64", "seeds": (4, 2)})
    assert (found.record.points, found.dtype, found.seeds) == (7, "float64", (4, 2))
    with pytest.raises(BadInput, match=r"dynamics\.learning_rate: got 'fast'"):
        assemble({"dynamics": "Adam"}, {"dynamics.learning_rate": "fast"})
    with pytest.raises(UnknownName, match="did you mean 'Loss'"):
        assemble(probes=["Los"])


def test_what_a_class_needs_may_be_an_axis():
    found = assemble({"dynamics": "Adam"}, over={"dynamics.learning_rate": [0.001, 0.01]})
    assert found.dynamics.learning_rate == 0.001
    with pytest.raises(BadInput, match="Adam needs learning_rate"):
        assemble({"dynamics": "Adam"}, over={"model.width": [2, 3]})
