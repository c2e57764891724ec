"""Separation at smoke scale: the number of discarded points, and clouds with known answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.studies.swing_by.sim_separation import claims as separation
from dynascope.studies.swing_by.sim_separation.charts import RADII
from dynascope.studies.swing_by.sim_separation.runs import Cloud, networks, study
from dynascope.tasks import IdentityMapping

STUDY = "sim-separation"
TASK = IdentityMapping((1.0, 2.0), (0.05, 0.05), origin=True, scale_is="variance",
                       samples_per_cluster=5000)  # fmt: skip


def test_as_many_points_are_discarded_as_the_ledger_says(claims):
    """M24: 44 +- 10 of 15,000 with variances of 0.05, none with deviations."""
    assert abs(claims["few-samples-discarded"].measured.value - 44) < 10
    assert claims["no-training-point-near"].measured.value == 1


def test_truncation_that_cannot_be_met_is_refused():
    with pytest.raises(BadInput, match="clusters that keep at least"):
        IdentityMapping((1.0,), (0.01,), samples_per_cluster=10, truncated=True)


def test_only_the_truncation_differs_between_the_two_runs():
    found = networks.function(study.at("smoke"))
    for kind in ("narrow", "wide"):
        whole, cut = found[f"{kind}, whole"], found[f"{kind}, truncated"]
        assert cut == replace(whole, task=replace(whole.task, truncated=True)) != whole


def test_counts_follow_the_normal_distribution(outcome):
    seen, theory = outcome.charts[0].panels[0].marks
    assert np.allclose(seen.x, RADII)
    y, expected = np.array(seen.y), np.array(theory.y)
    common = expected > 100
    assert common.sum() > 20 and np.abs(y[common] / expected[common] - 1).max() < 0.1


def test_expected_counts_are_those_of_a_large_draw():
    """An independent witness: points of the three clusters drawn by numpy."""
    centres = np.array([(1.0, 0.0), (0.0, 2.0), (0.0, 0.0)])
    noise = np.random.default_rng(0).normal(0.0, 0.05**0.5, (3, 200_000, 2))
    distance = np.linalg.norm(centres[:, None] + noise - (1.0, 2.0), axis=-1)
    radii = np.array([0.6, 1.0, 1.5])
    drawn = 5000 / 200_000 * (distance.ravel() <= radii[:, None]).sum(axis=1)
    assert np.allclose(separation.expected_counts(TASK, radii), drawn, rtol=0.03)


def test_points_within_half_the_smallest_mean_are_seen_by_seed():
    points = np.array([[(1.0, 2.6), (1.0, 2.7), (0.0, 0.0)], [(1.0, 2.6), (1.2, 2.2), (0.0, 2.0)]])
    cloud = Cloud(points, TASK)
    assert separation.nothing_near(cloud).value == 0.5
    moved = Cloud(points + np.array([[[0.0], [0.0], [0.1]], [[0.0], [0.0], [0.0]]]), TASK)
    assert separation.drawn_again(cloud, moved).value == 0.5
    assert separation.drawn_again(cloud, cloud).value == 0
