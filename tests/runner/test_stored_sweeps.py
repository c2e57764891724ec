"""Sweeps in the store: what the whole replaces, and labels of axes that can be stored."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace

import jax
import numpy as np
import pytest

import dynascope as ds
from dynascope import dynamics, models, probes, tasks
from dynascope.core.plain import fingerprint
from dynascope.engine.experiment import make_experiment
from dynascope.runner import recorded_run, run_experiment
from dynascope.store import Store
from dynascope.store.manifest import NAME


@pytest.fixture
def killed(monkeypatch):
    """Runs the groups of a sweep and ends before the whole is stored."""

    def dies(*args):
        raise RuntimeError("killed")

    def run(experiment, store):
        with monkeypatch.context() as patch:
            patch.setattr(sys.modules["dynascope.runner.sweep"], "merge", dies)
            with pytest.raises(RuntimeError, match="killed"):
                run_experiment(experiment, store=store, progress=False)

    return run


def widths(*values):
    return make_experiment(
        tasks.IdentityMapping((1.0,), (0.05,)), models.TiedLinear(2, 0.1),
        dynamics.GradientDescent(0.01), steps=30, time=None, probes=[probes.Loss()],
        record=None, seeds=2, dtype=None,
        over={"model.width": list(values)} if len(values) > 1 else {},
    )  # fmt: skip


def test_a_run_that_was_stored_on_its_own_outlives_the_sweep_it_is_a_piece_of(tmp_path):
    store, alone = Store(tmp_path), widths(2)
    run_experiment(alone, store=store, progress=False)
    for again in (False, True):
        run_experiment(widths(2, 3), store=store, again=again, progress=False)
        assert store.find(fingerprint(alone)) and len(store.runs()) == 2


def test_a_block_that_was_stored_on_its_own_outlives_the_sweep_on_a_cluster(tmp_path, monkeypatch):
    """Two workers, played by this process: a block for each seed."""
    module = sys.modules["dynascope.runner.sweep"]
    monkeypatch.setattr(module, "workers", lambda: 2)
    monkeypatch.setattr(module, "run_everywhere", lambda sent, *args, before: (
        (i, run_experiment(block, progress=False)) for i, block in enumerate(sent)
    ))  # fmt: skip
    store, alone = Store(tmp_path), replace(widths(2), seeds=(1,))
    run_experiment(alone, store=store, progress=False)
    whole = run_experiment(widths(2, 3), store=store, executor="ray", progress=False)
    assert whole["seed"].values.tolist() == [0, 1]
    assert store.find(fingerprint(alone)) and len(store.runs()) == 2


def test_a_piece_of_another_sweep_is_not_forgotten(tmp_path, killed):
    """It has the same label; both sweeps are called sweep, and it is the first group of each."""
    store = Store(tmp_path)
    killed(widths(2, 3), store)
    run_experiment(widths(2, 4), store=store, progress=False)
    left = {e.part_of for e in store.runs()}
    assert left == {"", fingerprint(widths(2, 3))} and len(store.runs()) == 3
    run_experiment(widths(2, 3), store=store, progress=False)
    assert {e.part_of for e in store.runs()} == {""} and len(store.runs()) == 2


def test_pieces_of_before_are_known_by_their_label(tmp_path, killed):
    store = Store(tmp_path)
    killed(widths(2, 3), store)
    for path in store.records.glob(f"*/{NAME}"):
        plain = json.loads(path.read_text())
        del plain["part_of"], plain["study"]
        path.write_text(json.dumps(plain))
    run_experiment(widths(2, 3), store=store, progress=False)
    assert len(store.runs()) == 1


def test_the_groups_of_a_sweep_that_was_killed_are_replaced_by_the_whole(tmp_path, killed):
    store = Store(tmp_path)
    killed(widths(2, 3), store)
    assert len(store.runs()) == 2
    run_experiment(widths(2, 3), store=store, progress=False)
    assert [entry.id for entry in store.runs()] == [store.find(fingerprint(widths(2, 3)))]


@pytest.mark.parametrize(
    ("path", "values", "labels"),
    [
        ("dynamics.batch_size", [None, 4], ["None", "4"]),
        ("dynamics.learning_rate", [0.1, 1], [0.1, 1.0]),
        ("model.bias", [False, True], [False, True]),
        ("task.means", [(1.0, 2.0), (2.0, 2.0)], ["(1.0, 2.0)", "(2.0, 2.0)"]),
    ],
)  # fmt: skip
def test_the_labels_of_an_axis_are_of_one_kind_and_can_be_stored(tmp_path, path, values, labels):
    task = tasks.IdentityMapping((1.0, 2.0), (0.05, 0.05), samples_per_cluster=4)
    store = Store(tmp_path)
    first, stored = (
        ds.sweep(
            task, models.MLP(1, 2, bias=False), dynamics.Adam(0.1), over={path: values}, steps=2,
            probes=[probes.Loss()], store=store, progress=False,
        )
        for _ in range(2)
    )  # fmt: skip
    assert first[path].values.tolist() == stored[path].values.tolist() == labels
    assert np.array_equal(first["loss"].sel({path: labels[1]}), stored["loss"].isel({path: 1}))


def test_kept_parameters_are_found_on_an_axis_of_none_and_a_number():
    """Its labels are text; the number of samples changes what is compiled."""
    axis = "task.samples_per_cluster"
    run = ds.sweep(
        tasks.IdentityMapping((1.0, 2.0), (0.1, 0.1)), models.Linear(0.1),
        dynamics.GradientDescent(0.01), steps=2, probes=[probes.Loss()],
        keep=ds.record.Keep(at=(2,)), over={axis: [None, 4]}, progress=False,
    )  # fmt: skip
    assert run[axis].values.tolist() == ["None", "4"]
    lane = run.sel({axis: "4", "seed": 0})
    first, *_ = jax.tree.leaves(ds.engine.kept_parameters(lane, 2))
    flat = lane["kept_parameters"].values.ravel()
    assert np.array_equal(first.ravel(), flat[: first.size]) and np.isfinite(first).all()


@pytest.mark.parametrize("values", [(2,), (2, 3)])
def test_a_run_carries_the_record_that_was_written_or_read(tmp_path, values):
    """Not the newest of its fingerprint: what is computed again and agrees with another is that."""
    store, experiment = Store(tmp_path), widths(*values)
    first = recorded_run(experiment, store=store, progress=False)
    assert first.record == store.find(fingerprint(experiment))
    beside = store.records / f"{first.record}-2"  # of other versions, and newer
    shutil.copytree(store.records / first.record, beside)
    plain = json.loads((beside / NAME).read_text())
    plain["attrs"]["versions"] = {"jax": "99"}
    plain["created"] = "2999-01-01T00:00:00+00:00"
    (beside / NAME).write_text(json.dumps(plain))
    assert store.find(fingerprint(experiment)) == beside.name
    again = recorded_run(experiment, store=store, again=True, progress=False)
    assert again.record == first.record
    assert recorded_run(experiment, store=store, progress=False).record == beside.name
    assert recorded_run(experiment, progress=False).record is None
