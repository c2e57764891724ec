"""Slopes in log-log and their intervals."""

from __future__ import annotations

import numpy as np
import pytest

from dynascope.probes.slopes import fit_slope, log_slope


def test_a_slope_needs_positive_numbers():
    assert np.isnan(log_slope([1.0, 2.0], [0.0, 1.0]))
    assert np.isclose(log_slope([1.0, 2.0, 4.0], [8.0, 2.0, 0.5]), -2)


def test_intervals_cover_a_known_power_in_95_of_100_cases():
    """Of 2,000 fits 1,900 +- 10 cover it; an error half or twice as large covers 72 % or all."""
    random = np.random.default_rng(0)
    widths = np.array([16.0, 32, 64, 128])
    values = 3 * widths[:, None] ** -0.5 * np.exp(0.2 * random.normal(size=(2000, 4, 8)))
    fits = [fit_slope(widths, v) for v in values]
    assert 1860 <= sum(fit.low <= -0.5 <= fit.high for fit in fits) <= 1940
    assert fits[0].measured.low == fits[0].low and fits[0].measured.n == 8


def test_a_fit_is_the_mean_of_the_slopes_of_its_seeds():
    widths, values = np.array([1.0, 10.0]), np.array([[1.0, 1.0], [10.0, 1000.0]])
    fit = fit_slope(widths, values)
    assert fit.value == pytest.approx(2) and fit.spread == pytest.approx(2**0.5)
    # Student with one degree of freedom: 12.7 standard errors of 1.
    assert fit.high - fit.value == pytest.approx(12.706, rel=1e-3)
    assert np.isnan(fit_slope(widths, values[:, :1]).low)
