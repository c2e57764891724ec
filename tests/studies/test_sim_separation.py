"""Separation at smoke scale: every verdict, every control, and the number of discarded points."""

from __future__ import annotations

import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.studies.swing_by.sim_separation import RADII, SimSeparation
from dynascope.tasks import IdentityMapping

STUDY = "sim-separation"

VERDICTS = {
    "no-training-point-near": "holds",
    "no-training-point-near-in-the-program": "holds",
    "few-samples-discarded": "holds",
    "none-left-inside": "holds",
    "trajectories-unchanged": "holds",
    "trajectories-unchanged-in-high-dimension": "holds",
    "swing-by-unchanged": "holds",
}


def test_every_claim_has_the_verdict_that_was_seen(outcome):
    assert {c.id.split("/")[1]: c.verdict for c in outcome.claims} == VERDICTS


def test_every_control_fails(outcome):
    assert {c.id: c.control.verdict for c in outcome.claims if c.control.verdict != "fails"} == {}


def test_as_many_points_are_discarded_as_the_ledger_says(outcome):
    """M24: 44 +- 10 of 15,000 with variances of 0.05, none with deviations."""
    found = {c.id.split("/")[1]: c for c in outcome.claims}
    assert abs(found["few-samples-discarded"].measured.value - 44) < 10
    assert found["no-training-point-near"].measured.value == 0


def test_truncation_that_cannot_be_met_is_refused():
    with pytest.raises(BadInput, match="clusters that keep at least"):
        IdentityMapping((1.0,), (0.01,), samples_per_cluster=10, truncated=True)


def test_only_the_truncation_differs_between_the_two_runs():
    plan = SimSeparation.at("smoke").plan()
    for kind in ("narrow", "wide"):
        whole, cut = (plan[f"{kind}, {n}"] for n in ("whole", "truncated"))
        assert cut.task.truncated and not whole.task.truncated
        assert (whole.model, whole.dynamics, whole.seeds) == (cut.model, cut.dynamics, cut.seeds)


def test_counts_follow_the_normal_distribution(outcome):
    headline = outcome.result.headline
    y, theory = np.array(headline.y), np.array(headline.theory)
    assert headline.x == RADII
    common = theory > 100
    assert np.abs(y[common] / theory[common] - 1).max() < 0.1


def test_charts_are_there(outcome):
    assert [c.name for c in outcome.charts] == ["points", "counts", "apart"]
