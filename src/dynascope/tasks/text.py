"""The next letter of a text, at every place of a block."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.core.errors import bad
from dynascope.data import load_text
from dynascope.tasks.classes import Classes, Labelled

Blocks = tuple[np.ndarray, np.ndarray]  # letters (n, length) and those that follow them


@dataclass(frozen=True)
class NextLetter(Classes):
    """Tell the next byte of a text from those before it; blocks do not overlap.

    The letters are the different bytes of the training part, in order. Every seed trains on the
    same blocks, which are held once.

    Args:
        data: A text as `dynascope.data.load_text` knows it.
        length: Letters of a block.
        train: How many training blocks; None for all.
        test: How many test blocks; None for all.
    """

    offers: ClassVar[str | None] = "tokens"

    data: str = "tinyshakespeare"
    length: int = 64
    train: int | None = None
    test: int | None = 64

    def check(self) -> None:
        """Raise for counts below one."""
        for name in ("length", "train", "test"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise bad(name, value, "a whole number of at least 1")

    @property
    def input_size(self) -> int:
        """Number of different letters."""
        return len(_letters(self.data))

    @property
    def output_size(self) -> int:
        """Number of different letters."""
        return self.input_size

    @property
    def shared(self) -> bool:
        """The same blocks for every seed."""
        return True

    def samples(self, key: jax.Array) -> Labelled:
        """The training blocks and what follows each letter."""
        return tuple(map(jnp.asarray, self._blocks("train", self.train)))

    def context(self, key: jax.Array) -> Labelled:
        """The test blocks, which are held once like the others."""
        return tuple(map(jnp.asarray, self._blocks("test", self.test)))

    def test_set(self, context: Any) -> Labelled:
        """The test blocks."""
        return context

    def _blocks(self, part: str, count: int | None) -> Blocks:
        x, y = blocks(self.data, part, self.length)
        if count is not None and count > len(x):
            raise bad(part, count, f"at most {len(x)} blocks of {self.length} letters")
        return x[:count], y[:count]


@lru_cache(maxsize=4)
def _letters(name: str) -> np.ndarray:
    return np.unique(np.frombuffer(load_text(name).train, np.uint8))


@lru_cache(maxsize=8)
def blocks(name: str, part: str, length: int) -> Blocks:
    """Letters of a part of a text as numbers, cut into blocks, with those that follow.

    Bytes of the test part that the training part does not have become the nearest that it has.
    """
    letters = _letters(name)
    text = np.frombuffer(getattr(load_text(name), part), np.uint8)
    numbers = np.minimum(np.searchsorted(letters, text), len(letters) - 1).astype(np.int32)
    count = (len(numbers) - 1) // length
    if count < 1:
        raise bad("length", length, f"less than the {len(numbers)} letters of the {part} part")
    rows = lambda first: numbers[first : first + count * length].reshape(count, length)  # noqa: E731
    return rows(0), rows(1)
