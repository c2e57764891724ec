"""What a tokenizer does. To add one: write these three, and name its file in `finding.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Tokenizer(Protocol):
    """Text to token numbers and back."""

    @property
    def size(self) -> int:
        """How many tokens there are."""
        ...

    def encode(self, text: str) -> list[int]:
        """The tokens of a text, with what the model expects at the beginning."""
        ...

    def decode(self, ids: Sequence[int]) -> str:
        """The text of tokens, without marks such as the beginning."""
        ...

    def save(self, folder: str) -> None:
        """Write it beside a model's weights, in the form that it was read in."""
        ...
