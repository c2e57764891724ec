from __future__ import annotations

import numpy as np
import pytest

from dynascope.store.compare import Agreement, differences, same_origin
from dynascope.store.manifest import Manifest


def only(a, b):
    [found] = differences({"x": np.asarray(a)}, {"x": np.asarray(b)})
    return found


def test_the_same_bits_do_not_differ():
    values = np.array([1.0, np.nan, -0.0, np.inf])
    assert differences({"x": values}, {"x": values.copy()}) == ()
    assert differences({"x": np.array(["a"])}, {"x": np.array(["a"], object)}) == ()


def test_a_difference_is_relative_to_the_largest_stored_value():
    found = only([1.0, -8.0, 0.5], [1.0, -8.0, 0.25])
    assert (found.largest, found.relative) == (0.25, 0.25 / 8)


@pytest.mark.parametrize(("dtype", "tolerance"), [
    ("f8", 1e-6), ("f4", 1e-3), ("c16", 1e-6), ("c8", 1e-3), ("f2", 5e-2),
])  # fmt: skip
def test_the_tolerance_follows_the_precision(dtype, tolerance):
    base = np.array([1.0, 1.0], dtype)
    near, far = (base * np.array([1, 1 + s * tolerance], dtype) for s in (0.5, 2))
    assert only(near, base).within and not only(far, base).within
    assert only(near, base).tolerance == tolerance


@pytest.mark.parametrize(("a", "b"), [
    ([1.0, np.nan], [1.0, 2.0]),
    ([1.0, np.inf], [1.0, -np.inf]),
    ([1, 2], [1, 3]),
    (["a"], ["b"]),
    ([True], [False]),
    ([1.0], [1.0, 1.0]),
    ([1.0], np.array([1.0], "f4")),
    ([1e-300], [0.0]),
])  # fmt: skip
def test_what_no_tolerance_can_excuse_is_infinite(a, b):
    assert only(a, b).relative == np.inf and not only(a, b).within


def test_the_sign_of_zero_is_a_difference_of_nothing():
    assert only([0.0], [-0.0]).largest == 0.0


def test_the_worst_comes_first_and_a_missing_variable_is_worst():
    one = {"a": np.array([1.0]), "b": np.array([1.0])}
    two = {"a": np.array([1.1]), "b": np.array([2.0]), "c": np.array([0.0])}
    assert [d.variable for d in differences(one, two)] == ["c", "b", "a"]


def test_nan_in_the_same_places_is_no_obstacle():
    found = only([np.nan, 2.0], [np.nan, 1.0])
    assert found.largest == 1.0


def manifest(versions, device="cpu", session_versions=(1,)):
    sessions = tuple({"versions": v} for v in session_versions)
    attrs = {"versions": versions, "device": device}
    return Manifest("run", "0" * 16, "", {}, attrs=attrs, sessions=sessions)


def test_the_origin_is_versions_and_device_throughout():
    here = manifest({"jax": "1"})
    assert same_origin(here, manifest({"jax": "1"}))
    assert not same_origin(here, manifest({"jax": "2"}))
    assert not same_origin(here, manifest({"jax": "1"}, device="gpu"))
    updated_meanwhile = manifest({"jax": "1"}, session_versions=(1, 2))
    assert not same_origin(here, updated_meanwhile)


def test_agreement_is_said_in_words():
    near, far = only([1.0 + 1e-9], [1.0]), only([2.0], [1.0])
    assert str(Agreement("0123", True, ())) == "agrees bit for bit with 0123"
    assert str(Agreement("0123", False, (near,))).startswith("agrees within rounding with 0123")
    assert str(Agreement("0123", False, (far,))).startswith("differs from 0123: largest")
