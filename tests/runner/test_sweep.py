"""Sweeps: every point equals its own run, shapes split into groups, the store answers."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import dynascope as ds
from dynascope import dynamics, models, probes, record, tasks, theories
from dynascope.core.errors import BadInput
from dynascope.core.plain import fingerprint
from dynascope.engine.experiment import make_experiment
from dynascope.runner import run_experiment
from dynascope.runner.split import split
from dynascope.store import Store

TASK = tasks.IdentityMapping(means=(1.0, 2.0), scales=(0.05, 0.05), dimension=2)
OPTIONS = {
    "steps": 60,
    "seeds": 2,
    "record": record.Every(20),
    "dtype": "float64",
    "progress": False,
}


def test_dims_are_the_paths_as_written_and_points_equal_their_own_runs():
    over = {
        "task.means[0]": [0.5, 1.5],
        "model.width": [1, 3],
        "dynamics.learning_rate": [0.01, 0.05],
    }
    swept = ds.sweep(
        TASK, models.TiedLinear(2, 0.1), dynamics.GradientDescent(0.01), over=over, **OPTIONS
    )
    assert swept["test_loss"].dims == (*over, "seed", "step")
    assert swept["time"].dims == ("dynamics.learning_rate", "step")
    alone = ds.simulate(
        tasks.IdentityMapping(means=(1.5, 2.0), scales=(0.05, 0.05), dimension=2),
        models.TiedLinear(3, 0.1), dynamics.GradientDescent(0.05),
        probes=[probes.TestLoss()], **OPTIONS,
    )  # fmt: skip
    point = swept.sel({"task.means[0]": 1.5, "model.width": 3, "dynamics.learning_rate": 0.05})
    assert np.allclose(point["test_loss"], alone["test_loss"], rtol=1e-12)
    assert np.allclose(point["time"], alone["time"])


def test_whole_numbers_and_floats_are_the_same_axis():
    def axes(values):
        return make_experiment(
            TASK, models.TiedLinear(2, 0.1), dynamics.GradientDescent(0.01), steps=1, time=None,
            probes=[probes.Loss()], record=None, seeds=1, dtype=None,
            over={"model.init_scale": values},
        )  # fmt: skip

    assert fingerprint(axes([1, 2])) == fingerprint(axes((1.0, 2.0)))


def test_only_shapes_and_switches_are_compiled_apart():
    experiment = make_experiment(
        TASK, models.TiedLinear(2, 0.1), dynamics.GradientDescent(0.01), steps=10, time=None,
        probes=[probes.Loss()], record=None, seeds=1, dtype=None,
        over={
            "model.init_scale": [0.1, 0.2], "model.width": [1, 2],
            "model.init": ["gaussian", "uniform"],
        },
    )  # fmt: skip
    groups = split(experiment)
    assert len(groups) == 4
    assert all(dict(group.over) == {"model.init_scale": (0.1, 0.2)} for _, group in groups)


def test_arrays_of_different_size_are_padded_with_nan():
    swept = ds.sweep(
        TASK, models.Linear(0.1), dynamics.GradientDescent(0.01), over={"task.dimension": [2, 3]},
        probes=[probes.OutputAt()], **OPTIONS,
    )  # fmt: skip
    values = swept["output_at"].sel({"task.dimension": 2})
    assert values.sizes["output"] == 3
    assert np.isnan(values.values[..., 2]).all() and np.isfinite(values.values[..., :2]).all()


def test_theory_follows_the_axes_of_a_sweep():
    """M20 in small: the closed form over a sweep of task and rate."""
    model = models.Linear(0.3)
    swept = ds.sweep(
        TASK, model, dynamics.GradientDescent(1e-4), steps=400, seeds=2, dtype="float64",
        over={"task.scales[0]": [0.1, 1.0], "dynamics.learning_rate": [1e-4, 2e-4]},
        probes=[probes.Loss(), probes.TestLoss(), probes.OutputAt((1.0, 0.0), name="at_one")],
        progress=False,
    )  # fmt: skip
    theory = theories.OneLayer().predict(TASK, model, like=swept)
    for name in ("loss", "test_loss", "at_one"):
        assert theory[name].dims == swept[name].dims
        assert np.abs(theory[name] - swept[name]).max() < 2e-4  # Euler at 2e-4


def test_a_theory_without_a_run_takes_seeds_and_times():
    theory = theories.OneLayer().predict(TASK, models.Linear(0.0), seeds=2, times=[0.0, 1.0, 9.0])
    a = 0.05**2 + np.array([0.5, 2.0])
    assert np.allclose(theory["output_at"][0, 1], (1 - np.exp(-a)) * [1, 2])
    with pytest.raises(BadInput, match="seeds= and times="):
        theories.OneLayer().predict(TASK, models.Linear(0.0))
    with pytest.raises(BadInput, match="TiedLinear"):
        theories.SymmetricTwoLayer().predict(TASK, models.Linear(0.0), seeds=1, times=[0.0, 1.0])


def test_the_store_answers_the_second_time_and_again_agrees(tmp_path, monkeypatch):
    store = Store(tmp_path)
    experiment = make_experiment(
        TASK, models.TiedLinear(2, 0.1), dynamics.GradientDescent(0.01), steps=30, time=None,
        probes=[probes.Loss()], record=None, seeds=2, dtype=None, over={"model.width": [1, 2]},
    )  # fmt: skip
    first = run_experiment(experiment, store=store, progress=False)
    assert len(store.runs()) == 1  # the groups were merged into one record
    with monkeypatch.context() as patch:
        patch.setattr(
            sys.modules["dynascope.runner.sweep"], "execute", None
        )  # computing would fail
        second = run_experiment(experiment, store=store, progress=False)
    assert (first["loss"].values == second["loss"].values).all()
    run_experiment(experiment, store=store, again=True, progress=False)
    assert len(store.runs()) == 1


@pytest.mark.parametrize(
    ("over", "message"),
    [
        ({"model.widht": [1]}, "did you mean 'width'"),
        ({"task.means[5]": [1.0]}, "index below 2"),
        ({"model.init_scale": []}, "at least one value"),
        ({"model.init_scale": [-1.0]}, "init_scale"),
        ({"seeds": [1]}, "task"),
    ],
)
def test_axes_that_do_not_exist_are_refused(over, message):
    with pytest.raises(BadInput, match=message):
        ds.sweep(
            TASK, models.TiedLinear(2, 0.1), dynamics.GradientDescent(0.01), over=over, **OPTIONS
        )
