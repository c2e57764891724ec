"""The scorer, and the standard errors of chen2025 Table 4.2."""

from __future__ import annotations

import itertools
from decimal import Decimal

import numpy as np
import pytest

from dynascope.data import Question, load_questions
from dynascope.data.questions import questions_there
from dynascope.language.few_shot import ask, final_number, paired, prompt_of, right, z_of_shares
from dynascope.studies.recall.few_shot.runs import PRINTED, Asked
from dynascope.studies.recall.few_shot.runs import asked as asked_of_batches

from .small import model


@pytest.mark.parametrize(("text", "number"), [
    ("#### 1,234", "1234"), ("it costs $18", "18"), ("#### -3", "-3"), ("18.0", "18.0"),
    ("5 apples and 6 pears, 11 in all", "11"), ("#### $1,000,000.50", "1000000.50"),
    ("#### 7\n8", "7"), ("−4", "-4"), ("1,2", "2"), ("a #### b", None), ("", None),
])  # fmt: skip
def test_the_last_number(text, number):
    assert final_number(text) == (None if number is None else Decimal(number))


@pytest.mark.skipif(not questions_there(), reason="gsm8k is not there")
def test_worked_answers_are_right():
    questions = load_questions("test", download=False)
    assert len(questions) == 1319 and len(load_questions("train", download=False)) == 7473
    assert all(right(q.answer, q.answer) for q in questions)
    other = [right(a.answer, b.answer) for a, b in itertools.pairwise(questions)]
    assert np.mean(other) < 0.05


def test_standard_errors_of_the_printed_table():
    z = [[z_of_shares(a / 100, b / 100, 1319) for a, b in zip(*pair, strict=True)]
         for pair in PRINTED]  # fmt: skip
    known = [[5.3, 1.3, -0.7, -0.3], [0.7, 0.4, -0.9, -1.1], [0.6, 0.5, -0.5, -1.7]]
    np.testing.assert_allclose(z, known, atol=0.06)


def test_pairs():
    rng = np.random.default_rng(0)
    first = rng.random(400) < 0.5
    same = paired(first, first)
    assert (same.difference, same.low, same.high, same.p_value) == (0, 0, 0, 1)
    second = first | (np.arange(400) < 60)
    found = paired(first, second)
    assert found.low < found.difference < found.high and found.low > 0 and found.p_value < 1e-6
    # the interval of a mean of -1, 0, 1, from its standard error
    steps = second.astype(float) - first
    half = 1.96 * steps.std() / 20
    assert found.high - found.difference == pytest.approx(half, rel=0.15)


def test_a_model_is_asked():
    lm = model()
    questions = [Question("a cat", "#### 1"), Question("a dog", "#### 2")]
    got = ask(lm, questions, [], tokens=4)
    assert got.shape == (2,) and got.dtype == bool
    assert prompt_of(questions[:1], "to").count("Question:") == 2


def test_answers_of_batches_are_joined_in_their_order():
    first = Asked(np.array([True, False]), np.array([False, False]))
    second = Asked(np.array([True]), np.array([True]))
    found = asked_of_batches.function(None, {0: first, 10: second})
    assert found.before.tolist() == [True, False, True]
    assert found.after.tolist() == [False, False, True]
