"""Prompts as tokens: where an answer has several, its first is scored, and that is said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dynascope.core.errors import bad
from dynascope.language.model import LanguageModel
from dynascope.language.prompts.base import Prompt

NONE = -1  # the token of an answer that is not there


class Encoded(NamedTuple):
    """Prompts of one model: their tokens, and those of the possible answers."""

    prompts: tuple[Prompt, ...]
    texts: tuple[tuple[int, ...], ...]
    answer: np.ndarray  # (prompt,), NONE where there is no answer
    generic: np.ndarray
    other: np.ndarray
    notes: tuple[str, ...]

    def part(self, which: Sequence[int] | np.ndarray) -> Encoded:
        """Some of the prompts."""
        return Encoded(
            tuple(self.prompts[i] for i in which), tuple(self.texts[i] for i in which),
            self.answer[which], self.generic[which], self.other[which], (),
        )  # fmt: skip


def encoded(model: LanguageModel, prompts: Sequence[Prompt]) -> Encoded:
    """The tokens of prompts and answers; answers stand behind a space."""
    texts, several, tokens = [], [], {"answer": [], "generic": [], "other": []}  # type: ignore[var-annotated]
    for prompt in prompts:
        text = tuple(model.encode(prompt.text))
        texts.append(text)
        for name, found in tokens.items():
            word = getattr(prompt, name)
            ids = following(model, prompt.text, text, word) if word else [NONE]
            found.append(ids[0])
            if name == "answer" and len(ids) > 1:
                several.append(f"{word!r} is {len(ids)} tokens, {model.decode(ids[:1])!r} first")
        if tokens["answer"][-1] == tokens["generic"][-1]:
            raise bad("prompts", prompt.text, "answers that differ in their first token")
    notes: tuple[str, ...] = ()
    if several:
        notes = (f"first tokens are scored where answers have several: {len(several)} of "
                 f"{len(texts)} ({'; '.join(dict.fromkeys(several[:3]))})",)  # fmt: skip
    answer, generic, other = (np.array(ids, np.int64) for ids in tokens.values())
    return Encoded(tuple(prompts), tuple(texts), answer, generic, other, notes)


def following(model: LanguageModel, text: str, ids: Sequence[int], word: str) -> list[int]:
    """The tokens of a word that comes next."""
    whole = model.encode(f"{text} {word}")
    if tuple(whole[: len(ids)]) != tuple(ids) or len(whole) == len(ids):
        raise bad("prompts", f"{text} {word}", "a prompt whose tokens stay when a word is added")
    return whole[len(ids) :]
