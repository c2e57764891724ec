import numpy as np
import pytest
from scipy.integrate import quad

from dynascope.core.errors import BadInput
from dynascope.theories.schur import factor_jacobian
from dynascope.theories.swing_by_odds import (
    entry_moments,
    initial_correlation,
    mean_absolute_cosine,
    probability_cosine_above,
    probability_of_swing_by,
)
from dynascope.theories.tied_flow import read_jacobian, tied_flow

from .systems import losses, strengths


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


def test_odds_from_width_match_the_dynamics():  # M17
    widths, seeds, means = (2, 3, 4, 8, 64), 1000, (1, 2)
    # Only W(0) matters, so every width is brought to a 2x2 factor: one call for all.
    start = np.stack([read_jacobian(gaussian_rows(w, seeds, np.sqrt(0.005 / w))) for w in widths])
    weights = factor_jacobian(start)
    path = read_jacobian(tied_flow(weights, strengths(means), np.linspace(0, 20, 401), rtol=1e-9))
    loss = losses(path, means)
    rise = (loss - np.minimum.accumulate(loss, axis=-1)).max(axis=-1) / loss[..., 0]
    share = (rise > 0.002).mean(axis=-1)
    expected = [probability_of_swing_by(w) for w in widths]
    assert np.abs(share[:4] - expected[:4]).max() < 0.06
    assert share[4] == 0 and expected[4] < 1e-5
    # what decides is the correlation: it sorts the seeds almost perfectly
    correlation = initial_correlation(start)[..., 0, 1]
    agree = (rise > 0.002) == (correlation > 0.53)
    assert agree.mean() > 0.97


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


@pytest.mark.parametrize("width", [2, 8, 64])
def test_moments_of_entries(width):  # M26
    scale, draws = 0.3, 2000
    w = read_jacobian(gaussian_rows(width, draws, scale))
    unit = width * scale**2
    expected = entry_moments(width, scale)
    assert expected.diagonal_mean == pytest.approx(unit)
    both = np.diagonal(w, axis1=1, axis2=2)
    error = np.sqrt(expected.diagonal_variance / both.size)
    assert abs(both.mean() - unit) < max(0.02 * unit, 3 * error)
    assert abs(w[:, 0, 1].mean()) < max(0.02 * unit, 3 * unit / np.sqrt(width * draws))
    assert both.var() == pytest.approx(expected.diagonal_variance, rel=0.15)
    assert w[:, 0, 1].var() == pytest.approx(expected.off_diagonal_variance, rel=0.15)


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
        probability_of_swing_by(0)
    with pytest.raises(BadInput, match="width"):
        mean_absolute_cosine(0)
