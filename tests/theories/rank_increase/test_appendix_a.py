"""The toy problem of appendix A: the flow at several scales beside Algorithm 1 (slow)."""

import numpy as np
import pytest

from dynascope.numerics.log_flow import log_flow
from dynascope.studies.rank_increase.trajectories import (
    Followed,
    Trajectory,
    distance,
    escape_error,
    plateau_error,
)
from dynascope.theories import incremental_stages

from . import systems

ALPHAS = (1e-2, 1e-4, 1e-8, 1e-16, 1e-32)
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def stages():
    return incremental_stages(systems.teacher().loss, 100, most=10)


@pytest.fixture(scope="module")
def flow(stages):
    u, v = np.random.default_rng(1).normal(size=(2, 100))
    times = np.linspace(0, 1.03 * stages.times[-1], 181)
    return log_flow(systems.teacher().loss, u, v, ALPHAS, times)


@pytest.fixture(scope="module")
def followed(flow, stages):
    rows = zip(ALPHAS, flow.losses, flow.products, strict=True)
    return Followed(tuple(Trajectory(a, flow.times, x, z) for a, x, z in rows), stages)


def test_escapes_and_plateaus(followed):
    """Check 10: at 1e-32 separated stages within 5 %, plateau losses within 1e-3."""
    assert escape_error(followed, 1e-32) <= 0.05
    assert plateau_error(followed, 1e-32) <= 1e-3


def test_distance_falls(followed):
    """Check 11: the mean distance to the staircase falls with every smaller scale."""
    distances = [distance(f, followed.stages) for f in followed.flows]
    assert (np.diff(distances) < 0).all()


def test_logarithms(flow, stages):
    """Check 12: log_alpha |w| in the middle of the first plateau is b, up to the start's size."""
    middle = np.abs(flow.times - (stages.times[0] + stages.times[1]) / 2).argmin()
    b = stages.log_weights[1].copy()
    share = (flow.times[middle] - stages.times[0]) / (stages.times[1] - stages.times[0])
    b += share * (stages.log_weights[2] - b)
    # An entry of the support is of size 1: its logarithm is 0 up to its own size.
    log = np.log(1e-32)
    seen = flow.log_sum[-1, middle] / log
    allowed = np.abs(flow.log_sum[-1, 0] - log).max() / abs(log) + 0.02
    assert np.abs(seen - b).max() <= allowed
