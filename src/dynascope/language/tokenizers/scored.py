"""Tokens with scores, merged from single letters on: the way of SentencePiece and llama2.c.

The text starts as letters (bytes for letters without a token); of all neighbours whose union is a
token the pair with the highest score is joined, until there is none.
"""

from __future__ import annotations

import itertools
import re
import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dynascope.core.errors import bad

BEGINNING, END, FIRST_BYTE = 1, 2, 3  # token 3 + b is the byte b
RAW = re.compile(rb"<0x([0-9A-Fa-f]{2})>")


class ScoredTokens:
    """Tokens as bytes, with their scores.

    Example:
        >>> parts = [b"<unk>", b"<s>", b"</s>", *(b"<0x%02X>" % b for b in range(256))]
        >>> tokens = ScoredTokens([*parts, b" ", b"h", b"i", b"hi"], [0.0] * 263)
        >>> tokens.encode("hi"), tokens.decode([1, 259, 262])
        ([1, 259, 262], 'hi')
    """

    def __init__(
        self, tokens: Sequence[bytes], scores: Sequence[float], starts: bool = True
    ) -> None:
        self.tokens, self.scores, self.starts = list(tokens), list(scores), starts
        pieces = [*self.tokens[:FIRST_BYTE], *[b""] * 256, *self.tokens[FIRST_BYTE + 256 :]]
        self._number = {piece: i for i, piece in enumerate(pieces) if piece}  # bytes: a last resort

    @property
    def size(self) -> int:
        """How many tokens there are."""
        return len(self.tokens)

    def encode(self, text: str) -> list[int]:
        """The tokens of a text, a beginning first; a space is put before the first word."""
        ids = [i for letter in (" " + text if text else "") for i in self._letter(letter.encode())]
        while len(ids) > 1:
            pairs = itertools.pairwise(self.tokens[i] for i in ids)
            joined = [self._number.get(a + b) for a, b in pairs]
            places = [i for i, found in enumerate(joined) if found is not None]
            if not places:
                break
            best = max(places, key=lambda i: (self.scores[joined[i]], -i))  # type: ignore[index]
            ids[best : best + 2] = [joined[best]]  # type: ignore[list-item]
        return [BEGINNING, *ids] if self.starts else ids

    def _letter(self, letter: bytes) -> list[int]:
        known = self._number.get(letter)
        return [known] if known is not None else [FIRST_BYTE + b for b in letter]

    def decode(self, ids: Sequence[int]) -> str:
        """The text; the space before the first word is taken off."""
        parts = []
        for i in ids:
            if int(i) not in (BEGINNING, END):
                token = self.tokens[int(i)]
                raw = RAW.fullmatch(token)
                parts.append(bytes([int(raw[1], 16)]) if raw else token)
        text = b"".join(parts)
        whole = len(ids) == 0 or int(ids[0]) == BEGINNING
        return text.removeprefix(b" " if whole else b"").decode("utf-8", "replace")

    def save(self, folder: str) -> None:
        """As llama2.c's `tokenizer.bin`."""
        with open(Path(folder) / "tokenizer.bin", "wb") as file:
            file.write(struct.pack("<i", max(map(len, self.tokens))))
            for token, score in zip(self.tokens, self.scores, strict=True):
                file.write(struct.pack("<fi", score, len(token)) + token)


def read_llama2c_tokens(file: Path) -> ScoredTokens:
    """llama2.c's file: the longest length, then for each token its score, length and bytes."""
    content = file.read_bytes()
    tokens, scores, place = [], [], 4
    while place + 8 <= len(content):
        score, length = struct.unpack_from("<fi", content, place)
        if not 0 <= length <= len(content) - place - 8 or not np.isfinite(score):
            raise bad(str(file), f"a token of {length} bytes", "a tokenizer of llama2.c")
        tokens.append(content[place + 8 : place + 8 + length])
        scores.append(score)
        place += 8 + length
    if place != len(content) or len(tokens) < FIRST_BYTE + 256:
        raise bad(str(file), f"{len(tokens)} tokens", "a tokenizer of llama2.c")
    return ScoredTokens(tokens, scores)
