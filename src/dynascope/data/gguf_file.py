"""GGUF, llama.cpp's form of a model: settings, tokens and packed weights in one file.

Arrays get the names and the layout of Hugging Face's Llama, and are widened to float32 when they
are asked for. llama.cpp turns neighbouring coordinates of queries and keys by one angle, so their
rows are sorted as those of llama2.c are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dynascope.core.errors import BadInput, bad
from dynascope.data.llama2c import halves

KNOWN = ("llama",)
LAYER = {
    "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm",
    "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}  # fmt: skip
AROUND = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
TURNED = ("attn_q.weight", "attn_k.weight")


def read_gguf(file: Path) -> tuple[Mapping[str, np.ndarray], dict[str, Any]]:
    """Names to arrays, and the settings under the names of Hugging Face's `config.json`.

    What the file says about tokens is under "tokenizer": its model, the tokens, their scores, the
    merges, how text is cut before, and whether a beginning is put first.
    """
    try:
        from gguf import GGUFReader
    except ImportError:
        raise BadInput(f'{file}: reading GGUF needs pip install "dynascope[llm]"') from None
    try:
        reader = GGUFReader(file)
    except (ValueError, OSError, IndexError) as error:
        raise bad(str(file), str(error), "a GGUF file") from None

    def field(name: str, default: Any = None) -> Any:
        found = reader.get_field(name)
        return default if found is None else found.contents()

    kind = field("general.architecture", "nothing")
    if kind not in KNOWN:
        raise bad(str(file), f"the architecture {kind!r}", f"one of: {', '.join(KNOWN)}")
    heads = field(f"{kind}.attention.head_count")
    config = {
        "model_type": kind, "hidden_size": field(f"{kind}.embedding_length"),
        "intermediate_size": field(f"{kind}.feed_forward_length"),
        "num_hidden_layers": field(f"{kind}.block_count"), "num_attention_heads": heads,
        "num_key_value_heads": field(f"{kind}.attention.head_count_kv", heads),
        "rms_norm_eps": field(f"{kind}.attention.layer_norm_rms_epsilon", 1e-5),
        "rope_theta": field(f"{kind}.rope.freq_base", 10000.0),
        "max_position_embeddings": field(f"{kind}.context_length", 2048),
    }  # fmt: skip
    if field(f"{kind}.rope.scaling.type", "none") != "none":
        raise bad(str(file), "stretched rotary positions", "a GGUF file without rope scaling")
    weights = _Tensors({_renamed(t.name): t for t in reader.tensors}, config)
    config["vocab_size"] = int(weights.shape("model.embed_tokens.weight")[0])
    config["tie_word_embeddings"] = "lm_head.weight" not in weights
    config["tokenizer"] = {
        "model": field("tokenizer.ggml.model"), "tokens": field("tokenizer.ggml.tokens"),
        "scores": field("tokenizer.ggml.scores"), "merges": field("tokenizer.ggml.merges"),
        "types": field("tokenizer.ggml.token_type"), "pre": field("tokenizer.ggml.pre"),
        "bos": field("tokenizer.ggml.bos_token_id"), "eos": field("tokenizer.ggml.eos_token_id"),
        "add_bos": bool(field("tokenizer.ggml.add_bos_token", False)),
    }  # fmt: skip
    return weights, config


def _renamed(name: str) -> str:
    """`blk.3.attn_q.weight` is `model.layers.3.self_attn.q_proj.weight`."""
    parts = name.split(".")
    if parts[0] == "blk" and parts[2] in LAYER:
        return ".".join(["model.layers", parts[1], LAYER[parts[2]], *parts[3:]])
    return ".".join([AROUND.get(parts[0], parts[0]), *parts[1:]])


class _Tensors(Mapping):
    """The tensors of a file, each unpacked when it is asked for."""

    def __init__(self, tensors: dict[str, Any], config: dict[str, Any]) -> None:
        self._tensors = tensors
        self._head_size = config["hidden_size"] // config["num_attention_heads"]

    def __getitem__(self, name: str) -> np.ndarray:
        from gguf import dequantize

        tensor = self._tensors[name]
        array = np.asarray(dequantize(tensor.data, tensor.tensor_type), np.float32)
        array = array.reshape(self.shape(name))
        return halves(array, self._head_size) if tensor.name.endswith(TURNED) else array

    def shape(self, name: str) -> tuple[int, ...]:
        """Without reading it; the file has the last axis first."""
        return tuple(int(n) for n in reversed(self._tensors[name].shape))

    def packed(self) -> str:
        """How most of the weights are packed, such as "Q4_1"."""
        sizes: dict[str, int] = {}
        for tensor in self._tensors.values():
            kind = tensor.tensor_type.name
            sizes[kind] = sizes.get(kind, 0) + int(tensor.n_elements)
        return max(sizes, key=lambda kind: sizes[kind])

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)
