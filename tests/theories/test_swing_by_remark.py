"""The remark on in-distribution test points (SIM-OOD): wide clusters remove the swing-by."""

import numpy as np
import pytest


def bump(curve):
    return (curve - np.minimum.accumulate(curve)).max() / curve[0]


@pytest.mark.parametrize(
    ("scale", "expected"),
    [(0.05, 0.0318), (0.2, 0.0304), (0.5, 0.0221), (1.0, 0.0034), (1.5, 0.0), (2.0, 0.0)],
)
def test_bump_shrinks_as_clusters_widen(plane, scale, expected):  # M31
    found = bump(plane[f"scale {scale}"].loss)
    assert found == pytest.approx(expected, abs=2e-4)
    if scale == 0.05:
        assert found > 0.03
    if scale >= 1.5:
        assert found < 1e-6
