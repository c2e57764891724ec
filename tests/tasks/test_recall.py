"""Noisy recall and synthetic indirect objects: checks 3, 4 and 20, and exact ceilings."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from compiling import quick  # tests is on the path
from dynascope.core.errors import BadInput, MissingData
from dynascope.data import load_text
from dynascope.tasks import NoisyRecall, SyntheticIOI, recall_of_program
from dynascope.tasks.recall.bigrams import bigrams
from dynascope.tasks.recall.synthetic_ioi import commoner, rarer

KEY = jax.random.key(0)


def rows(task, noise=None, count=2000):
    draw = quick(lambda key: task.sequences(key, count, task.noise if noise is None else noise))
    found = draw(KEY)
    return {name: np.asarray(getattr(found, name)) for name in found._fields}


def test_what_follows_the_trigger():
    """Check 3."""
    task = NoisyRecall(40, 0.4, ordinary=10, exclude=True)
    found = rows(task)
    tokens, answers = found["tokens"], found["answers"][:, 0]
    assert (tokens[:, -1] == 0).all() and (found["places"] == 39).all()
    row, place = np.nonzero(tokens[:, :-2] == 0)  # the last but one leads to the forced trigger
    after = tokens[row, place + 1]
    noisy = after == 10
    assert (noisy | (after == answers[row])).all()
    assert noisy.mean() == pytest.approx(0.4, abs=4 * np.sqrt(0.24 / len(noisy)))
    targets = found["targets"][:, 0]
    assert np.isin(targets, [10]).mean() == pytest.approx(0.4, abs=4 * np.sqrt(0.24 / 2000))
    again = rows(task)
    assert np.array_equal(tokens, again["tokens"])


def test_no_noise_and_only_noise():
    """Check 3: alpha = 0 and alpha = 1."""
    task = NoisyRecall(40, 0.0, ordinary=10, exclude=True)
    assert not (rows(task)["tokens"] == 10).any()
    found = rows(task, noise=1.0)
    tokens = found["tokens"]
    row, place = np.nonzero(tokens[:, :-2] == 0)
    assert (tokens[row, place + 1] == 10).all()


@pytest.mark.parametrize("options", [
    {"ordinary": 1}, {"length": 1}, {"noise": 1.5}, {"triggers": (3, 3), "scored": "repeats"},
    {"triggers": (99,)}, {"places": 300}, {"triggers": (1, 2)}, {"noise_token": 0},
])  # fmt: skip
def test_bad_settings(options):
    with pytest.raises(BadInput):
        NoisyRecall(**options)


@pytest.mark.parametrize(("noise", "missed"), [(0.5, 0.1428), (0.3, 0.0647), (0.0, 0.0195)])
def test_how_often_the_answer_is_never_shown(noise, missed):
    task = NoisyRecall(256, 0.5, ordinary=65)
    assert task.never_shown(noise) == pytest.approx(missed, abs=2e-4)


def test_never_shown_against_rows():
    task = NoisyRecall(20, 0.5, ordinary=6, exclude=True)
    found = rows(task, count=20_000)
    tokens, answers = found["tokens"][:, :-1], found["answers"][:, :1]
    shown = ((tokens[:, :-1] == 0) & (tokens[:, 1:] == answers)).any(1)
    assert 1 - shown.mean() == pytest.approx(task.never_shown(), abs=0.015)


def test_the_repeated_triggers_of_the_program():
    task = NoisyRecall(
        60, 0.5, ordinary=8, triggers=(0, 3), noise_token=5, scored="repeats", places=30
    )
    found = rows(task, count=200)
    for tokens, places, weights, answers, targets in zip(
        *(found[n] for n in ("tokens", "places", "weights", "answers", "targets")), strict=True
    ):
        expected = [i for i, z in enumerate(tokens) if z in (0, 3) and z in tokens[:i]][:30]
        assert places[weights > 0].tolist() == expected
        outputs = {
            int(tokens[p]): int(a)
            for p, a in zip(places, answers, strict=True)
            if tokens[p] in (0, 3)
        }
        assert all(t in (5, outputs[int(tokens[p])])
                   for p, t, w in zip(places, targets, weights, strict=True) if w > 0)  # fmt: skip


def test_tiny_shakespeare():
    """Check 4."""
    try:
        text = load_text("tinyshakespeare", download=False)
    except MissingData as error:
        pytest.skip(str(error))
    table = bigrams("tinyshakespeare", 0)
    assert len(text.train + text.test) == 1_115_394 and table.tokens == 65
    assert set(np.argsort(table.initial)[-5:]) == {1, 43, 58, 53, 39}
    assert table.initial[1] == pytest.approx(0.1523, abs=1e-4)
    assert np.allclose(table.follow.sum(1), 1)
    found = np.asarray(
        quick(lambda key: recall_of_program(256).sequences(key, 200, 0.5).tokens)(KEY)
    )
    assert (found == 1).sum(1).mean() == pytest.approx(36.3, abs=1.5)


def test_indirect_objects():
    """Check 20."""
    task = SyntheticIOI(14, 0.0, ordinary=9)
    found = rows(task, count=3000)
    tokens, answers = found["tokens"], found["answers"][:, 0]
    assert (tokens[:, -1] == 0).all() and ((tokens[:, :-1] == 0).sum(1) == 3).all()
    for row, answer in zip(tokens, answers, strict=True):
        at = np.flatnonzero(row[:-1] == 0)
        after = row[at + 1]
        assert np.diff(at).min() >= 2 and (after == answer).sum() == 1
        [other] = set(after.tolist()) - {int(answer)}
        assert (after == other).sum() == 2 and 0 not in after and 9 not in after
    places = np.bincount(np.nonzero(tokens[:, :-1] == 0)[1], minlength=13)
    assert places[12] == 0 and (places[:12] > 0).all(), "every place before the end occurs"
    assert (rarer(tokens) == answers).all() and (commoner(tokens) != answers).all()
    with pytest.raises(BadInput):
        SyntheticIOI(8)
