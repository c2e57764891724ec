"""Tokenizers of the `tokenizers` package: from `tokenizer.json`, GPT-2's two files, or GGUF."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dynascope.core.errors import BadInput, bad

DIGITS_APART = ("smollm", "starcoder", "refact", "command-r")  # llama.cpp's names of such cuts
PLAIN = ("gpt-2", "default", "olmo", None)
CONTROL = 3  # llama.cpp's kind of tokens that are marks and no text


class HuggingFaceTokens:
    """A tokenizer of the `tokenizers` package."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    @property
    def size(self) -> int:
        """How many tokens there are."""
        return int(self.inner.get_vocab_size())

    def encode(self, text: str) -> list[int]:
        """The tokens, with those that the file's own rule adds."""
        return list(self.inner.encode(text).ids)

    def decode(self, ids: Sequence[int]) -> str:
        """The text, without marks."""
        return str(self.inner.decode([int(i) for i in ids]))

    def save(self, folder: str) -> None:
        """As `tokenizer.json`."""
        self.inner.save(str(Path(folder) / "tokenizer.json"))


def read_json(file: Path) -> HuggingFaceTokens:
    """From a `tokenizer.json`."""
    try:
        return HuggingFaceTokens(_package(file).Tokenizer.from_file(str(file)))
    except Exception as error:  # the package raises bare Exception
        if isinstance(error, BadInput):
            raise
        raise bad(str(file), str(error), "a tokenizer.json") from None


def read_vocabulary(vocabulary: Path, merges: Path) -> HuggingFaceTokens:
    """From GPT-2's `vocab.json` and `merges.txt`."""
    package = _package(vocabulary)
    model = package.models.BPE.from_file(str(vocabulary), str(merges))
    return _byte_level(package, model, digits_apart=False)


def from_gguf(told: dict[str, Any], source: str) -> HuggingFaceTokens:
    """From the tokens and merges inside a GGUF file."""
    package = _package(Path(source))
    if told["pre"] not in (*DIGITS_APART, *PLAIN):
        known = ", ".join(filter(None, (*DIGITS_APART, *PLAIN)))
        raise bad(f"tokenizer of {source}", told["pre"], f"one of: {known}")
    numbers = {token: i for i, token in enumerate(told["tokens"])}
    pairs = [tuple(merge.split(" ")) for merge in told["merges"] or []]
    model = package.models.BPE(vocab=numbers, merges=pairs)
    found = _byte_level(package, model, digits_apart=told["pre"] in DIGITS_APART)
    kinds = told["types"] or []
    marks = [t for t, kind in zip(told["tokens"], kinds) if kind == CONTROL]
    found.inner.add_special_tokens(marks)
    if told["add_bos"]:
        first = told["tokens"][told["bos"]]
        found.inner.post_processor = package.processors.TemplateProcessing(
            single=f"{first} $A", special_tokens=[(first, told["bos"])]
        )
    return found


def _byte_level(package: Any, model: Any, digits_apart: bool) -> HuggingFaceTokens:
    """Bytes as letters, words cut as GPT-2 does."""
    inner = package.Tokenizer(model)
    cuts = [package.pre_tokenizers.ByteLevel(add_prefix_space=False)]
    if digits_apart:
        cuts.insert(0, package.pre_tokenizers.Digits(individual_digits=True))
    inner.pre_tokenizer = package.pre_tokenizers.Sequence(cuts)
    inner.decoder = package.decoders.ByteLevel()
    return HuggingFaceTokens(inner)


def _package(file: Path) -> Any:
    try:
        import tokenizers
    except ImportError:
        raise BadInput(f'{file}: tokens need pip install "dynascope[llm]"') from None
    return tokenizers
