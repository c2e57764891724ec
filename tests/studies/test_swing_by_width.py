"""Width and depth laws at smoke scale: every verdict, every control, and the ledger's numbers."""

from __future__ import annotations

import numpy as np
import pytest

from dynascope.studies.swing_by.width_charts import gaussian
from dynascope.theories.swing_by_odds import probability_of_swing_by

STUDY = "swing-by-width"

VERDICTS = {
    "width-law": "holds",
    "wide-does-not-swing": "holds",
    "high-dimension-still-swings": "holds",
    "low-dimension-decides": "fails",
    "critical-correlation": "holds",
    "smaller-starts-rise-less": "holds",
    "peak-of-the-minor-entry": "holds",
    "depth-law": "holds",
    "depth-odds": "holds",
    "two-layers": "holds",
    "four-layers": "holds",
    "one-layer-small-start": "holds",
    "gaussian-major-entries": "holds",
    "gaussian-minor-entries": "holds",
}


def test_every_claim_has_the_verdict_that_was_seen(claims):
    assert {name: c.verdict for name, c in claims.items()} == VERDICTS


def test_every_control_fails(claims):
    assert {n: c.control.verdict for n, c in claims.items() if c.control.verdict != "fails"} == {}


def test_shares_by_width_are_those_of_two_random_directions(outcome):
    """M17: within 0.06 of P(cosine > 0.53)."""
    headline = outcome.result.headline
    widths = np.exp2(headline.x).round().astype(int)
    assert widths.tolist() == [2, 4, 8, 64]
    for width, seen, odds in zip(widths, headline.y, headline.theory, strict=True):
        assert odds == probability_of_swing_by(int(width))
        assert abs(seen - odds) < 0.06


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


def test_gaussian_entries_have_the_moments_of_the_ledger(claims):
    """M26: means within 0.02 of 1 and of 0."""
    assert abs(claims["gaussian-major-entries"].measured.value - 1) < 0.02
    assert abs(claims["gaussian-minor-entries"].measured.value) < 0.02


@pytest.mark.parametrize("width", [1, 2, 64])
def test_gaussian_starts_have_the_same_mean_size_at_every_width(width):
    assert abs(width * gaussian(width).init_scale ** 2 - 0.005) < 1e-12


def test_charts_are_there(outcome):
    assert [c.name for c in outcome.charts] == ["width", "starts", "depth"]
