"""The small tasks of the catapult studies: clusters on a line, one example."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.runtime.precision import precision
from dynascope.tasks import OneExample, TwoClusters


def drawn(task, seed=0):
    with precision("float64"):
        return tuple(np.asarray(v) for v in task.samples(jax.random.key(seed)))


def test_clusters_lie_on_the_side_of_their_label():
    x, y = drawn(TwoClusters(count=20_000))
    assert y.sum() == 0
    for side in (1, -1):
        part = x[y == side]
        assert part.mean() == pytest.approx(2 * side, abs=0.03)
        assert part.std() == pytest.approx(1, abs=0.03)
    _, random = drawn(TwoClusters(count=20_000, labels="random"))
    assert random.sum() != 0 and abs(random.mean()) < 0.03


def test_the_loss_has_the_reduction_it_names():
    x, y = drawn(TwoClusters(count=10))
    zero = np.zeros_like
    assert float(TwoClusters(count=10, reduction="mse").loss(zero, (x, y))) == pytest.approx(1)
    assert float(TwoClusters(count=10, reduction="half").loss(zero, (x, y))) == pytest.approx(5)


def test_one_example_is_one_row():
    x, y = drawn(OneExample(dimension=5, label=-2.0))
    assert x.shape == (1, 5) and y.tolist() == [[-2.0]]
    assert float(OneExample(dimension=5, label=-2.0).loss(np.sum, (x, 0 * y + x.sum()))) == 0


def test_settings_that_describe_no_task_are_refused():
    with pytest.raises(BadInput, match="count"):
        TwoClusters(count=0)
    with pytest.raises(BadInput, match="all inputs are 0"):
        TwoClusters(distance=0.0, spread=0.0)
    with pytest.raises(BadInput, match="dimension"):
        OneExample(dimension=0)
    with pytest.raises(BadInput, match="label"):
        OneExample(label=float("inf"))
