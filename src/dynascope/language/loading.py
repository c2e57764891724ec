"""`load_model`: a language model from its files, without torch."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from dynascope.core.errors import BadInput, bad
from dynascope.data.checkpoints import Checkpoint, read_checkpoint
from dynascope.edits.families import FAMILIES
from dynascope.edits.weight_names import layout
from dynascope.language import saving
from dynascope.language.decoder import MODELS, params_of, transformer_of
from dynascope.language.model import LanguageModel
from dynascope.language.tokenizers.finding import find_tokenizer
from dynascope.runtime.memory import available_bytes

BYTES = 4  # of a float32
SAY_FROM = 500_000_000  # bytes: smaller models load before one has read the line


class Size(NamedTuple):
    """What a model takes in memory, and what there is."""

    parameters: int
    needed: int  # bytes
    available: int

    def __str__(self) -> str:
        return (
            f"{self.parameters:,} parameters, {self.needed / 1e9:.2g} GB in float32; "
            f"{self.available / 1e9:.2g} GB of memory are free"
        )


def model_size(path: str | Path) -> Size:
    """What loading a model will take, without reading its weights."""
    numbers = read_checkpoint(path).numbers()
    return Size(numbers, BYTES * numbers, available_bytes())


def load_model(path: str | Path, *, tokenizer: str | Path | None = None) -> LanguageModel:
    """Read a language model into our decoder.

    Args:
        path: A folder as Hugging Face has it (safetensors in one file or several, with
            `config.json`) of a Llama, GPT-2, GPT-NeoX (Pythia) or Phi-3; a `.bin` of llama2.c;
            a `.gguf`; or a folder that `save_model` wrote.
        tokenizer: Its file or folder, where it does not lie beside the weights.

    Returns:
        The model, in float32. What it takes is told on stderr before, from half a gigabyte on.
    """
    checkpoint = read_checkpoint(path)
    numbers = checkpoint.numbers()
    size = Size(numbers, BYTES * numbers, available_bytes())
    if size.needed > size.available:
        raise bad(str(path), str(size), "a model that fits into memory", "try a smaller one")
    if size.needed >= SAY_FROM:
        print(f"loading {path}: {size}", file=sys.stderr, flush=True)
    config = dict(checkpoint.config)
    if config.get("model_type") == saving.KIND:
        transformer, params, factors = saving.read_params(checkpoint, config)
    else:
        transformer, params = _published(checkpoint, config)
        factors = {}
    config["vocab_size"] = int(params["tokens"]["weight"].shape[0])
    _check_finite(params, str(path))
    given = Path(tokenizer) if tokenizer is not None else None
    found = find_tokenizer(Path(path), config, given)
    config.pop("tokenizer", None)
    return LanguageModel(transformer, params, config, str(path), found, checkpoint.packed, factors)


def _published(checkpoint: Checkpoint, config: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The decoder and its weights from somebody else's files."""
    if not config:
        raise bad(
            checkpoint.source, "no config.json", "a folder with the model's config.json",
            "dynascope rank works without one",
        )  # fmt: skip
    transformer = transformer_of(config, checkpoint.source)
    found = layout(checkpoint, config)
    if not FAMILIES[found.family].around:
        raise bad(checkpoint.source, f"names of {found.family}", f"one of: {', '.join(MODELS)}")
    if found.layers < transformer.depth:
        raise BadInput(
            f"{checkpoint.source}: {found.layers} layers of weights, and config.json says "
            f"{transformer.depth}: a file is missing"
        )
    own = found.other("output") if transformer.tied else None
    table = found.other("tokens")
    if own is not None and table is not None and not np.array_equal(own, table):
        raise bad(checkpoint.source, "an output of its own", "tie_word_embeddings: false")
    return transformer, params_of(transformer, found)


def _check_finite(params: dict[str, Any], source: str) -> None:
    for path, leaf in jax.tree_util.tree_leaves_with_path(params):
        if not np.isfinite(leaf).all():
            name = ".".join(str(getattr(part, "key", part)) for part in path)
            raise bad(f"{name} of {source}", "numbers that are not finite", "finite weights")
