"""Every family against `transformers`: random models that it wrote, read by us (issue's 1e-4).

All weights, offsets and norms are drawn, so that no part may be left out.
"""

from __future__ import annotations

import numpy as np
import pytest

from dynascope.language import load_model

pytestmark = pytest.mark.slow

SMALL = {"vocab_size": 61, "hidden_size": 32, "num_hidden_layers": 3, "intermediate_size": 40,
         "num_attention_heads": 4, "max_position_embeddings": 64, "pad_token_id": 0,
         "bos_token_id": 1, "eos_token_id": 2}  # fmt: skip
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 16, "rope_theta": 10000.0}  # fmt: skip


GPT2 = {"vocab_size": 61, "n_embd": 32, "n_layer": 3, "n_head": 4, "n_positions": 64}
# A few of each family, with the options that change the arithmetic.
CONFIGS = {
    "llama": ("Llama", {**SMALL, "num_key_value_heads": 2, "tie_word_embeddings": False}),
    "llama-tied": ("Llama", {**SMALL, "tie_word_embeddings": True, "rope_theta": 500.0}),
    "llama-offsets": ("Llama", {**SMALL, "attention_bias": True, "mlp_bias": True}),
    "llama-stretched": ("Llama", {**SMALL, "rope_parameters": LLAMA3}),
    "gpt2": ("GPT2", GPT2),
    "gpt2-relu": ("GPT2", {**GPT2, "n_inner": 48, "activation_function": "relu"}),
    "gpt_neox": ("GPTNeoX", {**SMALL, "rotary_pct": 0.25}),
    "gpt_neox-in-turn": ("GPTNeoX", {**SMALL, "use_parallel_residual": False}),
    "phi3": ("Phi3", {**SMALL, "num_key_value_heads": 2}),
}


@pytest.fixture(autouse=True)
def _witnesses():
    """Imported when a test runs: the search for tests of other files need not wait for them."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")


def config(name):
    import transformers

    family, options = CONFIGS[name]
    return getattr(transformers, f"{family}Config")(**options)


def shaken(config, seed=0):
    """A model with every parameter drawn anew, norms around 1."""
    import torch
    import transformers

    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    generator = torch.Generator().manual_seed(seed)
    for name, p in model.named_parameters():
        centre = float(("norm" in name or ".ln_" in name) and name.endswith("weight"))
        p.data.copy_(centre + 0.15 * torch.randn(p.shape, generator=generator))
    return model


def theirs(model, tokens):
    import torch

    with torch.no_grad():
        return model(torch.tensor(tokens)).logits.numpy()


TOKENS = np.random.default_rng(0).integers(0, 61, (3, 23))


@pytest.mark.parametrize("name", CONFIGS)
def test_logits_are_those_of_transformers(name, tmp_path):
    model = shaken(config(name))
    model.save_pretrained(tmp_path)
    lm = load_model(tmp_path)
    want = theirs(model, TOKENS)
    got = lm.logits(TOKENS)
    assert got.dtype == np.float32 and got.shape == (3, 23, 61)
    assert np.abs(want).max() > 0.5, "logits that say something"
    np.testing.assert_allclose(got, want, atol=1e-4)
    texts = [TOKENS[0, :7], TOKENS[1, :23], TOKENS[2, :1]]  # of different lengths
    np.testing.assert_allclose(
        lm.last_logits(texts), [want[0, 6], want[1, 22], want[2, 0]], atol=1e-4
    )


def test_shards_are_one_model(tmp_path):
    model = shaken(config("llama"))
    model.save_pretrained(tmp_path, max_shard_size="20KB")
    assert len(list(tmp_path.glob("model-*.safetensors"))) > 2
    np.testing.assert_allclose(
        load_model(tmp_path).logits(TOKENS), theirs(model, TOKENS), atol=1e-4
    )


@pytest.mark.parametrize("kind", ["bfloat16", "float16"])
def test_half_precision_is_widened(kind, tmp_path):
    import torch
    import transformers

    shaken(config("llama")).to(getattr(torch, kind)).save_pretrained(tmp_path)
    model = transformers.AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.float32)
    lm = load_model(tmp_path)
    assert all(array.dtype == np.float32 for array in lm.weights.values())
    np.testing.assert_allclose(lm.logits(TOKENS), theirs(model.eval(), TOKENS), atol=1e-4)


def test_gguf_sorts_queries_and_keys_as_transformers_does(tmp_path):
    """A small Llama written as llama.cpp does, read by both."""
    import gguf
    import transformers

    pytest.importorskip("accelerate")  # which transformers wants for GGUF
    model = shaken(transformers.LlamaConfig(**{**SMALL, "hidden_size": 64, "intermediate_size": 96},
                                            num_key_value_heads=2))  # fmt: skip
    file = tmp_path / "small.gguf"
    write_gguf(gguf, file, model)
    want = transformers.AutoModelForCausalLM.from_pretrained(tmp_path, gguf_file=file.name)
    lm = load_model(file)
    assert lm.packed == "Q8_0"
    np.testing.assert_allclose(lm.logits(TOKENS), theirs(want.eval(), TOKENS), atol=1e-3)


def write_gguf(gguf, file, model):
    """As llama.cpp's converter: rows of queries and keys interleaved, matrices packed to Q8_0."""
    names = {
        "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
        "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
        "mlp.down_proj": "ffn_down", "input_layernorm": "attn_norm",
        "post_attention_layernorm": "ffn_norm",
    }  # fmt: skip
    c = model.config
    writer = gguf.GGUFWriter(file, "llama")
    writer.add_context_length(64)
    writer.add_embedding_length(c.hidden_size)
    writer.add_block_count(c.num_hidden_layers)
    writer.add_feed_forward_length(c.intermediate_size)
    writer.add_head_count(c.num_attention_heads)
    writer.add_head_count_kv(c.num_key_value_heads)
    writer.add_layer_norm_rms_eps(c.rms_norm_eps)
    writer.add_rope_freq_base(10000.0)
    writer.add_vocab_size(c.vocab_size)
    letters = [chr(33 + i) for i in range(c.vocab_size)]
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(letters)
    writer.add_token_merges([])
    for name, tensor in model.state_dict().items():
        array = tensor.float().numpy()
        parts = name.split(".")
        if name.startswith("model.layers."):
            inner = ".".join(parts[3:-1])
            if inner in ("self_attn.q_proj", "self_attn.k_proj"):
                heads = c.num_attention_heads if "q_proj" in inner else c.num_key_value_heads
                split = array.reshape(heads, 2, -1, array.shape[1])
                array = split.swapaxes(1, 2).reshape(array.shape)
            new = f"blk.{parts[2]}.{names[inner]}.weight"
        else:
            new = {"model.embed_tokens.weight": "token_embd.weight", "lm_head.weight":
                   "output.weight", "model.norm.weight": "output_norm.weight"}[name]  # fmt: skip
        kind = gguf.GGMLQuantizationType.Q8_0
        if array.ndim == 2:
            writer.add_tensor(new, gguf.quantize(array, kind), raw_dtype=kind)
        else:
            writer.add_tensor(new, array)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
