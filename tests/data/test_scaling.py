"""Scaling as a named option, and calibration by homogeneity."""

from __future__ import annotations

import numpy as np
import pytest

from dynascope.core.errors import BadInput, UnknownName
from dynascope.data import SCALINGS, calibrate_scale, scaled

PICTURES = np.random.default_rng(0).integers(0, 256, (20, 4, 4, 3), dtype=np.uint8)


def test_bytes_become_fractions_and_numbers_stay():
    assert np.allclose(scaled(PICTURES, "raw"), PICTURES / 255)
    assert np.array_equal(scaled(np.full((2, 3), 7.0), "raw"), np.full((2, 3), 7.0))


def test_channels_are_standardised_by_the_reference():
    got = scaled(PICTURES, "channel")
    assert np.allclose(got.mean((0, 1, 2)), 0, atol=1e-5) and np.allclose(got.std((0, 1, 2)), 1)
    part = scaled(PICTURES[:5], "channel", PICTURES)
    assert np.allclose(part, got[:5])


def test_rows_of_a_table_have_one_mean_and_deviation():
    table = np.random.default_rng(1).normal(3, 2, (50, 7))
    got = scaled(table, "channel")
    assert abs(got.mean()) < 1e-5 and got.std() == pytest.approx(1)
    assert not scaled(np.ones((3, 3)), "channel").any()  # a constant is not divided by zero


def test_unit_rows_have_the_norm_of_the_root_of_the_inputs():
    got = scaled(PICTURES, "unit").reshape(20, -1)
    assert np.allclose(np.linalg.norm(got, axis=1), 48**0.5)
    assert not scaled(np.zeros((1, 4)), "unit").any()


@pytest.mark.parametrize("how", SCALINGS)
def test_every_scaling_keeps_shape_and_gives_float32(how):
    got = scaled(PICTURES, how)
    assert got.shape == PICTURES.shape and got.dtype == np.float32


def test_an_unknown_scaling_gives_the_nearest():
    with pytest.raises(UnknownName, match="did you mean 'centred'"):
        scaled(PICTURES, "centered")


def test_calibration_hits_the_target():
    x = np.random.default_rng(2).normal(size=(30, 5))

    def rate(x):
        return len(x) / np.linalg.eigvalsh(x @ x.T / x.shape[1])[-1]

    factor = calibrate_scale(x, 3.6, rate)
    assert rate(factor * x) == pytest.approx(3.6, rel=1e-12)


def test_calibration_of_nothing_is_refused():
    with pytest.raises(BadInput, match="target_critical_rate"):
        calibrate_scale(np.ones((2, 2)), 0.0, lambda x: 1.0)
    with pytest.raises(BadInput, match="are the inputs zero"):
        calibrate_scale(np.zeros((2, 2)), 1.0, lambda x: float("inf"))
