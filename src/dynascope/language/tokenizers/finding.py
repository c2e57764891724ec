"""Which tokenizer lies beside a model, and whether it fits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dynascope.core.errors import bad
from dynascope.language.tokenizers import hugging_face
from dynascope.language.tokenizers.base import Tokenizer
from dynascope.language.tokenizers.scored import ScoredTokens, read_llama2c_tokens

FILES = "tokenizer.json, vocab.json with merges.txt, or llama2.c's tok*.bin"


def find_tokenizer(place: Path, config: dict[str, Any], given: Path | None) -> Tokenizer | None:
    """The tokenizer of a model.

    Args:
        place: The model's file or folder.
        config: What its files say; inside GGUF the tokens themselves.
        given: A tokenizer's own file or folder, where it lies elsewhere.

    Returns:
        The tokenizer, or None where there is no file for one. One that has more tokens than the
        model's table of words does not fit.
    """
    if given is not None and not given.exists():
        raise bad("tokenizer", str(given), "a file or folder that is there")
    found = _read(given or (place if place.is_dir() else place.parent))
    if found is None and given is not None:
        raise bad("tokenizer", str(given), FILES)
    if found is None and config.get("tokenizer"):
        found = _inside(config["tokenizer"], str(place))
    words = config["vocab_size"]
    if found is not None and (found.size > words or found.size < words * 0.8):
        raise bad(
            f"tokenizer of {given or place}", f"{found.size} tokens",
            f"about {words}, as the model's table of words has",
        )  # fmt: skip
    return found


def _read(place: Path) -> Tokenizer | None:
    if place.is_file():
        reads = read_llama2c_tokens if place.suffix == ".bin" else hugging_face.read_json
        return reads(place)
    if (place / "tokenizer.json").is_file():
        return hugging_face.read_json(place / "tokenizer.json")
    vocabulary, merges = place / "vocab.json", place / "merges.txt"
    if vocabulary.is_file() and merges.is_file():
        return hugging_face.read_vocabulary(vocabulary, merges)
    for file in sorted(place.glob("tok*.bin")):
        return read_llama2c_tokens(file)
    return None


def _inside(told: dict[str, Any], source: str) -> Tokenizer | None:
    """The tokenizer inside a GGUF file: merges of GPT-2's kind, or scores of Llama's."""
    if told["model"] == "gpt2":
        return hugging_face.from_gguf(told, source)
    if told["model"] == "llama" and told["scores"]:
        spelled = [t.replace("▁", " ").encode() for t in told["tokens"]]
        return ScoredTokens(spelled, [float(s) for s in told["scores"]], told["add_bos"])
    return None
