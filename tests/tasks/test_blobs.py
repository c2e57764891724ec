from __future__ import annotations

import jax
import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.tasks import Blobs


def test_inputs_have_the_stated_mean_and_deviation():
    x, y = map(np.asarray, Blobs(count=4000).samples(jax.random.key(0)))
    assert x.shape == (4000, 79) and y.mean() == 0.5
    assert x.mean(axis=0) == pytest.approx(0.45, abs=0.03)
    assert x.std(axis=0) == pytest.approx(np.hypot(0.35, 0.25), abs=0.02)
    apart = x[y[:, 0] == 1].mean(axis=0) - x[y[:, 0] == 0].mean(axis=0)
    assert np.abs(apart) == pytest.approx(0.7, abs=0.04)
    assert 0.2 < (apart > 0).mean() < 0.8, "each input has its own side"


def test_seeds_have_sides_and_noise_of_their_own_and_inputs_are_independent():
    drawn = [np.asarray(Blobs(count=4000).samples(jax.random.key(s))[0]) for s in (0, 1)]
    sides = [np.sign(x[1::2].mean(axis=0) - x[::2].mean(axis=0)) for x in drawn]
    assert (sides[0] != sides[1]).any()
    noise = [x - np.where(np.arange(4000)[:, None] % 2, 0.35, -0.35) * s - 0.45
             for x, s in zip(drawn, sides)]  # fmt: skip
    assert abs(np.corrcoef(noise[0].ravel(), noise[1].ravel())[0, 1]) < 0.02
    between = np.corrcoef(noise[0], rowvar=False) - np.eye(79)
    assert abs(between).max() < 0.1
    alike = np.sign(noise[0][0]) == sides[0]  # the noise does not know the sides
    assert 0.2 < alike.mean() < 0.8


@pytest.mark.parametrize("name", ["count", "dimension", "distance", "spread"])
def test_what_is_no_blob_is_refused(name):
    with pytest.raises(BadInput, match=name):
        Blobs(**{name: -1})
