"""Odds of a swing-by from the law of starts: known shares, and descent as the witness."""

from __future__ import annotations

import numpy as np
import pytest

import dynascope as ds
from dynascope.core.errors import BadInput
from dynascope.dynamics import GradientDescent
from dynascope.models import MLP, TiedLinear
from dynascope.probes import TestLoss, bump
from dynascope.tasks import IdentityMapping
from dynascope.theories import probability_of_swing_by, swing_by_share
from dynascope.theories.swing_by import start_odds

TASK = IdentityMapping((1.0, 2.0), (0.05, 0.05))


def test_depth_has_the_share_that_was_measured_elsewhere():
    """Depth law: .04-.07 at depth 1 and .47-.49 at depth 4, 300 seeds."""
    assert abs(swing_by_share(TASK, MLP(1, 2, "linear", bias=False), 0.01) - 0.055) < 0.03
    assert abs(swing_by_share(TASK, MLP(4, 2, "linear", bias=False), 0.01) - 0.48) < 0.05


def test_the_very_draws_agree_with_descent_in_small_steps(monkeypatch):
    """With the seeds of a run instead of its own, the share is that of the run, exactly."""
    monkeypatch.setattr(start_odds, "FIRST_DRAW", 0)
    model = MLP(3, 2, "linear", bias=False)
    run = ds.simulate(
        TASK, model, GradientDescent(0.005), steps=16_000, probes=[TestLoss()], seeds=64,
        dtype="float64", progress=False,
    )  # fmt: skip
    seen = float(np.mean(bump(run["test_loss"].values) > 0.01))
    assert 0.2 < seen < 0.6
    assert swing_by_share(TASK, model, 0.01, draws=64) == seen


def test_width_gives_the_share_of_the_closed_law():
    law = probability_of_swing_by(3, TASK.means, TASK.scales, 3 * 0.04**2)
    assert abs(swing_by_share(TASK, TiedLinear(3, 0.04), 0.002) - law) < 0.04


@pytest.mark.parametrize(
    ("task", "model"),
    [(TASK, MLP(2, 2, "relu")), (IdentityMapping((1.0,), (0.1,), samples_per_cluster=5), MLP(1))],
)
def test_what_has_no_exact_flow_is_refused(task, model):
    with pytest.raises(BadInput, match="a linear model and a task with its exact population"):
        swing_by_share(task, model, 0.01)
