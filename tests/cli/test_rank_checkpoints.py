"""`dynascope rank` on folders that Hugging Face's own programs wrote, against dense products.

The witness takes a head's maps from what its modules do with the unit vectors, so that it knows
neither tensor names nor layouts of files.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

pytestmark = pytest.mark.slow
SMALL = {
    "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 20,
}  # fmt: skip
WORDS = {"vocab_size": 19, "max_position_embeddings": 32}


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


@pytest.fixture
def transformers(torch):
    return pytest.importorskip("transformers")


def made(transformers, family):
    """A model with random weights."""
    if family == "gpt2":
        config = transformers.GPT2Config(
            vocab_size=19, n_positions=9, n_embd=16, n_layer=2, n_head=4
        )
        return transformers.GPT2LMHeadModel(config)
    if family == "gpt_neox":
        return transformers.GPTNeoXForCausalLM(transformers.GPTNeoXConfig(**SMALL, **WORDS))
    if family == "llama":
        config = transformers.LlamaConfig(**SMALL, **WORDS, num_key_value_heads=2)
        return transformers.LlamaForCausalLM(config)
    config = transformers.ViTConfig(**SMALL, image_size=8, patch_size=4, num_labels=3)
    return transformers.ViTForImageClassification(config)


def modules(model, *ends):
    """Modules whose name ends so, layer by layer."""
    return [m for name, m in model.named_modules() if name.endswith(ends)]


def matrix(torch, module):
    """What a module does with unit vectors, without its offset: (inputs, outputs)."""
    unit = torch.eye(16, dtype=torch.float64)
    with torch.no_grad():
        return (module(unit) - module(torch.zeros_like(unit))).numpy()


def products(torch, model, family):
    """W_K W_Q^T and W_V W_O^T of every head, (2, layer, head, d, d)."""
    found = []
    for layer in range(2):
        if family == "gpt2":
            packed = matrix(torch, modules(model, "attn.c_attn")[layer])
            q, k, v = (part.reshape(16, 4, 4) for part in np.split(packed, 3, axis=1))
            o = matrix(torch, modules(model, "attn.c_proj")[layer])
        elif family == "gpt_neox":
            packed = matrix(torch, modules(model, "query_key_value")[layer]).reshape(16, 4, 12)
            q, k, v = np.split(packed, 3, axis=2)
            o = matrix(torch, modules(model, "attention.dense")[layer])
        else:
            q, k, v = (
                matrix(torch, modules(model, *ends)[layer])
                for ends in (("q_proj", ".query"), ("k_proj", ".key"), ("v_proj", ".value"))
            )
            q, k, v = (m.reshape(16, -1, 4).repeat(16 // m.shape[1], axis=1) for m in (q, k, v))
            o = matrix(torch, modules(model, "o_proj", "attention.output.dense")[layer])
        o = o.reshape(4, 4, 16)
        found.append([np.einsum("ihe,jhe->hij", k, q), np.einsum("ihe,hej->hij", v, o)])
    return np.array(found).swapaxes(0, 1)


def stable(matrices):
    values = np.linalg.svd(matrices, compute_uv=False)
    return (values**2).sum(-1) / values[..., 0] ** 2


@pytest.mark.parametrize("family", ["gpt2", "gpt_neox", "llama", "vit"])
def test_folders_of_hugging_face(cli, transformers, torch, tmp_path, family):
    model, paths, seen = made(transformers, family).double(), [], []
    generator = torch.Generator().manual_seed(0)
    for number in range(3):
        for p in model.parameters():
            noise = torch.randn(p.shape, generator=generator, dtype=torch.float64)
            p.data.add_((1.0 if number == 0 else 0.05) * noise)
        paths.append(tmp_path / f"step{number}")
        model.save_pretrained(paths[-1])
        seen.append(products(torch, model, family))
    said = cli("rank", *paths, "--json", "--out", tmp_path / "growth.png")
    assert said.code == 0, said.err
    found = json.loads(said.out)
    assert found["family"].split()[0] == family and found["checkpoints"] == ["step1", "step2"]
    assert (found["layers"], found["heads"]) == (2, 4)
    assert found["groups"] == (2 if family == "llama" else 4)
    assert ("one product for each query head" in said.err) == (family == "llama")
    assert ("distance zero" in said.err) == (family in ("llama", "gpt_neox"))
    for p, product in enumerate(("kq", "vo")):
        start = stable(seen[0][p]).mean(axis=1)
        assert np.allclose([row["mean"] for row in found["start"][product]], start, rtol=1e-8)
        for number in (1, 2):
            want = stable(seen[number][p] - seen[0][p])
            rows = found["change"][product][number - 1]
            assert np.allclose([row["mean"] for row in rows], want.mean(axis=1), rtol=1e-8)
            assert np.allclose([row["spread"] for row in rows], want.std(axis=1), rtol=1e-6)
    assert (tmp_path / "growth.png").stat().st_size > 1000


def test_two_models_of_different_shape(cli, transformers, torch, tmp_path):
    for name, width in (("small", 16), ("wide", 32)):
        config = transformers.LlamaConfig(**{**SMALL, **WORDS, "hidden_size": width})
        transformers.LlamaForCausalLM(config).save_pretrained(tmp_path / name)
    said = cli("rank", tmp_path / "small", tmp_path / "wide")
    assert said.code == 2 and "as the first has" in said.err and said.out == ""
