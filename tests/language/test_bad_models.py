"""What cannot be loaded is said in one line: the bad-input list of the command and of Python."""

from __future__ import annotations

import json

import numpy as np
import pytest

from dynascope.core.errors import BadInput, UnknownName
from dynascope.language import load_model
from dynascope.language.tokenizers.scored import ScoredTokens

from .small import tokens

D, LAYERS = 8, 2
CONFIG = {"model_type": "llama", "hidden_size": D, "num_hidden_layers": LAYERS,
          "num_attention_heads": 2, "intermediate_size": 12, "vocab_size": 300,
          "tie_word_embeddings": True}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    """A small Llama as Hugging Face has it, and a function that writes it anew with changes."""
    safetensors = pytest.importorskip("safetensors.numpy")
    rng = np.random.default_rng(0)

    def write(drop=(), config=(), **changes):
        shapes = {"model.embed_tokens.weight": (300, D), "model.norm.weight": (D,)}
        for i in range(LAYERS):
            name = f"model.layers.{i}."
            shapes |= {f"{name}self_attn.{n}_proj.weight": (D, D) for n in "qkvo"}
            shapes |= {f"{name}mlp.{n}_proj.weight": (12, D) for n in ("up", "gate")}
            shapes |= {f"{name}mlp.down_proj.weight": (D, 12)}
            for norm in ("input_layernorm", "post_attention_layernorm"):
                shapes[f"{name}{norm}.weight"] = (D,)
        arrays = {n: rng.normal(size=s).astype(np.float32) for n, s in shapes.items()}
        arrays = {n: a for n, a in (arrays | changes).items() if n not in drop}
        safetensors.save_file(arrays, tmp_path / "model.safetensors")
        (tmp_path / "config.json").write_text(json.dumps({**CONFIG, **dict(config)}))
        return tmp_path

    return write


def refused(path, match, kind=BadInput, **options):
    with pytest.raises(kind, match=match) as error:
        load_model(path, **options)
    assert "\n" not in str(error.value)


def test_a_folder_without_weights(tmp_path):
    refused(tmp_path, "no weights', expected a folder with .safetensors")
    refused(tmp_path / "none", "a file or folder that is there")
    (tmp_path / "pytorch_model.bin").write_bytes(b"PK")
    refused(tmp_path, "weights that are no pickle; save it as safetensors")
    (tmp_path / "odd.bin").write_bytes(b"PK\x03\x04" + b"\0" * 40)  # torch's, by another name
    refused(tmp_path / "odd.bin", "save it as safetensors")


def test_an_unknown_architecture(folder):
    refused(folder(config={"model_type": "mamba"}), "one of: llama, gpt2, gpt_neox, phi3")
    refused(folder(config={"hidden_act": "elu"}), "activation of .*'elu', expected one of: silu")
    rope = {"rope_scaling": {"rope_type": "yarn", "factor": 2}}
    refused(folder(config=rope), "'yarn', expected one of: default, linear, llama3")


def test_a_missing_tensor_is_told_with_the_nearest(folder):
    name = "model.layers.1.mlp.up_proj.weight"
    refused(folder(drop=[name]), rf"no tensor '{name}'.*nearest: model\.layers\.0\.mlp\.up_proj",
            UnknownName)  # fmt: skip
    refused(folder(drop=["model.norm.weight"]), "no tensor 'model.norm.weight'", UnknownName)
    refused(folder(config={"num_hidden_layers": 3}), "2 layers of weights, and config.json says 3")
    refused(folder(config={"intermediate_size": 13}), "104 numbers, as config.json says")


def test_no_config_and_a_shard_that_is_missing(folder):
    path = folder()
    (path / "config.json").unlink()
    refused(path, "no config.json")
    folder()
    index = {"weight_map": {"a": "model-00001.safetensors"}}
    (path / "model.safetensors.index.json").write_text(json.dumps(index))
    refused(path, "every file that model.safetensors.index.json names")


def test_weights_that_are_no_numbers(folder):
    name = "model.layers.1.mlp.up_proj.weight"
    refused(folder(**{name: np.full((12, D), np.nan, np.float32)}),
            r"blocks\.feed_forward\.in of .*not finite")  # fmt: skip


def test_a_tokenizer_that_does_not_fit(folder):
    path = folder()
    small = tokens()
    many = ScoredTokens(
        [*small.tokens, *[b"x%d" % i for i in range(99)]], [0.0] * (small.size + 99)
    )
    many.save(str(path))
    refused(path, f"{many.size} tokens', expected about 300")
    refused(path, "a file or folder that is there", tokenizer=path / "none.json")
    (path / "tokenizer.bin").unlink()
    lm = load_model(path)
    with pytest.raises(BadInput, match=r"no tokenizer beside .*tokenizer\.json"):
        lm.encode("a")


def test_gguf_of_another_architecture(tmp_path):
    gguf = pytest.importorskip("gguf")
    writer = gguf.GGUFWriter(tmp_path / "m.gguf", "mamba")
    writer.add_tensor("a", np.zeros((2, 2), np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    refused(tmp_path / "m.gguf", "'mamba'.*expected one of: llama")
    (tmp_path / "n.gguf").write_bytes(b"nothing of the kind, and long enough to be read")
    refused(tmp_path / "n.gguf", "a GGUF file")
