"""Checkpoints: what is read, what is widened, what is refused; llama2.c's file read and run."""

from __future__ import annotations

import struct
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.data import find, present, read_checkpoint
from dynascope.data.llama2c import halves
from dynascope.models import Transformer, Words

STORIES = "stories260K"


def test_shards_and_half_precision_are_one_model(tmp_path):
    numpy_files = pytest.importorskip("safetensors.numpy")
    import ml_dtypes

    numpy_files.save_file({"a": np.ones(3, ml_dtypes.bfloat16)}, tmp_path / "one.safetensors")
    numpy_files.save_file({"b": np.full(2, 0.5, np.float16)}, tmp_path / "two.safetensors")
    (tmp_path / "config.json").write_text('{"n_head": 4}')
    found = read_checkpoint(tmp_path)
    assert found.config == {"n_head": 4} and sorted(found) == ["a", "b"] and len(found) == 2
    assert {v.dtype.name for v in found.values()} == {"float32"}
    assert found["a"].tolist() == [1, 1, 1] and found["b"].tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("model.pt", b"", "save it as safetensors"),
        ("pytorch_model.bin", b"", "save it as safetensors"),
        ("notes.txt", b"", "one of .safetensors"),
        ("broken.npz", b"no zip", "arrays in .npz form"),
        ("small.bin", b"1234", "a file of llama2.c"),
        ("short.bin", struct.pack("<7i", 8, 8, 1, 2, 2, 4, 4), "as its head says"),
    ],
)
def test_what_is_no_checkpoint_is_refused_in_one_line(tmp_path, name, content, told):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInput, match=told) as refused:
        read_checkpoint(tmp_path / name)
    assert "\n" not in str(refused.value)


def test_a_broken_safetensors_file(tmp_path):
    pytest.importorskip("safetensors")
    (tmp_path / "x.safetensors").write_bytes(b"nothing of the kind")
    with pytest.raises(BadInput, match="a safetensors file"):
        read_checkpoint(tmp_path)


def test_folders_without_weights(tmp_path):
    with pytest.raises(BadInput, match="a file or folder that is there"):
        read_checkpoint(tmp_path / "nowhere")
    with pytest.raises(BadInput, match="no weights"):
        read_checkpoint(tmp_path)
    (tmp_path / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(BadInput, match="no pickle"):
        read_checkpoint(tmp_path)


def test_rows_of_a_head_are_sorted_into_halves():
    weight = np.arange(24.0).reshape(8, 3)  # two heads of size 4
    assert halves(weight, 4)[:, 0].tolist() == [0, 6, 3, 9, 12, 18, 15, 21]


def decoder(found) -> tuple[Transformer, dict]:
    """A model of ours with a Llama's weights."""
    c = found.config
    model = Transformer(
        Words(), depth=c["num_hidden_layers"], width=c["hidden_size"],
        heads=c["num_attention_heads"], groups=c["num_key_value_heads"], feed_forward="gated",
        hidden=c["intermediate_size"], activation="swish", norm="rms", bias=False, causal=True,
        positions="rotary", read="every", tied=True, epsilon=c["rms_norm_eps"],
    )  # fmt: skip
    size = model.attention.head_size

    def block(name: str) -> dict:
        own = {
            ours: found[f"{name}.self_attn.{short}_proj.weight"].T.reshape(model.width, -1, size)
            for ours, short in (("query", "q"), ("key", "k"), ("value", "v"))
        }
        output = found[f"{name}.self_attn.o_proj.weight"].T.reshape(model.heads, size, -1)
        return {
            "attention": {**own, "output": output},
            "attention_norm": {"scale": found[f"{name}.input_layernorm.weight"]},
            "feed_forward_norm": {"scale": found[f"{name}.post_attention_layernorm.weight"]},
            "feed_forward": {
                ours: found[f"{name}.mlp.{theirs}_proj.weight"].T
                for ours, theirs in (("in", "up"), ("gate", "gate"), ("out", "down"))
            },
        }

    return model, {
        "tokens": {"weight": found["model.embed_tokens.weight"]},
        "blocks": [block(f"model.layers.{i}") for i in range(model.depth)],
        "last_norm": {"scale": found["model.norm.weight"]},
    }


def pieces(path: Path) -> list[bytes]:
    """The words of llama2.c's tokenizer."""
    content, words, at = path.read_bytes(), [], 4
    while at < len(content):
        length = struct.unpack_from("<i", content, at + 4)[0]
        words.append(content[at + 8 : at + 8 + length])
        at += 8 + length
    return words


@pytest.mark.slow
def test_a_small_story_teller_tells_its_story():
    """stories260K, greedily, begins with the text that llama2.c's own test expects."""
    if not present(STORIES):
        pytest.skip(f"{STORIES} is not in the data folder")
    import jax

    model, params = decoder(read_checkpoint(find(STORIES)))
    params = jax.tree.map(jnp.asarray, params)
    last = jax.jit(lambda words, n: model.apply(params, words)[n - 1])
    words = np.zeros(40, np.int32)
    words[0] = 1
    for n in range(1, 40):
        words[n] = int(np.argmax(last(jnp.asarray(words), n)))
    table = pieces(find(STORIES) / "tok512.bin")
    text = b"".join(table[w] for w in words[1:]).decode()
    story = "Once upon a time, there was a little girl named Lily. She loved to play outside"
    assert text.strip().startswith(story), text
