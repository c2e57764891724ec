"""A prompt: a text that breaks off, the answer that belongs there, and the generic one."""

from __future__ import annotations

from typing import NamedTuple


class Prompt(NamedTuple):
    """A text and what may come next; words without the space before them."""

    text: str
    answer: str  # empty where there is none, as after a bare preposition
    generic: str = "the"
    other: str = ""  # a wrong answer from the context: the subject of a sentence
