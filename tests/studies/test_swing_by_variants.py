"""Swing-by variants: networks of both studies are the same, and what counts positive starts."""

from __future__ import annotations

import numpy as np
import xarray as xr

from dynascope.core.run import Run
from dynascope.studies.swing_by.swing_by import runs as plain
from dynascope.studies.swing_by.swing_by_variants import claims, runs

STUDY = "swing-by-variants"


def test_only_the_means_and_the_rotation_differ_from_the_program():
    """A run that both studies have is made once: `one layer`."""
    ours = runs.networks.function(runs.study.at("smoke"))
    program = plain.networks.function(plain.study.at("smoke"))
    assert ours["one layer"] == program["one layer"]
    assert ours["rotated"].task.rotated and ours["rotated"].task.means == (2.0, 4.0)
    for name in ("low dimension", "high dimension", "three layers"):
        assert ours[name].task.means == (1.0, 2.0) and program[name].task.means == (2.0, 4.0)
        assert (ours[name].model, ours[name].dynamics) == (
            program[name].model,
            program[name].dynamics,
        )


def test_more_starts_of_two_concepts_are_positive():
    two, four = np.ones((4, 1, 2, 2)), np.ones((4, 1, 3, 3))
    four[:3, 0, 0, 1] = -1.0
    runs = [Run(xr.Dataset({"input_jacobian": (("seed", "step", "i", "j"), w)}), None)
            for w in (two, four)]  # fmt: skip
    assert claims.more_positive(*runs).value == 0.75
