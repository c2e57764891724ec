"""The one table of weight names: which tensor of a checkpoint holds which matrix of which layer.

Matrices have the same names in every family: `q`, `k`, `v`, `o` of attention, `mlp_in`,
`mlp_gate` and `mlp_out` of the feed-forward part. A `Location` says where one lies: the tensor's
name within its layer, whether it is stored as (inputs, outputs) or the other way round, and how
several matrices are packed into one tensor. `around` has what is no matrix of a layer: norms, the
table of words, the output. Offsets of a matrix lie beside it, packed alike.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

MATRICES = ("q", "k", "v", "o", "mlp_in", "mlp_gate", "mlp_out")
Packed = Literal["alone", "thirds", "by_head", "in_turn", "halves", "split"]


class Location(NamedTuple):
    """Where a matrix lies: tensor, orientation, packing.

    "thirds": queries, keys and values side by side in the outputs. "by_head": the outputs go
    through the heads, and each head has its queries, keys and values side by side. "in_turn": all
    queries, all keys, all values, which may be fewer. "halves": two of equal size side by side.
    "split": an axis of its own for heads, as in `models.Transformer`.
    """

    tensor: str
    stored: Literal["in_out", "out_in"] = "out_in"  # torch.nn.Linear has the outputs first
    packed: Packed = "alone"
    piece: int = 0


class Family(NamedTuple):
    """Models that share a naming: the layer's name with {} for its number, and the places."""

    layer: str
    places: dict[str, Location]
    note: str = ""
    around: dict[str, str] = {}  # noqa: RUF012  norms within a layer; "tokens", "last_norm",
    # "positions" behind the prefix; "output" without it


def _three(tensor: str, packed: Packed, **options: Any) -> dict[str, Location]:
    return {n: Location(tensor, packed=packed, piece=i, **options) for i, n in enumerate("qkv")}


def _own(**tensors: str) -> dict[str, Location]:
    return {name: Location(f"{tensor}.weight") for name, tensor in tensors.items()}


ROTARY = "rotary positions: the product of queries and keys is the one at distance zero"
LLAMA = {
    "attention_norm": "input_layernorm", "feed_forward_norm": "post_attention_layernorm",
    "last_norm": "norm", "tokens": "embed_tokens.weight", "output": "lm_head.weight",
}  # fmt: skip
FAMILIES: dict[str, Family] = {
    "gpt2": Family("h.{}.", {
        **_three("attn.c_attn.weight", "thirds", stored="in_out"),
        "o": Location("attn.c_proj.weight", "in_out"),
        "mlp_in": Location("mlp.c_fc.weight", "in_out"),
        "mlp_out": Location("mlp.c_proj.weight", "in_out"),
    }, "", {
        "attention_norm": "ln_1", "feed_forward_norm": "ln_2", "last_norm": "ln_f",
        "tokens": "wte.weight", "positions": "wpe.weight", "output": "lm_head.weight",
    }),
    "gpt_neox": Family("layers.{}.", {
        **_three("attention.query_key_value.weight", "by_head"),
        **_own(o="attention.dense", mlp_in="mlp.dense_h_to_4h", mlp_out="mlp.dense_4h_to_h"),
    }, ROTARY, {
        "attention_norm": "input_layernorm", "feed_forward_norm": "post_attention_layernorm",
        "last_norm": "final_layer_norm", "tokens": "embed_in.weight", "output": "embed_out.weight",
    }),
    "llama": Family("layers.{}.", _own(
        q="self_attn.q_proj", k="self_attn.k_proj", v="self_attn.v_proj", o="self_attn.o_proj",
        mlp_in="mlp.up_proj", mlp_gate="mlp.gate_proj", mlp_out="mlp.down_proj",
    ), ROTARY, LLAMA),
    "phi3": Family("layers.{}.", {
        **_three("self_attn.qkv_proj.weight", "in_turn"),
        **_own(o="self_attn.o_proj", mlp_out="mlp.down_proj"),
        "mlp_gate": Location("mlp.gate_up_proj.weight", packed="halves", piece=0),
        "mlp_in": Location("mlp.gate_up_proj.weight", packed="halves", piece=1),
    }, ROTARY, LLAMA),
    "vit": Family("encoder.layer.{}.", _own(
        q="attention.attention.query", k="attention.attention.key", v="attention.attention.value",
        o="attention.output.dense", mlp_in="intermediate.dense", mlp_out="output.dense",
    )),
    "vit of transformers 5": Family("layers.{}.", _own(
        q="attention.q_proj", k="attention.k_proj", v="attention.v_proj", o="attention.o_proj",
        mlp_in="mlp.fc1", mlp_out="mlp.fc2",
    )),
    "timm": Family("blocks.{}.", {
        **_three("attn.qkv.weight", "thirds"),
        **_own(o="attn.proj", mlp_in="mlp.fc1", mlp_out="mlp.fc2"),
    }),
    "dynascope": Family("blocks.{}.", {
        **{n[0]: Location(f"attention.{n}", "in_out", "split") for n in ("query", "key", "value")},
        "o": Location("attention.output", "in_out", "split"),
        "mlp_in": Location("feed_forward.in", "in_out"),
        "mlp_gate": Location("feed_forward.gate", "in_out"),
        "mlp_out": Location("feed_forward.out", "in_out"),
    }),
}  # fmt: skip
