"""What is written behind `--set` and `--over`."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from dynascope.core.errors import BadInput
from dynascope.core.values import axes, changes, value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3", 3),
        ("1e-3", 0.001),
        ("true", True),
        ("True", True),
        ("null", None),
        ("None", None),
        ("[1, [2]]", [1, [2]]),
        ("(1, 2)", (1, 2)),
        (".5", 0.5),
        ('"3"', "3"),
        ("'a b'", "a b"),
        ("relu", "relu"),
        ("A^2", "A^2"),
        ("eq2.1", "eq2.1"),
        ("Infinity", math.inf),
        ("a=b", "a=b"),
        ("__import__('os')", "__import__('os')"),
    ],
)
def test_a_value_is_json_else_a_literal_else_text(text, expected):
    assert value(text) == expected
    assert type(value(text)) is type(expected)


def test_changes_keep_everything_behind_the_first_equals_sign():
    assert changes(["a.b=x=y", " c = 1 "], seeds=None) == {"a.b": "x=y", "c": 1}


@pytest.mark.parametrize("pairs", [["a"], ["=1"], ["a="], ["a=1", "a=2"], ["seeds=4"]])
def test_a_change_that_says_nothing_or_two_things_is_refused(pairs):
    with pytest.raises(BadInput, match=r"path=value|twice"):
        changes(pairs, seeds=3)


def test_axes_take_lists_and_ranges():
    assert axes(["a=1,2.5", "b=relu,tanh", "c=[1,2],[3,4]", "d=7"]) == {
        "a": [1, 2.5],
        "b": ["relu", "tanh"],
        "c": [[1, 2], [3, 4]],
        "d": [7],
    }
    assert axes(["a=0.1:0.3:3"])["a"] == [0.1, 0.2, 0.3]
    assert axes(["a=3:1:3"])["a"] == [3, 2.0, 1]


def test_a_log_range_has_equal_factors_and_exact_ends():
    found = axes(["a=log:1e-3:2:7"])["a"]
    assert found[0] == 1e-3 and found[-1] == 2
    factors = [b / a for a, b in pairwise(found)]
    assert max(factors) / min(factors) - 1 < 1e-9


@pytest.mark.parametrize(
    "text", ["a=1:2", "a=1:2:1", "a=1:2:2.5", "a=log:0:1:3", "a=log:1:2", "a=x:1:3", "a=1:2:3:4"]
)
def test_a_range_that_is_none_is_refused(text):
    with pytest.raises(BadInput, match="--over a"):
        axes([text])


def test_an_axis_given_twice_is_refused():
    with pytest.raises(BadInput, match="twice"):
        axes(["a=1", "a=2"])
