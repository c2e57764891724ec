"""llama2.c's `.bin`: a head of seven whole numbers, then all weights in float32, one after another.

Arrays get the names and the layout of Hugging Face's Llama. llama2.c turns neighbouring
coordinates of queries and keys by one angle, Llama's weights those that are half a head apart:
rows are sorted here, so that one decoder serves both.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dynascope.core.errors import bad

HEAD = ("dim", "hidden", "layers", "heads", "groups", "vocabulary", "length")
LAYER = "model.layers.{}."


def read_llama2c(file: Path) -> tuple[Mapping[str, np.ndarray], dict[str, Any]]:
    """Names to arrays, and the settings under the names of Hugging Face's `config.json`."""
    head = np.fromfile(file, "<i4", 7)
    size = dict(zip(HEAD, head.tolist(), strict=False))
    tied = len(head) == 7 and size["vocabulary"] > 0  # a negative vocabulary: not tied
    if len(head) < 7 or min(abs(v) for v in size.values()) < 1 or size["dim"] % size["heads"]:
        raise bad(str(file), f"a head of {head.tolist()}", "a file of llama2.c")
    size["vocabulary"] = abs(size["vocabulary"])
    plan = _plan(**size, tied=tied)
    count = sum(int(np.prod(shape)) for _, shape in plan)
    if file.stat().st_size != 28 + 4 * count:
        raise bad(str(file), f"{file.stat().st_size} bytes", f"{28 + 4 * count}, as its head says")
    flat = np.memmap(file, "<f4", "r", offset=28)
    found: dict[str, np.ndarray] = {}
    end = 0
    for name, shape in plan:
        begin, end = end, end + int(np.prod(shape))
        if name.startswith("freq_cis"):  # cosines and sines of the angles, which are worked out
            continue
        array = flat[begin:end].reshape(shape)
        if name.startswith(LAYER):
            found |= {name.format(i): array[i] for i in range(size["layers"])}
        else:
            found[name] = array
    return _Sorted(found, size["dim"] // size["heads"]), {
        "model_type": "llama", "hidden_size": size["dim"], "intermediate_size": size["hidden"],
        "num_hidden_layers": size["layers"], "num_attention_heads": size["heads"],
        "num_key_value_heads": size["groups"], "vocab_size": size["vocabulary"],
        "max_position_embeddings": size["length"], "rms_norm_eps": 1e-5,
        "tie_word_embeddings": tied,
    }  # fmt: skip


def _plan(
    dim: int, hidden: int, layers: int, heads: int, groups: int, vocabulary: int, length: int,
    tied: bool,
) -> list[tuple[str, tuple[int, ...]]]:  # fmt: skip
    """Names and shapes in the order of the file; those of layers have all layers."""
    shared = dim // heads * groups
    return [
        ("model.embed_tokens.weight", (vocabulary, dim)),
        (f"{LAYER}input_layernorm.weight", (layers, dim)),
        (f"{LAYER}self_attn.q_proj.weight", (layers, dim, dim)),
        (f"{LAYER}self_attn.k_proj.weight", (layers, shared, dim)),
        (f"{LAYER}self_attn.v_proj.weight", (layers, shared, dim)),
        (f"{LAYER}self_attn.o_proj.weight", (layers, dim, dim)),
        (f"{LAYER}post_attention_layernorm.weight", (layers, dim)),
        (f"{LAYER}mlp.gate_proj.weight", (layers, hidden, dim)),
        (f"{LAYER}mlp.down_proj.weight", (layers, dim, hidden)),
        (f"{LAYER}mlp.up_proj.weight", (layers, hidden, dim)),
        ("model.norm.weight", (dim,)),
        ("freq_cis_real", (length, dim // heads // 2)),
        ("freq_cis_imag", (length, dim // heads // 2)),
        *([] if tied else [("lm_head.weight", (vocabulary, dim))]),
    ]


class _Sorted(dict):
    """Arrays whose rows of queries and keys are brought to Llama's order when they are read."""

    def __init__(self, arrays: dict[str, np.ndarray], head_size: int) -> None:
        super().__init__(arrays)
        self.head_size = head_size

    def __getitem__(self, name: str) -> np.ndarray:
        array = super().__getitem__(name)
        return halves(array, self.head_size) if name.endswith(_TURNED) else array


_TURNED = ("q_proj.weight", "k_proj.weight")


def halves(weight: np.ndarray, head_size: int) -> np.ndarray:
    """Rows 0, 2, 4, ... of every head, then 1, 3, 5, ...

    Example:
        >>> halves(np.arange(4)[:, None], 4).ravel().tolist()
        [0, 2, 1, 3]
    """
    pairs = weight.reshape(-1, head_size // 2, 2, weight.shape[-1])
    return pairs.swapaxes(1, 2).reshape(weight.shape)
