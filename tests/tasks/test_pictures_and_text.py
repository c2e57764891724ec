"""Pictures and texts as tasks: what is learned from, and what is held back."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import dynascope as ds
from compiling import quick  # tests is on the path
from dynascope.core.errors import BadInput
from dynascope.data import load, there
from dynascope.dynamics import Adam
from dynascope.models import Patches, Transformer
from dynascope.probes import TestSetAccuracy
from dynascope.tasks import NextLetter, Pictures, SyntheticPictures


def test_pictures_are_rows_with_classes():
    task = Pictures("digits", train=200, test=50)
    x, y = task.samples(jax.random.key(0))
    assert x.shape == (200, 64) and y.dtype == np.int32 and task.output_size == 10
    raw = load("digits").x_train
    scaled = (raw[:200] - raw.mean()) / raw.std()
    assert np.allclose(x, scaled.reshape(200, -1), atol=1e-5)
    held_back, classes = task.test_set(task.context(jax.random.key(0)))
    assert held_back.shape == (50, 64) and classes.tolist() == load("digits").y_test[:50].tolist()
    assert task.shared
    with pytest.raises(BadInput, match="from 1 to 1297"):
        Pictures("digits", train=2000).samples(jax.random.key(0))


@pytest.mark.parametrize("name", ["cifar10", "svhn"])
def test_real_pictures_have_their_shape(name):
    if not there(name):
        pytest.skip(f"needs {name} in the data folder")
    task = Pictures(name, train=64, test=32)
    x, y = task.samples(jax.random.key(0))
    assert task.shape == (32, 32, 3) and x.shape == (64, 3072) and set(y.tolist()) <= set(range(10))


def test_a_made_picture_is_its_pattern_shifted():
    """Without noise every picture is a cyclic shift of its class's pattern; the test set too."""
    task = SyntheticPictures(side=8, classes=3, train=9, test=6, noise=0.0)
    key = jax.random.key(5)
    patterns = np.asarray(quick(task.patterns)(key))
    assert np.allclose(patterns.mean((1, 2)), 0, atol=1e-6)
    assert np.allclose(patterns.std((1, 2)), 1, atol=1e-5)
    for x, y in (
        quick(task.samples)(key),
        quick(lambda key: task.test_set(task.context(key)))(key),
    ):
        for row, c in zip(np.asarray(x), np.asarray(y), strict=True):
            shifts = [np.roll(patterns[c], (i, j), (0, 1)) for i in range(8) for j in range(8)]
            assert min(np.abs(row.reshape(8, 8) - s).max() for s in shifts) < 1e-6
    noisy = quick(SyntheticPictures(side=8, train=3000, noise=0.5).samples)(key)[0]
    assert abs(float(np.asarray(noisy).var()) - 1.25) < 0.05


def test_the_next_letter_follows(tmp_path, monkeypatch):
    monkeypatch.setenv("DYNASCOPE_DATA", str(tmp_path))
    (tmp_path / "own_text").mkdir()
    (tmp_path / "own_text" / "train.txt").write_bytes(b"abcab" * 9 + b"a")
    (tmp_path / "own_text" / "test.txt").write_bytes(b"cabcab")
    task = NextLetter("own_text", 5, test=None)
    x, y = (np.asarray(v) for v in task.samples(jax.random.key(0)))
    assert task.input_size == task.output_size == 3 and x.shape == y.shape == (9, 5)
    assert x[0].tolist() == [0, 1, 2, 0, 1] and y[0].tolist() == [1, 2, 0, 1, 0]
    assert np.array_equal(x.ravel()[1:], y.ravel()[:-1])
    held_back = [v.tolist() for v in task.test_set(task.context(jax.random.key(0)))]
    assert held_back == [[[2, 0, 1, 2, 0]], [[0, 1, 2, 0, 1]]]
    with pytest.raises(BadInput, match="at most 9 blocks"):
        NextLetter("own_text", 5, train=10).samples(jax.random.key(0))


@pytest.mark.slow
def test_a_small_transformer_learns_the_digits():
    model = Transformer(Patches((8, 8, 1), 2), depth=1, width=16, heads=2, hidden=32)
    run = ds.simulate(
        Pictures("digits", test=200), model, Adam(0.01, batch_size=64, order="shuffled"),
        steps=100, probes=(TestSetAccuracy(),), seeds=1,
    )  # fmt: skip
    accuracy = run["test_set_accuracy"].values[0]
    assert accuracy[0] < 0.3 and accuracy[-1] > 0.8
