import numpy as np
import pytest
from scipy.integrate import quad

from dynascope.core.errors import BadInput
from dynascope.theories.swing_by.schur import factor_jacobian
from dynascope.theories.swing_by.tied_flow import read_jacobian, tied_flow
from dynascope.theories.swing_by.width_odds import (
    critical_correlation,
    initial_correlation,
    mean_absolute_cosine,
    probability_cosine_above,
    probability_of_swing_by,
)

from .systems import losses, strengths

SCALES = (0.05, 0.05)


def gaussian_rows(width, seeds, scale=1.0):
    return scale * np.random.default_rng(width).normal(size=(seeds, 2, width))


@pytest.mark.parametrize("width", [2, 3, 4, 8, 16, 64])
@pytest.mark.parametrize("threshold", [-0.3, 0.0, 0.53])
def test_tail_matches_the_density_of_a_cosine(width, threshold):
    def density(c):
        return (1 - c * c) ** ((width - 3) / 2)

    whole = quad(density, -1, 1, limit=200)[0]
    expected = quad(density, threshold, 1, limit=200)[0] / whole
    assert probability_cosine_above(threshold, width) == pytest.approx(expected, abs=1e-7)


def test_one_dimension_is_a_coin():
    assert probability_cosine_above(0.53, 1) == 0.5
    assert probability_cosine_above(-0.53, 1) == 0.5
    assert probability_cosine_above(1.0, 3) == 0.0


@pytest.mark.slow
def test_odds_from_width_match_the_dynamics():  # M17
    widths, seeds, means = (2, 3, 4, 8, 64), 1000, (1, 2)
    # Only W(0) matters, so every width is brought to a 2x2 factor: one call for all.
    start = np.stack([read_jacobian(gaussian_rows(w, seeds, np.sqrt(0.005 / w))) for w in widths])
    weights = factor_jacobian(start)
    path = read_jacobian(tied_flow(weights, strengths(means), np.linspace(0, 20, 401), rtol=1e-9))
    loss = losses(path, means)
    rise = (loss - np.minimum.accumulate(loss, axis=-1)).max(axis=-1) / loss[..., 0]
    share = (rise > 0.002).mean(axis=-1)
    expected = [probability_of_swing_by(w, (1.0, 2.0), SCALES, 0.005) for w in widths]
    assert np.abs(share[:4] - expected[:4]).max() < 0.06
    assert share[4] == 0 and expected[4] < 1e-5
    # what decides is the correlation: it sorts the seeds almost perfectly
    correlation = initial_correlation(start)[..., 0, 1]
    agree = (rise > 0.002) == (correlation > 0.53)
    assert agree.mean() > 0.97


@pytest.mark.parametrize("size", [1e-1, 1e-2, 1e-3, 1e-4])
def test_the_critical_correlation_of_ordinary_starts_is_that_of_the_ledger(size):  # F0.4
    assert abs(critical_correlation((1.0, 2.0), SCALES, size) - 0.53) < 0.06


@pytest.mark.parametrize(  # known rises at size 0.01
    ("strong", "low", "high"),
    [(1.25, 0.9, 0.99), (1.5, 0.5, 0.9), (2.0, 0.5, 0.9), (3.0, 0.0, 0.5), (6.0, 0.0, 0.5)],
)
def test_the_critical_correlation_is_another_for_other_means(strong, low, high):
    assert low < critical_correlation((1.0, strong), SCALES, 0.01) < high


def test_the_critical_correlation_needs_unequal_signals_and_starts_that_are_not_tiny():
    assert critical_correlation((1.0, 1.1), SCALES, 0.01) > 0.99
    assert critical_correlation((1.0, 1.0), SCALES, 0.01) == 1.0
    assert critical_correlation((1.0, 2.0), (1.5, 1.5), 0.01) > 0.9  # M31: none at 0.9
    assert critical_correlation((1.0, 2.0), SCALES, 1e-12) == 1.0
    small, ordinary = (critical_correlation((1.0, 2.0), SCALES, size) for size in (1e-5, 1e-2))
    assert small > ordinary + 0.1


def test_the_rise_at_the_critical_correlation_is_what_counts():
    """A dense twin: one flow at the correlation found, on a finer clock."""
    c, means = critical_correlation((1.0, 1.5), SCALES, 0.02), (1, 1.5)
    start = factor_jacobian(0.02 * np.array([[1.0, c], [c, 1.0]]))
    path = read_jacobian(tied_flow(start, strengths(means), np.linspace(0, 20, 20_001)))
    loss = losses(path, means)
    rise = (loss - np.minimum.accumulate(loss)).max() / loss[0]
    assert rise == pytest.approx(0.002, rel=0.03)


@pytest.mark.parametrize(
    ("scale", "expected"),
    [(0.05, 0.0318), (0.2, 0.0304), (0.5, 0.0221), (1.0, 0.0034), (1.5, 0.0), (2.0, 0.0)],
)
def test_wide_clusters_remove_the_swing_by(plane, scale, expected):  # M31
    loss = plane[f"scale {scale}"].loss
    rise = (loss - np.minimum.accumulate(loss)).max() / loss[0]
    assert rise == pytest.approx(expected, abs=2e-4)
    if scale == 0.05:
        assert rise > 0.03
    if scale >= 1.5:
        assert rise < 1e-6


def test_mean_absolute_cosine():
    assert mean_absolute_cosine(2) == pytest.approx(2 / np.pi)
    assert mean_absolute_cosine(64) == pytest.approx(np.sqrt(2 / (np.pi * 64)), rel=0.01)
    cosines = initial_correlation(read_jacobian(gaussian_rows(8, 4000)))[:, 0, 1]
    assert np.abs(cosines).mean() == pytest.approx(mean_absolute_cosine(8), rel=0.05)


def test_correlation_survives_tiny_starts_and_says_nan_for_empty_rows():
    assert initial_correlation(1e-300 * np.array([[1.0, 0.9], [0.9, 1.0]]))[0, 1] == pytest.approx(
        0.9
    )
    assert np.isnan(initial_correlation(np.zeros((2, 2)))).all()


def test_bad_input_is_refused():
    with pytest.raises(BadInput, match="cosine"):
        probability_cosine_above(1.5, 2)
    with pytest.raises(BadInput, match="width"):
        probability_of_swing_by(0, (1.0, 2.0), SCALES, 0.01)
    with pytest.raises(BadInput, match="two concepts"):
        critical_correlation((1.0, 2.0, 3.0), (0.05,) * 3, 0.01)
    with pytest.raises(BadInput, match="size"):
        critical_correlation((1.0, 2.0), SCALES, 0.0)
    with pytest.raises(BadInput, match="width"):
        mean_absolute_cosine(0)
