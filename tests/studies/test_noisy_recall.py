"""Noisy recall in training: the first steps of checks 17 and 18, at a reduced size."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynascope.core.errors import MissingData
from dynascope.data import load_text
from dynascope.engine import execute
from dynascope.models import recall_transformer
from dynascope.studies.recall.training import trained
from dynascope.tasks import recall_of_program

STUDY = "noisy-recall"


@pytest.fixture(scope="module")
def first_steps():
    """Twelve steps with noise and without, d = 64, T = 64, batches of 64."""
    try:
        load_text("tinyshakespeare", download=False)
    except MissingData as error:
        pytest.skip(str(error))
    task = replace(recall_of_program(64), places=28, test=64)
    model = recall_transformer(64, 64)
    return {
        noise: execute(
            trained(replace(task, noise=noise), model, 0.1, 64, 12, range(2), cuts=()),
            progress=False,
        )
        for noise in (0.5, 0.0)
    }


@pytest.mark.slow
def test_the_noise_comes_first(first_steps):
    """Check 17: p(noise) of at least 0.8 within five steps, in the last MLP."""
    run = first_steps[0.5]
    whole = run["recall"].sel(cut="whole")
    early = whole.sel(readout="noise").sel(step=slice(1, 5)).max("step").values
    assert (early >= 0.8).all()
    assert (whole.sel(readout="right", step=2).values < 0.05).all()
    assert (run["noise_margin"].sel(step=5).values > 0).all()


@pytest.mark.slow
def test_without_noise_it_never_comes(first_steps):
    """Check 18: the noise stays below 0.03."""
    noise = first_steps[0.0]["recall"].sel(cut="whole", readout="noise").sel(step=slice(2, None))
    assert np.all(noise.values < 0.03)


def test_smoke(claims):
    assert claims["margin-early"].verdict == "holds"
    assert claims["five-triggers-matched"].verdict == "not_applicable"
