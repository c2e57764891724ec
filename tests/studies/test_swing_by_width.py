"""Width and depth laws at smoke scale: known numbers, and measuring functions on plants."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from dynascope.core.records import Measured
from dynascope.models import TiedLinear
from dynascope.studies.measures import share
from dynascope.studies.nodes import Missing
from dynascope.studies.swing_by.events import first_share
from dynascope.studies.swing_by.swing_by_width import claims as width
from dynascope.studies.swing_by.swing_by_width.runs import gaussian
from dynascope.tasks import IdentityMapping
from dynascope.theories.base import initial_params
from dynascope.theories.swing_by.width_odds import probability_cosine_above

STUDY = "swing-by-width"


def test_shares_by_width_are_those_of_two_random_directions(outcome):
    """M17: within 0.06 of P(cosine > 0.53), which is the critical correlation there."""
    seen, odds = outcome.charts[0].panels[0].marks
    widths = np.exp2(seen.x).round().astype(int)
    assert widths.tolist() == [2, 4, 8, 64]
    assert np.allclose(odds.y, [probability_cosine_above(0.53, int(w)) for w in widths], atol=0.02)
    assert np.abs(np.subtract(seen.y, odds.y)).max() < 0.06


def test_rises_shrink_with_the_start_as_the_ledger_says(claims):
    """F0.5: 0.127, 0.055, 0.0245, 0.0103, 0.0017 at 1e-1, 1e-2, 1e-3, 1e-4, 1e-6."""
    note = claims["smaller-starts-rise-less"].note
    seen = [float(part.split(" at ")[0]) for part in note.removeprefix("Rises: ").split(", ")]
    assert np.allclose(seen[:5], (0.127, 0.055, 0.0245, 0.0103, 0.0017), rtol=0.03)


def test_depth_shares_are_those_of_the_ledger(claims):
    """M22: two layers 0.15 to 0.32, four layers 0.38 to 0.60, one small layer none."""
    assert 0.15 <= claims["two-layers"].measured.value <= 0.32
    assert 0.38 <= claims["four-layers"].measured.value <= 0.60
    assert claims["one-layer-small-start"].measured.value == 0


@pytest.mark.parametrize("columns", [8, 64])
def test_gaussian_entries_have_the_moments_of_the_ledger(columns):
    """M26: in units of width x variance, means within 0.02 of 1 and of 0, over 2,000 draws."""
    task, scale = IdentityMapping((1.0, 1.0), (0.0, 0.0)), 0.3
    u = initial_params(task, TiedLinear(columns, scale), np.arange(2000))
    w = (u @ u.transpose(0, 2, 1)).mean(axis=0) / (columns * scale**2)
    assert abs(np.trace(w) / 2 - 1) < 0.02 and abs(w[0, 1]) < 0.02


def test_the_claims_on_gaussian_entries_measure_these_moments(claims):
    """M26 as the study measures it, over its 10,000 draws at width 8."""
    for kind, mean, variance in (("major", 1, 2 / 8), ("minor", 0, 1 / 8)):
        found = claims[f"gaussian-{kind}-entries"].measured
        assert abs(found.value - mean) < 0.02
        assert found.spread**2 == pytest.approx(variance, rel=0.1)


@pytest.mark.parametrize("width", [1, 2, 64])
def test_gaussian_starts_have_the_same_mean_size_at_every_width(width):
    assert abs(width * gaussian(width).init_scale ** 2 - 0.005) < 1e-12


def test_a_share_off_the_law_is_its_gap():
    odds = {gaussian(w): p for w, p in ((2, 0.5), (4, 0.25), (64, 0.0))}
    shares = {model: share(first_share(400, p)) for model, p in odds.items()}
    assert width.gap_to_law(shares, odds).value == 0
    shares[gaussian(4)] = share(first_share(400, 0.35))
    found = width.gap_to_law(shares, odds)
    assert abs(found.value - 0.1) < 1e-12 and 0.04 < found.low < 0.06 and 0.14 < found.high < 0.16


def test_a_start_that_the_settings_leave_out_is_missing():
    assert isinstance(width.share_of({2: Measured(0.5)}, 4), Missing)


def test_the_least_growth_is_that_of_the_worst_step():
    shares = {d: share(first_share(400, p)) for d, p in ((1, 0.1), (2, 0.3), (4, 0.4), (6, 0.0))}
    found = width.least_growth(shares)  # depth 6 does not count
    assert abs(found.value - 0.1) < 1e-12 and 0.02 < found.low < 0.04 < 0.16 < found.high < 0.18


def test_the_gap_to_the_flow_is_the_largest_over_depths():
    shares = {d: share(first_share(400, p)) for d, p in ((1, 0.1), (2, 0.3))}
    odds = {d: share(first_share(400, p)) for d, p in ((1, 0.15), (2, 0.28))}
    assert abs(width.gap_to_flow(shares, odds).value - 0.05) < 1e-12


def test_entries_of_rows_of_ones_are_one():
    rows = np.ones((3, 2, 64))
    assert width.mean_entry(rows, "major").value == width.mean_entry(rows, "minor").value == 1


def test_the_peak_falls_faster_the_farther_the_signals_are_apart():
    assert abs(width.exponent(IdentityMapping((1.0, 2.0), (0.0, 0.0))) - 3 / 8) < 1e-9


@pytest.mark.parametrize(("crossing", "off"), [(0.53, 0.0), (0.59, 0.06), (0.5, 0.03)])
def test_critical_correlations_are_measured_from_the_one_that_is_stated(crossing, off):
    rise = width.runs.SMALL_RISE * (1 + (np.array(width.CORRELATIONS) - crossing))
    losses = np.stack([np.ones_like(rise), 0 * rise + 0.5, 0.5 + rise], axis=-1)
    run = {"test_loss": xr.DataArray(losses[:, None], dims=("start", "seed", "step"))}
    assert abs(width.from_critical(run, slice(None)).value - off) < 1e-6
