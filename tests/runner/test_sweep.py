"""Sweeps: every point equals its own run, shapes split into groups, the store answers."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import dynascope as ds
from dynascope import dynamics, models, probes, record, tasks, theories
from dynascope.core import quantities, spec
from dynascope.core.errors import BadInput
from dynascope.core.plain import fingerprint
from dynascope.core.run import Run
from dynascope.engine import execute
from dynascope.engine.experiment import make_experiment
from dynascope.probes.base import Probe
from dynascope.runner import run_experiment
from dynascope.runner.cluster import blocks
from dynascope.runner.split import merge, split
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


class OwnLoss(Probe):
    """The training loss, by a class of the user's own."""

    quantity = quantities.LOSS

    def measure(self, snapshot):
        return snapshot.task.loss(snapshot.predict, snapshot.samples)


class Forgotten(Probe):
    """Measures something of which no theory knows; its class may be gone."""

    name = "zero"

    def measure(self, snapshot):
        return 0.0


def test_a_theory_predicts_what_a_probe_of_ones_own_measures(monkeypatch):
    given = (OwnLoss(name="mine"), Forgotten())
    experiment = make_experiment(
        TASK, models.Linear(0.3), dynamics.GradientDescent(1e-4), steps=400, time=None,
        record=None, seeds=2, dtype="float64", over={}, stop=(), keep=None, probes=given,
    )  # fmt: skip
    run = Run(run_experiment(experiment, progress=False), experiment)
    monkeypatch.delitem(spec._CLASSES, Forgotten.spec_tag)
    alike = theories.OneLayer().predict(TASK, models.Linear(0.3), like=run.dataset)
    for predicted in (theories.OneLayer().predict(run), alike):
        assert set(predicted.data_vars) == {"mine"}
        assert np.abs(predicted["mine"] - run["mine"]).max() < 2e-4


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


STOPPED = {
    "steps": 60, "seeds": 2, "stop": record.Stop("loss", below=0.3), "probes": [probes.Loss()],
    "progress": False, "record": record.Every(2),
}  # fmt: skip


def test_a_group_whose_lanes_have_all_stopped_goes_on_as_it_stands():
    """Each width ends on its own; the later rows of the sooner one are its last one again."""
    rule, widths = dynamics.GradientDescent(0.1), [2, 12]
    swept = ds.sweep(TASK, models.TiedLinear(2, 0.3), rule, over={"model.width": widths}, **STOPPED)
    ends = []
    for width in widths:
        alone = ds.simulate(TASK, models.TiedLinear(width, 0.3), rule, **STOPPED)
        mine, end = swept["loss"].sel({"model.width": width}), alone.sizes["step"]
        assert (mine.values[:, :end] == alone["loss"].values).all()
        assert (mine.values[:, end:] == mine.values[:, [end - 1]]).all()
        ends.append(end)
    assert ends[0] != ends[1] and swept.sizes["step"] == max(ends)
    assert swept["time"].dims == ("step",)
    assert np.allclose(swept["time"], 0.1 * swept["step"])


def test_a_lane_that_diverged_stays_without_numbers_beside_longer_groups():
    swept = ds.sweep(
        TASK, models.TiedLinear(2, 0.3), dynamics.GradientDescent(0.1),
        over={"model.width": [2, 12], "dynamics.learning_rate": [0.1, 50.0]}, **STOPPED,
    )  # fmt: skip
    lost = swept["diverged"].values
    assert lost[:, 1].all() and not lost[:, 0].any()
    assert (np.isnan(swept["loss"].values[..., -1]) == lost).all()
    rates = swept["dynamics.learning_rate"]
    assert swept["time"].dims == ("dynamics.learning_rate", "step")
    assert np.allclose(swept["time"], rates * swept["step"])


def test_blocks_of_seeds_that_stop_are_the_joint_run():
    for rule in (0.02, dynamics.Multiple("loss", 0.03)):
        experiment = make_experiment(
            TASK, models.TiedLinear(3, 0.05), dynamics.GradientDescent(rule), steps=300, time=None,
            probes=[probes.Loss()], record=record.Every(1), seeds=2, dtype="float64",
            stop=STOPPED["stop"],
        )  # fmt: skip
        whole = execute(experiment, progress=False)
        parts = [({}, execute(b, progress=False)) for b in blocks(experiment, 2)]
        assert len({part.sizes["step"] for _, part in parts}) == 2
        merged = merge(experiment, parts)
        for name in whole.variables:
            assert merged[name].dims == whole[name].dims, name
            if whole[name].dtype.kind == "f":
                assert np.allclose(merged[name], whole[name], rtol=1e-9), name
            else:
                assert (merged[name].values == whole[name].values).all(), name


def test_a_record_by_changes_is_refused_where_shapes_are_compiled_apart():
    options = OPTIONS | {"record": record.OnChange()}
    with pytest.raises(BadInput, match=r"along model\.width .*record\.Every") as caught:
        ds.sweep(
            TASK, models.TiedLinear(2, 0.1), dynamics.GradientDescent(0.01),
            over={"model.width": [2, 3]}, **options,
        )  # fmt: skip
    assert "\n" not in str(caught.value)


class Inputs(probes.Probe):
    """One number an input, along an axis that other probes have too."""

    name = "inputs"

    def dims(self, task):
        return ("rank",)

    def measure(self, snapshot):
        return snapshot.samples[0][0]


def test_an_axis_that_two_probes_share_in_one_group_alone_is_each_ones_own():
    """Eigenvalues of a kernel, and something of one number an input, of which there are 2 or 4."""
    x = np.random.default_rng(0).normal(size=(6, 4))
    parts = [
        ds.simulate(
            tasks.ArraySamples(x[:, :width], x[:, 0]), models.MLP(width=3),
            dynamics.GradientDescent(0.1), steps=2, progress=False,
            probes=[probes.TangentKernelSpectrum(count=4), Inputs()],
        )
        for width in (2, 4)
    ]  # fmt: skip
    assert [part["inputs"].dims[-1] for part in parts] == ["inputs_rank", "rank"]
    changed = [({"model.width": width}, part) for width, part in zip((2, 4), parts, strict=True)]
    experiment = make_experiment(
        TASK, models.TiedLinear(2), dynamics.GradientDescent(0.1), steps=2, time=None, dtype=None,
        probes=[probes.Loss()], record=None, seeds=1, over={"model.width": [2, 4]},
    )  # fmt: skip
    merged = merge(experiment, changed)
    assert merged["inputs"].dims == ("model.width", "seed", "step", "inputs_rank")
    assert merged["tangent_kernel_spectrum"].dims[-1] == "rank"
    assert np.isnan(merged["inputs"].values[0, ..., 2:]).all()
    assert np.isfinite(merged["inputs"].values[1]).all()
