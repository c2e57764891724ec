"""Pictures of discs against their definition, and the rule that reads them."""

from __future__ import annotations

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from compiling import quick  # tests is on the path
from dynascope.core.errors import BadInput
from dynascope.tasks import Circles
from dynascope.tasks.diffusion.base import Conditioned, shuffled_conditions
from dynascope.tasks.diffusion.circles import CLASSES, _smoothing
from dynascope.tasks.diffusion.disc_concepts import DiscConcepts
from dynascope.tasks.diffusion.reading import read_discs


def drawn(task, count=400):
    """Pictures of all four kinds in turn, as they are looked at; their diameters and colours."""
    kinds = np.tile(CLASSES, (count // 4, 1))
    x, condition = quick(task.pictures)(jax.random.key(1), jnp.asarray(kinds, jnp.float32))
    return np.asarray(task.shown(x)), np.asarray(condition) / 4 + 0.5, kinds


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["text", "code"])
@pytest.mark.parametrize("side", [16, 32])
@pytest.mark.parametrize("colour", [0.1, 0.8])
def test_reading_is_right_on_true_pictures(spec, side, colour):
    """At least 99.8 % of the readable ones, and at least 95 % are readable."""
    task = Circles(side=side, colour=colour).as_in(spec)
    shown, _, kinds = drawn(task, 4000)
    read = read_discs(shown, task.middle)
    assert read.readable.mean() >= 0.95
    assert (read.blue == kinds[:, 0])[read.readable].mean() >= 0.998
    assert (read.small == kinds[:, 1])[read.readable].mean() >= 0.998


def test_pictures_without_a_disc_are_not_guessed():
    rng = np.random.default_rng(0)
    noise = rng.random((20, 16, 16, 3))
    white = np.full((16, 16, 3), 0.95)
    two = white.copy()
    two[1:4, 1:4] = two[12:15, 12:15] = 0.2
    for picture in (*noise, white, np.full_like(white, 0.3), two):
        assert not read_discs(picture).readable


def test_conditions_are_what_the_picture_shows():
    """The colour of the middle pixel and the area, for discs that are wholly inside."""
    task = replace(Circles(side=32), blur=1e-3)
    shown, condition, _ = drawn(task)
    read = read_discs(shown, task.middle)
    dark = shown[..., 1] < 0.65
    colours = (shown * dark[..., None]).sum((1, 2)) / np.maximum(dark.sum((1, 2)), 1)[:, None]
    seen = dark.sum((1, 2)) > 20
    assert np.allclose(colours[seen], condition[seen, 1:], atol=5e-3)
    whole = condition[:, 0] < 0.45  # cannot be cut off: centres lie within half a side
    assert np.abs(read.diameter - condition[:, 0])[whole].max() < 0.04


def test_classes_have_their_means():
    task = Circles(colour=0.6)
    assert np.allclose(task.means(jnp.asarray(CLASSES, jnp.float32)), [
        [0.65, 0.8, 0.2, 0.2], [0.25, 0.8, 0.2, 0.2], [0.65, 0.2, 0.2, 0.8], [0.25, 0.2, 0.2, 0.8],
    ])  # fmt: skip
    text = task.as_in("text")
    assert np.allclose([text.means(jnp.zeros(2))[0], text.means(jnp.ones(2))[0]], [0.7, 0.3])
    condition = (
        np.asarray(quick(lambda key: task.draw(key, 3000, None))(jax.random.key(0))[1]) / 4 + 0.5
    )
    means = condition.reshape(-1, 3, 4).mean(0)
    assert np.allclose(means, task.means(jnp.asarray(CLASSES[:3], jnp.float32)), atol=0.02)


def test_small_blue_discs_are_held_out():
    task = Circles(side=16, colour=0.7)
    x, _ = quick(lambda key: task.draw(key, 300, None))(jax.random.key(0))
    read = read_discs(np.asarray(task.shown(x)), task.middle)
    assert not (read.blue & read.small & read.readable).any()


def test_smoothing_is_the_gaussian_filter():
    rng = np.random.default_rng(0)
    picture = rng.random((16, 16))
    matrix = _smoothing(16, 1.0)
    assert np.allclose(matrix @ picture @ matrix.T, gaussian_filter(picture, 1.0), atol=1e-12)


def test_pixels_are_the_definition_written_out():
    """Each picture again in numpy, from the numbers that the key gives."""
    task = Circles(side=16, colour=0.5)
    key, count = jax.random.key(5), 8
    kinds = np.tile(CLASSES, (2, 1))
    x, condition = quick(task.pictures)(key, jnp.asarray(kinds, jnp.float32))
    condition = np.asarray(condition) / 4 + 0.5
    place, _ = jax.random.split(key)
    u = np.asarray(jax.random.uniform(place, (count, 9), minval=-1.0), float)
    at = (np.arange(16) + 0.5) / 8 - 1
    for i in range(count):
        mask = np.hypot(at[None] - u[i, 4] / 2, at[:, None] - u[i, 5] / 2) <= condition[i, 0]
        soft = gaussian_filter(mask.astype(float), 0.5)[..., None]
        want = soft * np.asarray(condition[i, 1:]) + (1 - soft) * (0.9 + u[i, 6:] / 10)
        assert np.abs(np.asarray(task.shown(x[i])) - want).max() < 6e-3  # noise of 0.001


def test_shuffling_keeps_data_and_conditions():
    rows = jnp.arange(1000.0)[:, None]
    same = shuffled_conditions(Conditioned(rows, rows), 0.0, jax.random.key(0))
    assert np.array_equal(same.condition, rows)
    all_ = shuffled_conditions(Conditioned(rows, rows), 1.0, jax.random.key(0))
    assert np.array_equal(np.sort(all_.condition[:, 0]), np.arange(1000))
    assert abs(np.corrcoef(all_.condition[:, 0], rows[:, 0])[0, 1]) < 0.15


def test_loss_of_the_two_questions_is_the_logistic_one():
    task = DiscConcepts(Circles(side=8))
    samples = quick(lambda key: task.draw(key, 8, None))(jax.random.key(0))
    score = np.linspace(-3, 3, 16).reshape(8, 2).astype(np.float32)
    p = 1 / (1 + np.exp(-score))
    want = -np.where(np.asarray(samples.concepts) > 0.5, np.log(p), np.log1p(-p)).mean()
    assert np.isclose(task.loss(lambda x: jnp.asarray(score), samples), want, rtol=1e-5)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"colour": 0.0}, "order is undefined"),
        ({"size": 0.0}, "order is undefined"),
        ({"side": 4}, "at least 8 pixels"),
        ({"size": 0.9}, "diameters between"),
        ({"shuffled": 2.0}, "a share from 0 to 1"),
        ({"noise": 0.0}, "above 0"),
    ],
)
def test_bad_settings_are_refused(settings, words):
    with pytest.raises(BadInput, match=words):
        Circles(**settings)
    with pytest.raises(BadInput, match="pictures"):
        read_discs(np.zeros((4, 5, 3)))
