"""Real models, where they lie: their text, `transformers` on the same weights, LASER."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from dynascope import edits
from dynascope.data.models import find_model, model_there
from dynascope.language import encoded, generate, ioi, load_model, score

# What `./run stories260K.bin -z tok512.bin -t 0.0 -n 200` of llama2.c prints: its own test expects
# these bytes, and the readme of the weights (karpathy/tinyllamas) shows the same and the rest.
WEIGHTS = "b0a507e7ad0f626624f17112325e66691f9076d622e1d3274d103d00299f2696"  # sha256
GREEDY = (
    "Once upon a time, there was a little girl named Lily. She loved to play outside in the park. "
    "One day, she saw a big, red ball. She wanted to play with it, but it was too high.\n"
    "Lily's mom said, \"Lily, let's go to the park.\" Lily was sad and didn't know what to do. "
    'She said, "I want to play with your ball, but I can\'t find it."\n'
    "Lily was sad and didn't know what to do. She said, \"I'm sorry, Lily. I didn't know what to "
    "do.\"\nLily didn't want to help her mom, so she"
)
REST = (
    " said, \"I'm sorry, mom. I didn't know what to do.\" Her mom said, \"Don't worry, Lily. "
    "We can help you."
)


def needs(name):
    return pytest.mark.skipif(not model_there(name), reason=f"{name} is not there")


@needs("stories260K")
def test_stories260k_writes_what_its_own_program_writes():
    """The weights are those of the printed text, and 200 tokens are the text to the letter."""
    path = find_model("stories260K", download=False)
    [weights] = path.glob("stories260K.bin") if path.is_dir() else [path]
    assert hashlib.sha256(weights.read_bytes()).hexdigest() == WEIGHTS
    lm = load_model(path)
    assert generate(lm, "", tokens=200) == GREEDY
    assert generate(lm, "", tokens=256).startswith(GREEDY + REST)


@needs("stories15M")
@pytest.mark.slow
def test_stories15m_is_that_of_transformers():
    torch, transformers = (pytest.importorskip(n) for n in ("torch", "transformers"))
    lm = load_model(find_model("stories15M", download=False))
    theirs = as_llama(lm, torch, transformers)
    ids = [lm.encode(p.text)[:14] for p in ioi(8)]
    with torch.no_grad():
        want = theirs(torch.tensor(ids)).logits.numpy()
    np.testing.assert_allclose(lm.logits(ids), want, atol=2e-4)


def as_llama(lm, torch, transformers):
    """The same weights in `transformers`' Llama."""
    from dynascope.data import read_checkpoint

    c = lm.config
    config = transformers.LlamaConfig(
        vocab_size=c["vocab_size"], hidden_size=c["hidden_size"],
        intermediate_size=c["intermediate_size"], num_hidden_layers=c["num_hidden_layers"],
        num_attention_heads=c["num_attention_heads"], rms_norm_eps=1e-5,
        num_key_value_heads=c["num_key_value_heads"], tie_word_embeddings=True,
        max_position_embeddings=c["max_position_embeddings"],
    )  # fmt: skip
    theirs = transformers.LlamaForCausalLM(config).eval()
    found = read_checkpoint(lm.source)
    state = {n: torch.tensor(np.array(found[n])) for n in found}
    missing = theirs.load_state_dict(state, strict=False)
    assert not missing.unexpected_keys and set(missing.missing_keys) <= {"lm_head.weight"}
    theirs.tie_weights()
    return theirs


@needs("stories15M")
@pytest.mark.slow
def test_truncation_of_stories15m_favours_the_name_and_random_directions_do_not():
    """The last layer's last matrix at 5 %."""
    lm = load_model(find_model("stories15M", download=False))
    prompts = encoded(lm, ioi(24))
    before = score(lm, prompts).log_ratio
    cut = edits.truncate(lm, layer=5, matrix="mlp_out", keep=0.05)
    gain = score(cut, prompts).log_ratio - before
    random = edits.apply(lm, edits.KeepRandom(5, "mlp_out", keep=0.05))
    other = score(random, prompts).log_ratio - before
    assert np.exp(gain.mean()) > 10 > np.exp(other.mean()) and (gain > 0).mean() > 0.9


@needs("smollm2_135m_gguf")
@pytest.mark.slow
def test_smollm2_is_that_of_transformers():
    torch, transformers = (pytest.importorskip(n) for n in ("torch", "transformers"))
    pytest.importorskip("accelerate")  # which transformers wants for GGUF
    place = find_model("smollm2_135m_gguf", download=False)
    lm = load_model(place)
    [file] = place.glob("*.gguf")
    theirs = transformers.AutoModelForCausalLM.from_pretrained(place, gguf_file=file.name).eval()
    ids = lm.encode("The capital of France is Paris, and the capital of Italy in 1998 is")
    with torch.no_grad():
        want = theirs(torch.tensor([ids])).logits.numpy()
    np.testing.assert_allclose(lm.logits([ids]), want, atol=1e-3)
    tokenizer = transformers.AutoTokenizer.from_pretrained(place, gguf_file=file.name)
    for text in ("In 1998, they're  here.\n\tYes!", "naïve — Ünïcode 12345"):
        assert lm.encode(text) == tokenizer.encode(text) and lm.decode(lm.encode(text)) == text
    assert " Rome" in generate(lm, "The capital of France is Paris. The capital of Italy is", 6)
