"""Generated English: sentences that parse, prompts whose answers are told."""

from __future__ import annotations

import jax
import numpy as np

from compiling import quick  # tests is on the path
from dynascope.tasks import TemplateEnglish
from dynascope.tasks.recall.english import FACTS, NAMES, PREPOSITIONS, WORDS, Prompts

TASK = TemplateEnglish(noise=0.4, test=50)


def texts(samples):
    return [[WORDS[i] for i in row if i] for row in np.asarray(samples.tokens)]


def test_prepositions_and_facts():
    """Check 21, of the stand-in: 30 prepositions, 20 facts."""
    assert len(PREPOSITIONS) == 30 and len(FACTS) == 20 and len(set(WORDS)) == len(WORDS)


def test_rows_are_of_three_kinds_and_the_noise_is_as_often_as_said():
    samples = quick(lambda key: TASK.sequences(key, 4000, 0.4))(jax.random.key(0))
    rows, targets = texts(samples), np.asarray(samples.targets)
    kinds = [r[0] if r[0] in ("the", "when") else "fact" for r in rows]
    assert abs(kinds.count("the") / 4000 - 0.7) < 0.03
    told = [WORDS[t[13]] for t, k in zip(targets, kinds, strict=True) if k == "when"]
    assert abs(told.count("the") / len(told) - 0.4) < 0.06
    assert set(told) <= {"the", *NAMES}
    facts = [
        (r[0], WORDS[t[3]]) for r, t, k in zip(rows, targets, kinds, strict=True) if k == "fact"
    ]
    assert all(land in ("the", FACTS[city]) for city, land in facts)


def test_prompts():
    prompts = quick(TASK.context)(jax.random.key(1))
    assert isinstance(prompts, Prompts)
    for row, answer in zip(texts(prompts.held_out), prompts.held_out.answers[:, 0], strict=True):
        name = WORDS[int(answer)]
        assert row.count(name) == 1 and row[-1] == "to" and len(row) == 14
    for row, subject in zip(texts(prompts.subjects), prompts.subjects.answers[:, 0], strict=True):
        assert row.count(WORDS[int(subject)]) == 2
    assert all(row[-1] in PREPOSITIONS for row in texts(prompts.prepositions))
    assert not np.array_equal(prompts.objects.tokens, prompts.held_out.tokens)
