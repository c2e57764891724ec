"""A published model's settings and weights as our transformer: Llama, GPT-2, GPT-NeoX, Phi-3.

Settings are those of `config.json`; which tensor is what is in the one table of names
(`edits.families`). Layers are stacked, (layer, ...), so that a compiled program has one of them.
"""

from __future__ import annotations

import difflib
import math
from typing import Any

import numpy as np

from dynascope.core.errors import UnknownName, bad
from dynascope.edits.weight_names import Layout
from dynascope.models import Transformer, Words

MODELS = ("llama", "gpt2", "gpt_neox", "phi3")
ACTIVATIONS = {
    "silu": "swish", "swish": "swish", "gelu": "gelu", "gelu_new": "gelu_tanh",
    "gelu_fast": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh", "relu": "relu",
}  # fmt: skip
MAPS = {"query": "q", "key": "k", "value": "v", "output": "o"}
PARTS = {"in": "mlp_in", "gate": "mlp_gate", "out": "mlp_out"}


def transformer_of(config: dict[str, Any], source: str) -> Transformer:
    """The decoder that a `config.json` describes.

    Example:
        >>> config = {"model_type": "llama", "hidden_size": 8, "num_hidden_layers": 2,
        ...           "num_attention_heads": 2, "intermediate_size": 20}
        >>> transformer_of(config, "here").feed_forward
        'gated'
    """
    kind = config.get("model_type")
    if kind not in MODELS:
        raise bad(f"architecture of {source}", kind, f"one of: {', '.join(MODELS)}")
    return _gpt2(config, source) if kind == "gpt2" else _rotary(kind, config, source)


def _gpt2(config: dict[str, Any], source: str) -> Transformer:
    for name in ("scale_attn_by_inverse_layer_idx", "reorder_and_upcast_attn"):
        if config.get(name):
            raise bad(f"{name} of {source}", True, "false")
    width = _told(config, "n_embd", source)
    return Transformer(
        Words(config.get("n_positions", 1024)), depth=_told(config, "n_layer", source),
        width=width, heads=_told(config, "n_head", source),
        hidden=config.get("n_inner") or 4 * width,
        activation=_activation(config.get("activation_function", "gelu_new"), source),
        norm="layer", bias=True, qkv_bias=True, causal=True, positions="learned", read="every",
        tied=config.get("tie_word_embeddings", True),
        epsilon=config.get("layer_norm_epsilon", 1e-5),
    )  # fmt: skip


def _rotary(kind: str, config: dict[str, Any], source: str) -> Transformer:
    """Llama and Phi-3 (gated, RMS norms, no offsets), GPT-NeoX (plain, layer norms, offsets)."""
    neox = kind == "gpt_neox"
    heads, width = (_told(config, n, source) for n in ("num_attention_heads", "hidden_size"))
    size = config.get("head_dim") or width // heads
    rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
    base = rope.get("rope_theta") or config.get("rope_theta") or config.get("rotary_emb_base")
    share = rope.get("partial_rotary_factor") or config.get("partial_rotary_factor")
    share = share or config.get("rotary_pct") or (0.25 if neox else 1.0)
    offsets = any(config.get(name) for name in ("attention_bias", "mlp_bias"))
    return Transformer(
        Words(config.get("max_position_embeddings", 2048)),
        depth=_told(config, "num_hidden_layers", source), width=width, heads=heads,
        head_size=size, groups=config.get("num_key_value_heads") or heads,
        feed_forward="mlp" if neox else "gated", hidden=_told(config, "intermediate_size", source),
        activation=_activation(config.get("hidden_act", "gelu" if neox else "silu"), source),
        norm="layer" if neox else "rms", parallel=config.get("use_parallel_residual", neox),
        bias=neox or offsets, qkv_bias=neox or offsets, causal=True, positions="rotary",
        read="every", tied=config.get("tie_word_embeddings", False),
        rotary_base=base or 10000.0, rotary_share=share,
        rotary_factors=_stretched(rope, base or 10000.0, int(size * share) // 2, source),
        epsilon=config.get("layer_norm_eps" if neox else "rms_norm_eps", 1e-5 if neox else 1e-6),
    )  # fmt: skip


def _stretched(rope: dict[str, Any], base: float, pairs: int, source: str) -> tuple[float, ...]:
    """Factors on the angles of models that were stretched to longer texts.

    Llama 3.1: pairs that turn more than `high` times over the old length stay, those that turn
    less than `low` times are slowed by `factor`, and between them it goes over linearly.
    """
    kind = rope.get("rope_type") or rope.get("type") or "default"
    if kind == "default":
        return ()
    if kind == "linear":
        return (1 / rope["factor"],) * pairs
    if kind != "llama3":
        raise bad(f"rotary positions of {source}", kind, "one of: default, linear, llama3")
    low, high = rope["low_freq_factor"], rope["high_freq_factor"]
    factors = []
    for i in range(pairs):
        turns = rope["original_max_position_embeddings"] * base ** (-i / pairs) / (2 * math.pi)
        kept = min(max((turns - low) / (high - low), 0.0), 1.0)
        factors.append(kept + (1 - kept) / rope["factor"])
    return tuple(factors)


def _activation(name: str, source: str) -> Any:
    if name not in ACTIVATIONS:
        raise bad(f"activation of {source}", name, f"one of: {', '.join(ACTIVATIONS)}")
    return ACTIVATIONS[name]


def _told(config: dict[str, Any], name: str, source: str) -> int:
    value = config.get(name)
    if not isinstance(value, int) or value < 1:
        raise bad(f"{name} in the config.json of {source}", value, "a whole number of at least 1")
    return value


def params_of(model: Transformer, found: Layout) -> dict[str, Any]:
    """The weights as `model.apply` takes them, but blocks as one tree of stacks (layer, ...)."""
    blocks = [_block(model, found, layer) for layer in range(model.depth)]
    params: dict[str, Any] = {
        "tokens": {"weight": _need(found, "tokens")},
        "blocks": _stacked(blocks),
        "last_norm": _norm(model, found, "last_norm"),
    }
    if model.positions == "learned":
        params["positions"] = _need(found, "positions")
    if not model.tied:
        params["output"] = {"weight": np.ascontiguousarray(_need(found, "output").T)}
        if model.bias:  # none of these models has offsets there
            params["output"]["bias"] = np.zeros(len(params["tokens"]["weight"]), np.float32)
    return params


def _block(model: Transformer, found: Layout, layer: int) -> dict[str, Any]:
    size, counts = model.attention.head_size, {"query": model.heads, "output": model.heads}
    attention, forward = {}, {}
    for name, short in MAPS.items():
        matrix, count = found.matrix(layer, short), counts.get(name, model.attention.groups)
        split = (count, size, model.width) if name == "output" else (model.width, count, size)
        attention[name] = _shaped(matrix, split, found.tensor(layer, short))
        if model.bias:
            offset = found.offsets(layer, short)
            own = (model.width,) if name == "output" else (count, size)
            attention[f"{name}_bias"] = np.zeros(own) if offset is None else offset.reshape(own)
    for name, shape in model.mixer.shapes().items():
        forward[name] = _shaped(found.matrix(layer, PARTS[name]), shape,
                                found.tensor(layer, PARTS[name]))  # fmt: skip
        if model.bias:
            offset = found.offsets(layer, PARTS[name])
            forward[f"{name}_bias"] = np.zeros(shape[1]) if offset is None else offset
    return {
        "attention_norm": _norm(model, found, "attention_norm", layer), "attention": attention,
        "feed_forward_norm": _norm(model, found, "feed_forward_norm", layer),
        "feed_forward": forward,
    }  # fmt: skip


def _norm(model: Transformer, found: Layout, name: str, layer: int | None = None) -> dict[str, Any]:
    scale = _need(found, f"{name}.weight", layer)
    if model.norm == "rms":
        return {"scale": scale}
    return {"scale": scale, "offset": _need(found, f"{name}.bias", layer)}


def _need(found: Layout, name: str, layer: int | None = None) -> np.ndarray:
    array = found.other(name, layer)
    if array is None:
        full = found.other_name(name, layer)
        near = difflib.get_close_matches(full, list(found.weights), n=3, cutoff=0.4)
        raise UnknownName(f"no tensor {full!r}; nearest: {', '.join(near)}")
    return np.asarray(array, np.float32)


def _shaped(matrix: np.ndarray, shape: tuple[int, ...], name: str) -> np.ndarray:
    if matrix.size != math.prod(shape):
        raise bad(name, matrix.shape, f"{math.prod(shape)} numbers, as config.json says")
    return matrix.reshape(shape)


def _stacked(blocks: list[Any]) -> Any:
    """A list of trees as one tree of stacks, in float32; a layer's own arrays are let go."""
    if isinstance(blocks[0], dict):
        return {name: _stacked([block.pop(name) for block in blocks]) for name in list(blocks[0])}
    return np.stack([np.asarray(array, np.float32) for array in blocks])
