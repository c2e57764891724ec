"""Kept parameters: the right ones, in the form of the model, through a kill and the store."""

from __future__ import annotations

from functools import cache

import jax.numpy as jnp
import numpy as np
import pytest

import dynascope as ds
from compiling import quick  # tests is on the path
from dynascope import dynamics, models, probes, record, tasks
from dynascope.core.errors import BadInput, Interrupted
from dynascope.core.randomness import key_for
from dynascope.core.run import Run
from dynascope.engine import drive, execution
from dynascope.engine.experiment import make_experiment
from dynascope.engine.record import Keep
from dynascope.runner import run_experiment
from dynascope.store import Store

from .memory import Memory, same

ROWS = tasks.IdentityMapping((1.0, 2.0), (0.5, 0.5), samples_per_cluster=12)
MODEL = models.MLP(depth=2, width=4, activation="relu")
RULE = dynamics.SGD(0.3, 2)  # its loss goes up and down
LOSS = [probes.Loss()]


def run(**options):
    settings = {"steps": 60, "probes": LOSS, "seeds": 3, "progress": False} | options
    return ds.simulate(ROWS, MODEL, RULE, **settings)


@pytest.fixture(scope="module")
def free():
    """The same run, recorded at every step, nothing kept."""
    return run(record=record.Every(1))


@cache
def loss_by_hand(model):
    network = model.build(ROWS.input_size, ROWS.output_size)
    return quick(lambda params, key: ROWS.loss(network.bind(params), ROWS.samples(key)))


def loss_of(params, seed, model=MODEL):
    return float(loss_by_hand(model)(params, key_for(seed, "data")))


@pytest.mark.parametrize("highest", [False, True])
def test_the_best_is_the_best_of_the_recorded_and_the_others_are_those_of_their_steps(
    free, highest
):
    kept = run(keep=Keep(at=(60, 0, 7), best="loss", highest=highest), record=record.Every(2))
    every = free["loss"].values
    pick = np.argmax if highest else np.argmin
    assert kept["best_step"].values.tolist() == (2 * pick(every[:, ::2], axis=1)).tolist()
    assert kept["kept"].values.tolist() == [0, 7, 60]
    for seed in range(3):
        lane = kept.sel(seed=seed)
        for step in (0, 7, 60):  # 7 is not recorded
            got = loss_of(ds.kept_parameters(lane, step), seed)
            assert np.isclose(got, every[seed, step], rtol=1e-5)
        best = loss_of(ds.kept_parameters(lane, "best"), seed)
        assert np.isclose(best, every[seed, int(lane["best_step"])], rtol=1e-5)


def test_keeping_changes_no_number(free):
    kept = run(keep=Keep(at=(0, 7, 60), best="loss"), record=record.Every(1))
    same(free, kept[["loss", "diverged", "diverged_step"]])
    assert kept["best_step"].values.min() > 0 and (np.diff(free["loss"].values) > 0).any()


def test_what_is_kept_survives_a_kill(monkeypatch):
    options = {"keep": Keep(at=(0, 7, 8, 41), best="loss"), "record": record.Every(4)}
    whole = run(**options)
    monkeypatch.setattr(drive, "CALL_SECONDS", 0.0)
    monkeypatch.setattr(execution, "APPEND_SECONDS", 0.0)
    for appends in (2, 3, 4, 9):  # before and after a step that is kept
        sink = Memory(stop_after=appends)
        with pytest.raises(Interrupted) as stop:
            run(sink=sink, **options)
        assert "best_parameters" in stop.value.partial
        same(run(sink=sink, **options), whole)
    assert sum(p.sizes["kept"] for p in sink.parts) == 4  # each is handed over once


def test_what_is_kept_is_in_the_store(tmp_path):
    experiment = make_experiment(
        ROWS, MODEL, RULE, steps=20, time=None, probes=LOSS, record=None, seeds=2, dtype=None,
        keep=Keep(at=(5,), best="loss"),
    )  # fmt: skip
    store = Store(tmp_path)
    made = run_experiment(experiment, store=store, progress=False)
    [entry] = store.runs()
    found = store.load(entry.id)
    same(made, found)
    for step in (5, "best"):
        here = ds.kept_parameters(made.sel(seed=1), step)
        there = ds.kept_parameters(found.sel(seed=1), step)
        given = ds.kept_parameters(Run(found, experiment).isel(seed=1), step)
        assert loss_of(here, 1) == loss_of(there, 1) == loss_of(given, 1)


def test_lanes_of_a_sweep_have_the_shapes_of_their_own_models():
    swept = ds.sweep(
        ROWS, MODEL, RULE, steps=4, seeds=2, over={"model.width": [3, 5]}, probes=LOSS,
        keep=Keep(at=(4,), best="loss"), progress=False,
    )  # fmt: skip
    for width in (3, 5):
        lane = swept.sel({"model.width": width, "seed": 1})
        model = models.MLP(depth=2, width=width, activation="relu")
        params = ds.kept_parameters(lane, 4)
        assert params[0]["weight"].shape == (width, 2)
        assert np.isclose(loss_of(params, 1, model), lane["loss"].values[-1], rtol=1e-5)


def test_a_model_of_your_own_is_given_where_it_is_read():
    own = models.FunctionModel(lambda key: {"w": jnp.eye(2)}, lambda p, x: x @ p["w"])
    kept = ds.simulate(ROWS, own, RULE, steps=3, probes=LOSS, keep=Keep(at=(0,)), progress=False)
    assert np.array_equal(ds.kept_parameters(kept, 0, model=own)["w"], np.eye(2))
    with pytest.raises(BadInput, match="settings without code"):
        ds.kept_parameters(kept, 0)


def test_a_flow_keeps_at_recorded_times():
    task, start = tasks.IdentityMapping((1.0,), (0.0,)), models.Linear(initial_jacobian=((0.0,),))
    flow = ds.simulate(
        task, start, dynamics.GradientFlow(), time=2.0, record=record.At((0.5,)), probes=LOSS,
        keep=Keep(at=(0.5,)), progress=False,
    )  # fmt: skip
    assert np.allclose(ds.kept_parameters(flow, 0.5), 1 - np.exp(-0.5), rtol=1e-7)
    with pytest.raises(BadInput, match="recorded times"):
        ds.simulate(
            task, start, dynamics.GradientFlow(), time=2.0, record=record.At((0.5,)), probes=LOSS,
            keep=Keep(at=(0.7,)),
        )  # fmt: skip


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Keep(), "at= with steps, or best="),
        (lambda: run(keep=Keep(at=(61,))), "from 0 to 60"),
        (lambda: run(keep=Keep(at=(1.5,))), "whole numbers of steps"),
        (lambda: run(keep=Keep(best="test_loss")), "measures one number: loss"),
    ],
)
def test_what_cannot_be_kept_is_refused_in_one_line(make, message):
    with pytest.raises(BadInput, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_asking_for_what_was_not_kept_says_what_was(monkeypatch):
    kept = run(keep=Keep(at=(7,)), steps=10)
    for step, lane, message in (
        (8, kept.sel(seed=0), r"one of those kept: \[7\]"),
        (7, kept, "one lane"),
        ("best", kept.sel(seed=0), "Keep"),
    ):
        with pytest.raises(BadInput, match=message):
            ds.kept_parameters(lane, step)
    monkeypatch.setattr(drive, "RECORD_BYTES", 2000)
    with pytest.raises(BadInput, match="kept parameters"):
        run(keep=Keep(at=tuple(range(11))), steps=10, record=record.At(()))


def test_parameters_of_a_lane_that_had_diverged_are_not_numbers():
    kept = ds.simulate(
        ROWS, MODEL, dynamics.SGD(1e6, 2), steps=20, probes=LOSS, progress=False,
        keep=Keep(at=(0, 20)),
    )  # fmt: skip
    assert kept["diverged"].item() and 0 <= kept["diverged_step"].item() < 20
    assert np.isfinite(kept["kept_parameters"].sel(kept=0)).all()
    assert np.isnan(kept["kept_parameters"].sel(kept=20)).all()


def test_kept_is_the_average_that_is_measured_and_training_goes_on_from_the_weights(monkeypatch):
    options = {
        "steps": 30, "probes": LOSS, "seeds": 2, "progress": False, "record": record.Every(1),
        "keep": Keep(at=(0, 13, 30), best="loss"),
    }  # fmt: skip
    rule = dynamics.AdamW(0.1, batch_size=2, average=0.9)
    whole = ds.simulate(ROWS, MODEL, rule, **options)
    for seed in range(2):
        lane = whole.sel(seed=seed)
        for step in (0, 13, 30, "best"):
            got = loss_of(ds.kept_parameters(lane, step), seed)
            at = int(lane["best_step"]) if step == "best" else step
            assert np.isclose(got, lane["loss"].values[at], rtol=1e-5), step
    monkeypatch.setattr(drive, "CALL_SECONDS", 0.0)
    monkeypatch.setattr(execution, "APPEND_SECONDS", 0.0)
    sink = Memory(stop_after=14)
    with pytest.raises(Interrupted):
        ds.simulate(ROWS, MODEL, rule, sink=sink, **options)
    same(ds.simulate(ROWS, MODEL, rule, sink=sink, **options), whole)
