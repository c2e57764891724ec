"""Names of a run: axes that two probes share, and names that a probe cannot have."""

from __future__ import annotations

import numpy as np
import pytest

import dynascope as ds
from dynascope import dynamics, models, probes, record, tasks
from dynascope.core.errors import BadInput, Interrupted
from dynascope.engine import drive, execution
from dynascope.probes import Probe

from .memory import Memory, same

X = np.random.default_rng(0).normal(size=(6, 3))
LABELS = tasks.ArraySamples(X, X[:, 0])
ROWS = tasks.IdentityMapping((1.0, 2.0), (0.05, 0.05))


class Named(Probe):
    """Two numbers along an axis with labels."""

    labels: tuple[str, ...] = ("a", "b")
    axis: str = "which"

    def dims(self, task):
        return (self.axis,)

    def coords(self, task):
        return {self.axis: list(self.labels)}

    def measure(self, snapshot):
        return snapshot.samples[0][0, : len(self.labels)]


class Others(Named):
    """The same with other labels."""

    labels = ("c", "d")


class Longer(Named):
    """One number more."""

    labels = ("a", "b", "c")


class Along(Named):
    """Along an axis of the run's own."""

    axis = "seed"


def run(*measured, task=LABELS, model=None, **options):
    settings = {"steps": 3, "probes": list(measured), "progress": False} | options
    rule = dynamics.GradientDescent(0.01)
    return ds.simulate(task, model or models.MLP(width=4), rule, **settings)


@pytest.mark.parametrize("other", [Others, Longer])
def test_an_axis_that_another_probe_has_otherwise_gets_the_name_in_front(other):
    found = run(Named(name="first"), other(name="second"))
    assert found["first"].dims == ("seed", "step", "which")
    assert found["second"].dims == ("seed", "step", "second_which")
    assert found["which"].values.tolist() == ["a", "b"]
    assert found["second_which"].values.tolist() == list(other.labels)


def test_an_axis_that_is_the_same_is_shared():
    found = run(Named(name="first"), Named(name="second"))
    assert found["first"].dims == found["second"].dims == ("seed", "step", "which")


def test_a_probe_alone_keeps_its_axes_but_those_of_the_run():
    assert run(Others(name="only"))["only"].dims[-1] == "which"
    assert run(Along(name="only"))["only"].dims == ("seed", "step", "only_seed")


@pytest.mark.slow
def test_probes_of_the_catalogue_that_share_an_axis_name():
    found = run(probes.TangentKernelSpectrum(count=4), probes.AGOPSpectrum(count=2))
    assert found["tangent_kernel_spectrum"].dims[-1] == "rank"
    assert found["agop_spectrum"].dims[-1] == "agop_spectrum_rank"
    found = run(probes.EdgeOfStability(0.01), probes.ResidualSplit())
    assert found["edge_of_stability"].sel(part="sharpness").size == 4
    assert found["residual_split"].sel(residual_split_part="top").size == 4


def test_axes_with_names_in_front_go_on_after_a_kill(monkeypatch):
    options = {"steps": 9, "record": record.Every(1)}
    measured = (Named(name="first"), Longer(name="second"))
    whole = run(*measured, **options)
    monkeypatch.setattr(drive, "CALL_SECONDS", 0.0)
    monkeypatch.setattr(execution, "APPEND_SECONDS", 0.0)
    sink = Memory(stop_after=4)
    with pytest.raises(Interrupted):
        run(*measured, sink=sink, **options)
    same(run(*measured, sink=sink, **options), whole)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("diverged", {}),
        ("diverged_step", {}),
        ("time", {}),
        ("seed", {}),
        ("step", {}),
        ("which", {}),
        ("stopped_by", {"stop": record.Stop("first", below=1.0)}),
        ("best_step", {"keep": record.Keep(at=(1,))}),
    ],
)
def test_a_name_that_the_run_has_for_something_else_is_refused(name, options):
    with pytest.raises(BadInput, match=f"probes: got '{name}', expected another name") as caught:
        run(probes.Loss(name="first"), Named(name="second"), probes.Loss(name=name), **options)
    assert "\n" not in str(caught.value)
