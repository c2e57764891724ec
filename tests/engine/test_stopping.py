"""Lanes that stop: at the exact step, marked, the others undisturbed, through a kill."""

from __future__ import annotations

import numpy as np
import pytest

import dynascope as ds
from dynascope import dynamics, models, probes, record, tasks
from dynascope.core.errors import BadInput, Interrupted
from dynascope.engine import drive, execution
from dynascope.engine.record import Keep, Stop

from .memory import Memory, same

TASK = tasks.IdentityMapping(means=(1.0, 2.0), scales=(0.05, 0.05), dimension=3)
MODEL = models.TiedLinear(width=3, init_scale=0.05)
FLOOR = 0.3


def run(rule=None, **options):
    settings = {
        "steps": 300, "probes": [probes.Loss(), probes.InputJacobian()], "seeds": 3,
        "progress": False, "record": record.Every(1),
    } | options  # fmt: skip
    return ds.simulate(TASK, MODEL, rule or dynamics.GradientDescent(0.02), **settings)


@pytest.fixture(scope="module")
def free():
    """The same run without rules."""
    return run()


def firsts(loss, bound):
    return np.argmax(loss < bound, axis=1)


def test_each_lane_stops_where_its_loss_first_is_below_and_stays_there(free):
    stopped = run(stop=Stop("loss", below=FLOOR))
    at = firsts(free["loss"].values, FLOOR)
    assert len(set(at)) == 3 and at.min() > 0
    assert stopped["stopped_step"].values.tolist() == at.tolist()
    assert set(stopped["stopped_by"].values) == {"loss below 0.3"}
    assert stopped["step"].values.tolist() == list(range(at.max() + 1))  # all have stopped
    for name in ("loss", "input_jacobian"):
        for seed, step in enumerate(at):
            mine, other = stopped[name].values[seed], free[name].values[seed]
            assert np.array_equal(mine[: step + 1], other[: step + 1])
            assert (mine[step:] == mine[step]).all()


def test_some_steps_after_an_event_are_counted_exactly_between_records(free):
    """Recorded every 10 steps, stopped 7 steps after the record that met the rule."""
    stopped = run(stop=Stop("loss", below=FLOOR, after=7), record=record.Every(10))
    event = 10 * firsts(free["loss"].values[:, ::10], FLOOR)
    assert stopped["stopped_step"].values.tolist() == (event + 7).tolist()
    assert set(stopped["stopped_by"].values) == {"loss below 0.3, 7 steps later"}
    last = stopped["input_jacobian"].values[:, -1]
    assert int(stopped["step"][-1]) == event.max() + 10
    for seed, step in enumerate(event + 7):
        assert np.array_equal(last[seed], free["input_jacobian"].values[seed, step])


def test_the_soonest_rule_wins_and_a_lane_that_meets_none_runs_to_the_end(free):
    loss = free["loss"].values
    low = np.sort(loss[:, -1])[1:].mean()  # one lane gets there, or two
    rules = (Stop("loss", below=FLOOR, after=1000), Stop("loss", below=low))
    stopped = run(stop=rules)
    meets = loss.min(axis=1) < low
    assert meets.any() and not meets.all() and stopped.sizes["step"] == 301
    assert (stopped["stopped_step"].values == np.where(meets, firsts(loss, low), -1)).all()
    assert (stopped["stopped_by"].values == np.where(meets, rules[1].words, "")).all()
    assert np.array_equal(stopped["loss"].values[~meets], loss[~meets])


@pytest.mark.parametrize("after", [0, 7])
def test_a_run_with_rules_goes_on_after_a_kill_as_if_nothing_had_been(monkeypatch, after):
    options = {"stop": Stop("loss", below=FLOOR, after=after), "record": record.Every(5)}
    options["keep"] = Keep(at=(0, 33, 299))
    whole = run(**options)
    assert whole["kept"].values.tolist() == [0, 33]  # all have stopped before 299
    monkeypatch.setattr(drive, "CALL_SECONDS", 0.0)
    monkeypatch.setattr(execution, "APPEND_SECONDS", 0.0)
    stops = whole["stopped_step"].values
    for appends in (3, int(stops.min()) // 5 + 3):  # before the first has stopped, and after
        sink = Memory(stop_after=appends)
        with pytest.raises(Interrupted):
            run(sink=sink, **options)
        same(run(sink=sink, **options), whole)


def test_on_change_keeps_the_row_at_which_all_have_stopped():
    stopped = run(stop=Stop("loss", below=FLOOR), record=record.OnChange("loss", by=0.9))
    assert int(stopped["step"][-1]) == stopped["stopped_step"].values.max()


@pytest.mark.slow
def test_a_flow_stops_at_a_recorded_time():
    options = {
        "steps": None, "time": 6.0, "record": record.Evenly(61), "probes": [probes.Loss()],
        "rule": dynamics.GradientFlow(),
    }  # fmt: skip
    free, stopped = run(**options), run(stop=Stop("loss", below=FLOOR), **options)
    at = firsts(free["loss"].values, FLOOR)
    assert stopped["stopped_step"].values.tolist() == at.tolist()  # numbers of records
    assert stopped.sizes["step"] == at.max() + 1
    for seed, step in enumerate(at):
        assert np.allclose(stopped["loss"].values[seed, step:], free["loss"].values[seed, step])


def test_a_lane_that_diverged_holds_nobody_up_and_is_no_stopped_one():
    both = ds.sweep(
        TASK, MODEL, dynamics.GradientDescent(0.02), steps=300, seeds=2, progress=False,
        over={"dynamics.learning_rate": [0.02, 50.0]}, probes=[probes.Loss()],
        record=record.Every(1), stop=Stop("loss", below=FLOOR),
    )  # fmt: skip
    calm, wild = both["stopped_step"].values
    assert (calm > 0).all() and (wild == -1).all()
    assert both["diverged"].values.tolist() == [[False] * 2, [True] * 2]
    assert int(both["step"][-1]) == calm.max()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Stop("loss"), "one of below=, above= and patience="),
        (lambda: Stop("loss", below=1.0, above=2.0), "one of below=, above= and patience="),
        (lambda: Stop("loss", below=1.0, after=-1), "from 0"),
        (lambda: run(stop=Stop("los", below=1.0)), "measures one number: loss"),
        (lambda: run(stop=Stop("input_jacobian", below=1.0)), "measures one number: loss"),
    ],
)
def test_rules_that_cannot_be_followed_are_refused_in_one_line(make, message):
    with pytest.raises(BadInput, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_patience_waits_for_a_new_lowest_value():
    """A loss that falls, turns and rises: the lane stops so many steps after its lowest."""
    rate = dynamics.Piecewise((0.5, 2.5), (0, 5))
    found = ds.simulate(
        tasks.IdentityMapping((1.0,), (0.0,)), models.Linear(initial_jacobian=((0.0,),)),
        dynamics.GradientDescent(rate), steps=40, probes=[probes.Loss()], record=record.Every(1),
        stop=record.Stop("loss", patience=4), dtype="float64", progress=False,
    )  # fmt: skip
    loss = found["loss"].values[0]
    assert int(np.argmin(loss)) == 5, "from then on every step multiplies the error by -1.5"
    assert found["stopped_step"].values.tolist() == [9]
    assert "no lower for 4 steps" in str(found["stopped_by"].values[0])
    with pytest.raises(BadInput, match="one of below"):
        record.Stop("loss", below=1.0, patience=3)
    with pytest.raises(BadInput, match="patience"):
        record.Stop("loss", patience=0)
