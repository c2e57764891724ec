"""The detector of catapults on curves whose answer is known; counts and match rates."""

from __future__ import annotations

import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.probes import catapults, count_supercritical, match_rate

STEPS = np.arange(60.0)


def curve(*peaks, width=2.0, floor=0.01):
    """A loss that falls, with spikes of given heights (factors) at given steps."""
    loss = np.exp(-STEPS / 15) + floor
    for at, factor in peaks:
        loss = loss * (1 + (factor - 1) * np.exp(-0.5 * ((STEPS - at) / width) ** 2))
    return loss


def test_each_criterion_is_told_apart():
    loss = curve((20, 30.0))
    norm = np.where(STEPS < 20, 2.0, 1.0)
    (good,) = catapults(loss, 1.0, np.where(STEPS < 20, 0.5, 2.0), norm, loss - 0.01)
    assert good.is_catapult and good.met == dict.fromkeys(good.met, True)
    assert good.peak in (19, 20) and good.top > 10 * good.before
    (below,) = catapults(loss, 1.0, np.full(60, 2.0), norm)
    assert below.crosses is False and not below.is_catapult
    (grows,) = catapults(loss, 1.0, np.full(60, 0.5), norm[::-1])
    assert grows.met["kernel drops"] is False and not grows.is_catapult
    (outside,) = catapults(loss, top_loss=np.full(60, 0.01))
    assert outside.met["in the top eigenspace"] is False and outside.crosses is None
    (alone,) = catapults(loss)
    assert alone.is_catapult and alone.met["crosses"] is None


def test_what_never_comes_back_is_no_catapult():
    loss = np.concatenate([curve()[:30], curve()[30] * 1.5 ** np.arange(30)])
    (found,) = catapults(loss, 1.0, np.full(60, 0.5))
    assert not found.recovers and not found.is_catapult and found.end == 59
    gone = np.concatenate([loss, [np.inf, np.nan]])
    assert len(catapults(gone)) == 1, "the curve ends where it stops being a number"


def test_spikes_are_counted_once_each():
    loss = curve((12, 20.0), (30, 20.0), (45, 20.0))
    assert len(catapults(loss)) == 3
    assert not catapults(curve()) and not catapults(np.ones(5))
    assert not catapults(curve((20, 1.8))), "below twice the lowest is no spike"
    assert len(catapults(curve((20, 1.8)), spike=1.2)) == 1


def test_bad_curves_are_refused():
    with pytest.raises(BadInput, match="one curve"):
        catapults(np.ones((2, 3)))
    with pytest.raises(BadInput, match="as many values"):
        catapults(np.ones(3), 1.0, np.ones(4))
    with pytest.raises(BadInput, match="above 1"):
        catapults(np.ones(3), spike=1.0)


def test_counts_and_matches():
    """Check 32: no rise at all matches nothing, and is not 100 %."""
    critical = np.array([2.0, 0.9, 0.5, 3.0, 0.1])
    assert count_supercritical(1.0, critical) == 3 and count_supercritical(1.0, critical, 2) == 1
    assert count_supercritical(1.0, np.array([1.0, 1 - 1e-9])) == 0, "within the margin"
    assert match_rate([1.0, 1.0, -1.0], 1.0, [0.5, 2.0, 0.5]) == 0.5
    assert np.isnan(match_rate([-1.0, 0.0], 1.0, [0.5, 0.5]))


@pytest.mark.parametrize(
    ("critical", "crosses"),
    [
        ([np.nan, 0.5, np.nan], True),
        ([np.nan, 2.0, np.inf], None),  # it may have crossed at the first
        ([np.inf, np.inf, np.inf], False),
        ([2.0, np.inf, 2.0], False),
        ([np.nan, np.nan, np.nan], None),
        ([2.0, 0.0, np.nan], True),
    ],
)
def test_a_rate_crosses_where_it_is_known_to(critical, crosses):
    (found,) = catapults([1.0, 3.0, 5.0, 0.5], 1.0, [*critical, 9.0])
    assert (found.start, found.peak) == (0, 2)
    assert found.crosses is crosses
