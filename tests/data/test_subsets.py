"""Two-class subsets: labels, sizes, order, and what is refused."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from dynascope.core.errors import BadInput, UnknownName
from dynascope.data import PAIRS, class_arrays, load, two_class_arrays, two_classes
from dynascope.tasks import OneHot

DIGITS = load("digits")


def test_labels_are_signs_of_the_right_pictures():
    x, y, x_test, y_test = two_classes(DIGITS, (3, 8), seed=None)
    own = np.isin(DIGITS.y_train, (3, 8))
    assert np.array_equal(x, DIGITS.x_train[own].reshape(-1, 64))
    assert np.array_equal(y == 1, DIGITS.y_train[own] == 8)
    assert len(x_test) == np.isin(DIGITS.y_test, (3, 8)).sum()
    assert set(np.unique(y_test)) == {-1.0, 1.0}


def test_a_smaller_subset_begins_a_larger_one():
    small, large = (two_classes(DIGITS, (0, 1), n)[0] for n in (20, 50))
    assert np.array_equal(small, large[:20])


def test_another_seed_draws_other_rows():
    assert not np.array_equal(*(two_classes(DIGITS, (0, 1), 20, seed=seed)[0] for seed in (0, 1)))


def test_more_samples_than_there_are_is_refused():
    with pytest.raises(BadInput, match="train samples of digits: got 5000, expected from 1 to"):
        two_classes(DIGITS, (0, 1), 5000)
    with pytest.raises(BadInput, match="test samples of digits"):
        two_classes(DIGITS, (0, 1), 10, 0)


@pytest.mark.parametrize("classes", [(0,), (0, 1, 2), (4, 4)])
def test_anything_but_two_classes_is_refused(classes):
    with pytest.raises(BadInput, match="two different classes"):
        two_classes(DIGITS, classes)


def test_an_unknown_class_is_refused_with_the_known_ones():
    with pytest.raises(BadInput, match="a class of digits: 0, 1, 2"):
        two_classes(DIGITS, (0, 11))


def test_an_unknown_scaling_is_refused():
    with pytest.raises(UnknownName, match="unknown scaling"):
        two_classes(DIGITS, (0, 1), scaling="standard")


def test_the_arrays_of_a_choice_are_made_once():
    choice = ("digits", None, (0, 1), 20, None, "raw", 0, 1)
    assert two_class_arrays(*choice)[0] is two_class_arrays(*choice)[0]


def test_pairs_are_those_of_the_documents():
    assert PAIRS["cifar10"] == PAIRS["svhn"] == (0, 2) and PAIRS["fsdd"] == (1, 3)


def test_all_classes_are_pooled_as_two_are():
    whole, classes, *_ = class_arrays("digits", 20, 5, "raw", 0)
    pooled, same, test, _ = class_arrays("digits", 20, 5, "raw", 0, 2)
    assert pooled.shape == (20, 4, 4) and test.shape == (5, 4, 4) and np.array_equal(classes, same)
    np.testing.assert_allclose(pooled[3, 1, 2], whole[3, 2:4, 4:6].mean(), rtol=1e-6)
    task = OneHot("digits", 20, 5, pool=2)
    assert task.input_size == 16 and task.samples(jax.random.key(0))[0].shape == (20, 16)
    with pytest.raises(BadInput, match="pool"):
        OneHot(pool=0)


def test_pooled_pictures_are_means_of_blocks_and_standardised_after():
    x, *_ = two_classes(DIGITS, (0, 1), 10, pool=2)
    first = two_classes(DIGITS, (0, 1), 10)[0][0].reshape(8, 8)
    assert x.shape == (10, 16)
    assert x[0, 1] == pytest.approx(first[:2, 2:4].mean())
    whole, *_ = two_classes(DIGITS, tuple(DIGITS.labels[:2]), scaling="channel", pool=2)
    assert 0.8 < whole.std() < 1.2
    with pytest.raises(BadInput, match="a divisor of the sides"):
        two_classes(DIGITS, (0, 1), pool=3)
