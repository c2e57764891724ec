"""Swing-by: the reference numbers, and measuring functions put to planted runs."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

import dynascope as ds
from dynascope.core.attributes import as_values
from dynascope.core.run import Run
from dynascope.engine import execute
from dynascope.probes import bump, descents
from dynascope.report.headline import curve_of
from dynascope.studies.swing_by import events
from dynascope.studies.swing_by.swing_by import claims
from dynascope.studies.swing_by.swing_by.runs import networks, study

STUDY = "swing-by"


def test_the_reference_run_has_the_extrema_of_the_ledger(outcome):
    """M8, in paper time: .3177 at 1.72, .3949 at 3.31, then below 1e-6."""
    start = lambda run: json.loads(run.attrs["spec"])["model"]["initial_jacobian"]  # noqa: E731
    reference = next(r for r in outcome.datasets() if "output_at_weak" in r and start(r)[0][1] > 0)
    loss = reference["test_loss"].values[0]
    turns = descents(loss, 2 * reference["time"].values).turns
    minimum, maximum = turns[1], turns[2]
    assert abs(minimum.value - 0.3177) < 0.002 and abs(minimum.time - 1.72) < 0.03
    assert abs(maximum.value - 0.3949) < 0.002 and abs(maximum.time - 3.31) < 0.05
    assert loss[-1] < 1e-6
    assert (np.diff(reference["loss"].values[0]) <= 0).all()


def test_networks_swing_by_as_often_as_the_ledger_says_at_smoke(outcome):
    """M23 on the smoke scale's seeds: no wide network rises by 0.5 %, in two dimensions 0.2 %."""
    claim = next(c for c in outcome.claims if c.id.endswith("low-dimension-swings"))
    assert 0.25 <= claim.measured.value <= 0.5
    for dimension, most in ((64, 0.005), (2, 0.002)):
        runs = [(run, as_values(run.attrs)["spec"]) for run in outcome.datasets()]
        wide = [
            bump(run["test_loss"].values).max() for run, spec in runs
            if spec["model"].get("width") == 64
            and spec["task"].get("dimension") == dimension and "test_loss" in run
        ]  # fmt: skip
        assert wide and max(wide) < most


@pytest.mark.slow
def test_networks_swing_by_as_often_as_the_ledger_says():
    """M23 over all forty epochs: width 4 by 1 % in 300 seeds; width 64 in every one of 16."""
    settings = replace(study.at("laptop"), wide_seeds=16)
    assert (settings.network_steps, settings.network_seeds) == (4720, 300)
    experiments = networks.function(settings)
    rises = {
        name: bump(execute(experiments[name], progress=False)["test_loss"].values)
        for name in ("low dimension", "low dimension, wide", "high dimension")
    }
    assert 0.25 <= (rises["low dimension"] > 0.01).mean() <= 0.5
    assert rises["high dimension"].max() < 0.005
    assert rises["low dimension, wide"].max() < 0.002


def test_the_headline_shows_two_descents(outcome):
    curve = curve_of(outcome.charts[0])
    assert "seed" in curve.title and "%" in curve.note and curve.over.label == "theory"
    assert descents(np.array(curve.y), np.array(curve.x)).n_descents == 2


def test_the_second_call_answers_from_the_store(outcome):
    again = ds.run("swing-by", "smoke", store=outcome.store, progress=False)
    assert again.from_store and again.result == outcome.result


def run_of(**curves) -> Run:
    """A planted run."""
    arrays = {k: (("seed", "step"), np.array(v, float)) for k, v in curves.items()}
    return Run(xr.Dataset(arrays), experiment=None)


def test_measuring_functions_find_what_was_planted():
    rises, falls = [4.0, 1.0, 2.0, 0.0], [4.0, 3.0, 2.0, 1.0]
    planted = run_of(test_loss=[rises, falls], loss=[falls, falls])
    assert events.swings(planted, 0.2).value == 0.5
    assert events.swings(planted, 0.3).value == 0.0
    assert events.never_rises(planted, "test_loss", 0.2).value == 0.5
    assert events.never_rises(planted, "loss", 0.0).value == 1.0
    assert claims.number_of_descents(planted).value == 2
    none = run_of(test_loss=[falls, falls])
    assert events.more_swings(planted, none).value == 0.5
    assert events.more_swings(none, planted).value == -0.5
