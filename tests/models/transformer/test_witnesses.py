"""The transformer against PyTorch's attention and Hugging Face's GPT-2, Llama, GPT-NeoX and ViT.

Random weights, biases and norms too, so that no part may be left out.
"""

from __future__ import annotations

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dynascope.models import Patches, Transformer, Words, gpt
from dynascope.models.transformer.attention import Attention
from dynascope.runtime.precision import precision

pytestmark = pytest.mark.slow


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


@pytest.fixture
def transformers(torch):
    return pytest.importorskip("transformers")


def shaken(module, torch, folder=None):
    """The module in float64 with every parameter drawn anew, norms around 1; its weights by name.

    With a folder they are written there and read back: names in files stay, in memory they change
    with the version.
    """
    generator = torch.Generator().manual_seed(0)
    module = module.double().eval()
    for name, p in module.named_parameters():
        noise = torch.randn(p.shape, generator=generator, dtype=torch.float64)
        centre = 1.0 if "norm" in name.lower() or ".ln_" in name else 0.0
        if name.endswith("bias"):
            centre = 0.0
        p.data.copy_(centre + 0.3 * noise)
    if folder is None:
        return {name: p.detach().numpy() for name, p in module.named_parameters()}
    from safetensors.numpy import load_file

    module.save_pretrained(folder)
    return load_file(folder / "model.safetensors")


def norm(weights, name):
    return {"scale": weights[f"{name}.weight"], "offset": weights[f"{name}.bias"]}


def split(weight, bias, heads):
    """A map (outputs, inputs) of all heads as (inputs, head, size), and its offsets."""
    return weight.T.reshape(weight.shape[1], heads, -1), bias.reshape(heads, -1)


def attention(maps, output, output_bias):
    found = {"output": output, "output_bias": output_bias}
    for name, (weight, bias) in zip(("query", "key", "value"), maps, strict=True):
        found |= {name: weight, f"{name}_bias": bias}
    return found


def logits(model, params, x, inputs, outputs):
    network = model.build(inputs, outputs)
    params = jax.tree.map(jnp.asarray, params)
    wanted = jax.eval_shape(network.init, jax.random.key(0))
    shapes = jax.tree.map(lambda a: a.shape, params)
    assert shapes == jax.tree.map(lambda a: a.shape, wanted)
    return np.asarray(network.apply(params, jnp.asarray(x)))


def test_pytorchs_multihead_attention(torch):
    theirs = torch.nn.MultiheadAttention(12, 3, batch_first=True)
    weights = shaken(theirs, torch)
    x = np.random.default_rng(0).normal(size=(2, 5, 12))
    want, pattern = theirs(*[torch.tensor(x)] * 3, average_attn_weights=False)
    packed, offsets = weights["in_proj_weight"], weights["in_proj_bias"]
    maps = [split(packed[i : i + 12], offsets[i : i + 12], 3) for i in (0, 12, 24)]
    own = attention(maps, weights["out_proj.weight"].T.reshape(3, 4, 12), weights["out_proj.bias"])
    with precision("float64"):
        part = Attention(12, 3, 4, 3, True, True, True, False, None)
        own = {k: jnp.asarray(v) for k, v in own.items()}
        seen = np.asarray(part.pattern(own, jnp.asarray(x)))
        assert np.allclose(seen[:, :, 0], pattern.detach().numpy(), rtol=1e-10)
        assert np.allclose(part(own, jnp.asarray(x)), want.detach().numpy(), rtol=1e-10)


def test_gpt2(transformers, torch, tmp_path):
    config = transformers.GPT2Config(vocab_size=19, n_positions=9, n_embd=12, n_layer=2, n_head=3)
    theirs = transformers.GPT2LMHeadModel(config)
    w = shaken(theirs, torch, tmp_path)
    words = np.random.default_rng(0).integers(0, 19, (2, 9))
    want = theirs(torch.tensor(words)).logits.detach().numpy()
    blocks = []
    for i in range(2):
        name = f"transformer.h.{i}"
        packed, offset = w[f"{name}.attn.c_attn.weight"].T, w[f"{name}.attn.c_attn.bias"]
        maps = [split(packed[j : j + 12], offset[j : j + 12], 3) for j in (0, 12, 24)]
        output = w[f"{name}.attn.c_proj.weight"].reshape(3, 4, 12)
        blocks.append({
            "attention_norm": norm(w, f"{name}.ln_1"),
            "attention": attention(maps, output, w[f"{name}.attn.c_proj.bias"]),
            "feed_forward_norm": norm(w, f"{name}.ln_2"),
            "feed_forward": {
                "in": w[f"{name}.mlp.c_fc.weight"], "in_bias": w[f"{name}.mlp.c_fc.bias"],
                "out": w[f"{name}.mlp.c_proj.weight"], "out_bias": w[f"{name}.mlp.c_proj.bias"],
            },
        })  # fmt: skip
    params = {
        "tokens": {"weight": w["transformer.wte.weight"]},
        "positions": w["transformer.wpe.weight"], "blocks": blocks,
        "last_norm": norm(w, "transformer.ln_f"),
    }  # fmt: skip
    model = replace(gpt(), tokens=Words(9), depth=2, width=12, heads=3)
    with precision("float64"):
        assert np.allclose(logits(model, params, words, 19, 19), want, rtol=1e-9, atol=1e-9)


def test_llama_with_grouped_heads(transformers, torch, tmp_path):
    config = transformers.LlamaConfig(
        vocab_size=19, hidden_size=16, intermediate_size=20, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=32,
        tie_word_embeddings=False,
    )  # fmt: skip
    theirs = transformers.LlamaForCausalLM(config)
    w = shaken(theirs, torch, tmp_path)
    words = np.random.default_rng(1).integers(0, 19, (2, 11))
    want = theirs(torch.tensor(words)).logits.detach().numpy()
    blocks = []
    for i in range(2):
        name = f"model.layers.{i}"
        maps = {
            ours: w[f"{name}.self_attn.{short}_proj.weight"].T.reshape(16, heads, 4)
            for ours, short, heads in (("query", "q", 4), ("key", "k", 2), ("value", "v", 2))
        }
        output = w[f"{name}.self_attn.o_proj.weight"].T.reshape(4, 4, 16)
        blocks.append({
            "attention_norm": {"scale": w[f"{name}.input_layernorm.weight"]},
            "attention": {**maps, "output": output},
            "feed_forward_norm": {"scale": w[f"{name}.post_attention_layernorm.weight"]},
            "feed_forward": {
                ours: w[f"{name}.mlp.{theirs}_proj.weight"].T
                for ours, theirs in (("gate", "gate"), ("in", "up"), ("out", "down"))
            },
        })  # fmt: skip
    params = {
        "tokens": {"weight": w["model.embed_tokens.weight"]}, "blocks": blocks,
        "last_norm": {"scale": w["model.norm.weight"]},
        "output": {"weight": w["lm_head.weight"].T},
    }  # fmt: skip
    model = Transformer(
        Words(), depth=2, width=16, heads=4, groups=2, feed_forward="gated", hidden=20,
        activation="swish", norm="rms", bias=False, causal=True, positions="rotary",
        read="every", epsilon=config.rms_norm_eps,
    )  # fmt: skip
    with precision("float64"):
        assert np.allclose(logits(model, params, words, 19, 19), want, rtol=1e-6, atol=1e-6)


def test_gpt_neox_with_parallel_parts(transformers, torch, tmp_path):
    config = transformers.GPTNeoXConfig(
        vocab_size=19, hidden_size=16, intermediate_size=20, num_hidden_layers=2,
        num_attention_heads=2, rotary_pct=0.5, max_position_embeddings=32,
    )  # fmt: skip
    theirs = transformers.GPTNeoXForCausalLM(config)
    w = shaken(theirs, torch, tmp_path)
    words = np.random.default_rng(2).integers(0, 19, (2, 11))
    want = theirs(torch.tensor(words)).logits.detach().numpy()
    blocks = []
    for i in range(2):
        name = f"gpt_neox.layers.{i}"
        packed = w[f"{name}.attention.query_key_value.weight"].reshape(2, 3, 8, 16)
        offset = w[f"{name}.attention.query_key_value.bias"].reshape(2, 3, 8)
        maps = [(packed[:, j].transpose(2, 0, 1), offset[:, j]) for j in range(3)]
        dense = w[f"{name}.attention.dense.weight"].T.reshape(2, 8, 16)
        blocks.append({
            "attention_norm": norm(w, f"{name}.input_layernorm"),
            "attention": attention(maps, dense, w[f"{name}.attention.dense.bias"]),
            "feed_forward_norm": norm(w, f"{name}.post_attention_layernorm"),
            "feed_forward": {
                "in": w[f"{name}.mlp.dense_h_to_4h.weight"].T,
                "in_bias": w[f"{name}.mlp.dense_h_to_4h.bias"],
                "out": w[f"{name}.mlp.dense_4h_to_h.weight"].T,
                "out_bias": w[f"{name}.mlp.dense_4h_to_h.bias"],
            },
        })  # fmt: skip
    params = {
        "tokens": {"weight": w["gpt_neox.embed_in.weight"]}, "blocks": blocks,
        "last_norm": norm(w, "gpt_neox.final_layer_norm"),
        "output": {"weight": w["embed_out.weight"].T},
    }  # fmt: skip
    model = Transformer(
        Words(), depth=2, width=16, heads=2, hidden=20, qkv_bias=True, parallel=True,
        causal=True, positions="rotary", rotary_share=0.5, read="every",
        epsilon=config.layer_norm_eps,
    )  # fmt: skip
    with precision("float64"):
        params["output"]["bias"] = np.zeros(19)  # theirs has none
        assert np.allclose(logits(model, params, words, 19, 19), want, rtol=1e-6, atol=1e-6)


def test_vit_with_a_class_token(transformers, torch, tmp_path):
    config = transformers.ViTConfig(
        hidden_size=12, num_hidden_layers=2, num_attention_heads=3, intermediate_size=10,
        image_size=8, patch_size=4, num_channels=3, num_labels=5,
    )  # fmt: skip
    theirs = transformers.ViTForImageClassification(config)
    w = shaken(theirs, torch, tmp_path)
    x = np.random.default_rng(3).normal(size=(2, 8, 8, 3))
    want = theirs(torch.tensor(x.transpose(0, 3, 1, 2))).logits.detach().numpy()
    stem = "vit.embeddings.patch_embeddings.projection"
    conv = w[f"{stem}.weight"]  # (width, channel, row, column)
    found = {"tokens": {"weight": conv.transpose(2, 3, 1, 0).reshape(48, 12),
                        "bias": w[f"{stem}.bias"]}}  # fmt: skip
    blocks = []
    for i in range(2):
        name = f"vit.encoder.layer.{i}"

        def affine(part, name=name):
            return w[f"{name}.{part}.weight"], w[f"{name}.{part}.bias"]

        maps = [split(*affine(f"attention.attention.{n}"), 3) for n in ("query", "key", "value")]
        (out, out_bias), (into, into_bias), (back, back_bias) = map(
            affine, ("attention.output.dense", "intermediate.dense", "output.dense")
        )
        blocks.append({
            "attention_norm": norm(w, f"{name}.layernorm_before"),
            "attention": attention(maps, out.T.reshape(3, 4, 12), out_bias),
            "feed_forward_norm": norm(w, f"{name}.layernorm_after"),
            "feed_forward": {
                "in": into.T, "in_bias": into_bias, "out": back.T, "out_bias": back_bias,
            },
        })  # fmt: skip
    found |= {
        "class_token": w["vit.embeddings.cls_token"][0, 0],
        "positions": w["vit.embeddings.position_embeddings"][0],
        "blocks": blocks, "last_norm": norm(w, "vit.layernorm"),
        "output": {"weight": w["classifier.weight"].T, "bias": w["classifier.bias"]},
    }  # fmt: skip
    model = Transformer(
        Patches((8, 8, 3), 4), depth=2, width=12, heads=3, hidden=10, qkv_bias=True,
        read="class_token", epsilon=config.layer_norm_eps,
    )  # fmt: skip
    with precision("float64"):
        assert np.allclose(logits(model, found, x.reshape(2, -1), 192, 5), want, rtol=1e-9)
