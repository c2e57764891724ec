"""A model in a folder of our own form: truncated matrices as two thin factors.

`weights.safetensors` has every weight under our names, or `NAME.left` (inputs, rank) and
`NAME.right` (rank, outputs) in its place; `config.json` has the architecture.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dynascope.core.errors import BadInput, bad
from dynascope.core.plain import from_plain, to_plain
from dynascope.language.model import LanguageModel
from dynascope.language.stacks import stacked
from dynascope.models import Transformer

KIND = "dynascope"
FILE = "weights.safetensors"


def check_target(folder: str | Path) -> Path:
    """A folder that a model can be written to: empty, or not there yet."""
    folder = Path(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise bad("folder", str(folder), "an empty folder, or one that is not there yet")
    return folder


def save_model(model: LanguageModel, folder: str | Path) -> Path:
    """Write a model so that `load_model` reads it again, truncated matrices factored.

    Args:
        model: What is written.
        folder: Made if it is not there; one with a model in it is refused.

    Returns:
        The folder.
    """
    try:
        from safetensors.numpy import save_file
    except ImportError:
        raise BadInput('saving needs pip install "dynascope[llm]"') from None
    folder = check_target(folder)
    folder.mkdir(parents=True, exist_ok=True)
    factors = model.factors
    arrays: dict[str, np.ndarray] = {}
    for name, array in model.weights.items():
        if name in factors:
            arrays |= dict(zip((f"{name}.left", f"{name}.right"), factors[name], strict=True))
        else:
            arrays[name] = array
    save_file({n: np.ascontiguousarray(a, np.float32) for n, a in arrays.items()}, folder / FILE)
    config = {
        "model_type": KIND, "transformer": to_plain(model.transformer),
        "from": model.source, "shapes": {n: list(model.weights[n].shape) for n in factors},
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(config, indent=1), encoding="utf-8")
    if model.tokenizer is not None:
        model.tokenizer.save(str(folder))
    return folder


def read_params(
    weights: Mapping[str, np.ndarray], config: dict[str, Any]
) -> tuple[Transformer, dict[str, Any], dict[str, tuple[np.ndarray, np.ndarray]]]:
    """What `save_model` wrote: the architecture, the weights, and the factors among them."""
    transformer = from_plain(config["transformer"])
    if not isinstance(transformer, Transformer):
        raise bad("config.json", config["transformer"], "the architecture of a transformer")
    factors = {
        name: (weights[f"{name}.left"], weights[f"{name}.right"]) for name in config["shapes"]
    }
    arrays: dict[str, np.ndarray] = {
        name: (left @ right).reshape(config["shapes"][name])
        for name, (left, right) in factors.items()
    }
    arrays |= {name: weights[name] for name in weights if not name.endswith((".left", ".right"))}
    return transformer, stacked(arrays, transformer.depth), factors
