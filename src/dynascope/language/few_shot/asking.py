"""A model answers questions after a few worked examples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dynascope.data.questions import Question
from dynascope.language.few_shot.answers import prompt_of, right
from dynascope.language.generation import generate
from dynascope.language.model import LanguageModel
from dynascope.runtime.progress import Progress

STOP = ("\nQuestion:", "\n\n")


def ask(
    model: LanguageModel, questions: Sequence[Question], examples: Sequence[Question],
    tokens: int = 128, *, progress: bool = True,
) -> np.ndarray:  # fmt: skip
    """Which questions a model answers rightly, (question,).

    Args:
        model: The model; it writes the most likely tokens.
        questions: What is asked.
        examples: Worked examples that stand before every question.
        tokens: Longest answer.
        progress: Whether to show how far it is.
    """
    found = []
    with Progress("questions", len(questions), enabled=progress) as bar:
        for i, question in enumerate(questions):
            text = prompt_of(examples, question.question)
            found.append(right(generate(model, text, tokens, STOP), question.answer))
            bar.update(i + 1)
    return np.array(found)
