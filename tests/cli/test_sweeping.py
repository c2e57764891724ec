"""`dynascope sweep`: a grid, its summary, and what every option changes."""

from __future__ import annotations

import json
import sys

import pytest

from dynascope.core.errors import BadInput
from dynascope.core.plain import from_plain
from dynascope.store import Store

SMALL = ("--steps", "40", "--seeds", "2", "--set", "record.points=5")


def test_out_of_the_box_it_sweeps_the_swing_by_setting(filled, monkeypatch):
    folder, _, answer = filled
    monkeypatch.setenv("DYNASCOPE_HOME", str(folder))
    spec = from_plain(Store().manifest(Store().runs("run")[0].id)["spec"])
    assert spec.task.means == (1.0, 1.5) and spec.model.init == "uniform"
    assert spec.over == (("model.init_scale", (0.1, 0.2)),)
    head, _, *rows = answer.out.splitlines()
    assert head.split("  ")[0] == "model.init_scale" and "seeds that swing by" in head
    assert [row.split()[0] for row in rows[:2]] == ["0.1", "0.2"]
    assert rows[-2].startswith("report: ") and rows[-1].startswith("record: ")
    assert " of 2 (95 %: " in rows[0] and "n = 2)" in rows[0]


def test_json_has_a_point_for_every_place_of_the_grid(cli, full, ids, monkeypatch):
    monkeypatch.setattr(sys.modules["dynascope.runner.sweep"], "execute", None)  # it is stored
    answer = cli("sweep", "--over", "model.init_scale=0.1,0.2", *SMALL, "--json")
    found = json.loads(answer.out)
    assert answer.out.count("\n") == 1 and answer.err == ""
    assert list(found) == ["record", "report", "seconds", "from_store", "points", "axes"]
    assert found["record"] == ids["sweep"] and found["from_store"] is True
    assert found["axes"] == {"model.init_scale": [0.1, 0.2]}
    run = Store().load(ids["sweep"])
    for i, point in enumerate(found["points"]):
        assert point["at"] == {"model.init_scale": [0.1, 0.2][i]}
        assert point["diverged"] == 0
        last = run["test_loss"].isel({"model.init_scale": i, "step": -1}).values
        assert point["final"]["test_loss"]["value"] == pytest.approx(last.mean(), rel=1e-6)
        assert point["final"]["test_loss"]["n"] == point["swings_by"]["n"] == 2


def test_every_piece_can_be_named_and_set(cli, home, monkeypatch):
    asked = []

    def stop(experiment, **_):
        asked.append(experiment)
        raise BadInput("far enough")

    monkeypatch.setattr("dynascope.runner.recorded_run", stop)
    answer = cli(
        "sweep", "--task", "IdentityMapping", "--model", "MLP", "--dynamics", "Momentum",
        "--set", "dynamics.learning_rate=0.02", "--set", "model.activation=linear",
        "--set", "model.width=2", "--set", "model.bias=false", "--set", "task.means=[1,2]",
        "--over", "task.means[0]=0.5:1.5:3", "--probe", "TestLoss", "--probe", "InputJacobian",
        *SMALL, "--set", "dtype=float64",
    )  # fmt: skip
    assert "far enough" in answer.err
    (spec,) = asked
    assert type(spec.model).__name__ == "MLP" and spec.model.width == 2
    assert spec.dynamics.learning_rate == 0.02 and type(spec.dynamics).__name__ == "Momentum"
    assert spec.task.means == (1.0, 2.0) and spec.dtype == "float64"
    assert [type(p).__name__ for p in spec.probes] == ["TestLoss", "InputJacobian"]
    assert (spec.steps, len(spec.seeds), spec.record.points) == (40, 2, 5)
    assert spec.over == (("task.means[0]", (0.5, 1.0, 1.5)),)


def test_flows_have_a_time(cli, home):
    words = ["sweep", "--dynamics", "GradientFlow", "--dry-run", "--json"]
    assert json.loads(cli(*words).out)["nodes"][0]["time"] == 20.0
    assert json.loads(cli(*words, "--time", "3").out)["nodes"][0]["time"] == 3.0
    assert "time=" in cli(*words, "--steps", "10").err


def test_seeds_that_diverge_are_counted_and_left_out(cli, home):
    words = ["sweep", "--over", "model.init_scale=0.1,1e20", *SMALL]
    tame, wild = json.loads(cli(*words, "--json").out)["points"]
    assert tame["diverged"] == 0 and tame["final"]["loss"]["n"] == 2
    assert wild["diverged"] == 2
    loss = wild["final"]["loss"]
    assert loss["value"] is None and loss["low"] is None and loss["n"] == 0
    assert "2 seeds" in cli(*words).out


def test_a_shape_axis_becomes_programs_of_its_own(cli, home):
    plan = cli("sweep", "--over", "model.width=2,3", *SMALL, "--dry-run", "--json")
    (found,) = json.loads(plan.out)["nodes"]
    assert found["programs"] == 2 and found["lanes"] == 4
    assert not home.exists()


def test_again_computes_once_more_and_agrees(cli, full, ids):
    words = ["sweep", "--over", "model.init_scale=0.1,0.2", *SMALL, "--json"]
    again = json.loads(cli(*words, "--again").out)
    assert again["from_store"] is False and again["record"] == ids["sweep"]


def test_an_unknown_executor_is_told_in_one_line(cli, home):
    done = cli("sweep", "--over", "model.init_scale=0.1", "--steps", "1", "--executor", "rey")
    assert done.code == 2 and "did you mean 'ray'" in done.err and done.err.count("\n") == 1


def test_a_plan_that_does_not_fit_into_memory_is_refused(cli, monkeypatch):
    monkeypatch.setenv("DYNASCOPE_MEMORY", "100K")
    said = cli("sweep", "--over", "model.width=2,30000", *SMALL, "--dry-run")
    assert said.code == 2 and "of memory, 100 KB are free; lower" in said.err
