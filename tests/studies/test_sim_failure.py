"""Failure to generalise at smoke scale: known numbers, and measures on planted input."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from dynascope.core.run import Run
from dynascope.runner.evaluation import Evaluation
from dynascope.studies import studies
from dynascope.studies.nodes import Missing
from dynascope.studies.swing_by.events import times_to_half
from dynascope.studies.swing_by.sim_failure import runs
from dynascope.studies.swing_by.sim_failure.claims import still_unlearned, told_right, unlearned
from dynascope.studies.swing_by.starts import signal
from dynascope.tasks import IdentityMapping
from dynascope.theories.swing_by.schur import outlook

STUDY = "sim-failure"


@pytest.fixture(scope="module")
def value(outcome):
    study = studies.get(STUDY)
    return Evaluation(study, study.at("smoke"), outcome.store, progress=False).value


def test_shares_are_those_of_the_ledger(claims):
    # 400 seeds of another program: 90 % with A squared, 0 % with A, 29 % run away.
    assert claims["seems-stuck-program"].measured.value == pytest.approx(0.9, abs=0.06)
    assert claims["fails-with-text"].measured.value == 0
    assert claims["printed-recursion-stays"].measured.value == pytest.approx(0.71, abs=0.13)


def test_agreement_with_the_schur_time_is_nearly_complete(claims):
    assert claims["schur-tells-who-is-late"].measured.value >= 0.97


@pytest.mark.parametrize(("name", "expected"), [("program", (96, 132)), ("text", (16, 22))])
def test_schur_times_have_the_quantiles_of_the_ledger(value, name, expected):
    run = value(runs.figure)[name]
    _, schur, _ = times_to_half(run.dataset, signal(run.experiment.task))
    np.testing.assert_allclose(np.quantile(2 * schur[:, 0], (0.05, 0.5)), expected, rtol=0.08)


@pytest.mark.parametrize(("width", "left"), [(1, 1.625), (2, 0.5), (3, 0.0)])
def test_narrow_models_keep_exactly_the_loss_of_the_law(value, width, left):  # M15
    final = value(runs.narrow)["test_loss"].isel({"task.means": 1, "step": -1})
    np.testing.assert_allclose(final.sel({"model.width": width}), left, atol=1e-3)


def test_rank_one_start_is_trapped_and_reported_as_rank_deficient(value):  # M15
    trapped, freed = value(runs.rank_one)["test_loss"].values[:, 0, -1]
    assert trapped == pytest.approx(1.625, abs=1e-3)
    assert freed < 1e-3
    strengths = signal(IdentityMapping(runs.LAW_MEANS, (0.05,) * 3))
    fates = [o.fate for o in outlook(runs.RANK_ONE, strengths, horizon=1e9)]
    assert fates == ["rank-deficient", "rank-deficient", "in time"]


def test_the_programs_length_is_a_hundred_in_paper_time(value, outcome):
    assert 2 * value(runs.figure)["program"]["time"].values[-1] == pytest.approx(100)
    assert outcome.result.notes[0].endswith("end at 50.")


def test_longer_run_is_the_same_run_continued(value):
    short, longer = (value(runs.figure)[name] for name in ("program", "program, run on"))
    both = np.intersect1d(short["step"].values, longer["step"].values)
    assert both.size > 10
    first, second = (r["test_loss"].sel(step=both).values for r in (short, longer))
    np.testing.assert_allclose(first, second, rtol=1e-12, atol=1e-15)


def planted(ends):
    """Runs to time 50 whose w11 ends at given values."""
    w = np.zeros((len(ends), 2, 3, 3))
    w[:, -1, 0, 0] = ends
    data = {"input_jacobian": (("seed", "step", "output", "input"), w)}
    coordinates = {"time": ("step", [0.0, 50.0]), "seed": range(len(ends))}
    return Run(xr.Dataset(data, coordinates), experiment=None)


def test_stuck_starts_are_counted_among_those_that_were_stuck_before():
    before, after = planted([0.1, 0.2, 0.9, 0.3]), planted([1.0, 0.4, 0.1, 1.0])
    assert unlearned(before, 0).value == 0.75
    assert still_unlearned(after, before).value == pytest.approx(1 / 3)
    assert isinstance(still_unlearned(after, planted([0.9] * 4)), Missing)


def test_a_predicted_time_tells_rightly_or_not():
    late = planted([0.1, 0.9])
    assert told_right(late, np.array([60.0, 40.0])).value == 1
    assert told_right(late, np.array([40.0, 40.0])).value == 0.5


def test_trajectory_chart_is_in_space_with_theory_on_it(outcome):
    space = next(c for c in outcome.charts if c.name == "trajectory").panels[0]
    assert all(m.z is not None for m in space.marks)
    assert {"measured", "theory"} <= {m.role for m in space.marks}


def test_headline_rests_at_the_false_corner_and_leaves_it(outcome):
    measured = outcome.charts[0].panels[0].marks[0]
    x, y = np.array(measured.x), np.array(measured.y)
    assert np.interp(10, x, y) == pytest.approx(0.245, rel=0.05)
    assert y[-1] < 0.01
