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


@pytest.mark.parametrize("name", ["count", "dimension", "distance", "spread"])
def test_what_is_no_blob_is_refused(name):
    with pytest.raises(BadInput, match=name):
        Blobs(**{name: -1})
