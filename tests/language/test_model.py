"""The decoder with stacked layers against `Transformer.apply`, and what a model gives."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

from compiling import quick  # tests is on the path
from dynascope import edits
from dynascope.core.errors import BadInput
from dynascope.language import generate, load_model, model_size, save_model
from dynascope.language.generation import greedy

from .small import KINDS, QUICK_KINDS, model, plain

every = pytest.mark.parametrize("kind", KINDS)
RNG = np.random.default_rng(0)


@pytest.mark.parametrize("kind", QUICK_KINDS)
def test_stacked_layers_are_the_transformer(kind):
    lm = model(kind)
    ids = RNG.integers(0, lm.vocabulary, (2, 9))
    want = np.asarray(quick(lm.transformer.apply)(plain(lm), jnp.asarray(ids)))
    got = lm.logits(ids)
    assert got.shape == (2, 9, lm.vocabulary) and got.dtype == np.float32
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)
    last = lm.last_logits([ids[0, :4], ids[1]])
    np.testing.assert_allclose(last, [want[0, 3], want[1, 8]], rtol=1e-4, atol=1e-4)


@pytest.mark.slow
@every
def test_kept_keys_and_values_give_the_same_text_as_reading_anew(kind):
    lm = model(kind, seed=2)
    ids = [1, 270, 265, 280]
    wanted = list(ids)
    for _ in range(6):
        wanted.append(int(lm.logits(np.array([wanted]))[0, -1].argmax()))
    assert list(greedy(lm, ids, 6)) == wanted[4:]


@every
def test_truncating_leaves_the_first_model_alone(kind):
    lm = model(kind)
    before = {name: array.copy() for name, array in lm.weights.items()}
    cut = edits.truncate(lm, layer=1, matrix="mlp_out", keep=0.25)
    ids = RNG.integers(0, lm.vocabulary, (1, 5))
    assert all(np.array_equal(before[n], a) for n, a in lm.weights.items())
    assert not np.allclose(cut.logits(ids), lm.logits(ids), atol=1e-3)
    w = cut.weights["blocks.1.feed_forward.out"]
    assert np.linalg.matrix_rank(w) == 4  # a quarter of 16
    for matrix in ("q", "k", "v", "o", "mlp_in"):
        found = edits.truncate(lm, layer=2, matrix=matrix, rank=1)
        changed = [n for n, a in found.weights.items() if not np.array_equal(before[n], a)]
        assert len(changed) == 1 and changed[0].startswith("blocks.2.")


def test_a_truncated_model_is_saved_small_and_comes_back(tmp_path):
    pytest.importorskip("safetensors")
    lm = model()
    cut = edits.truncate(lm, layer=1, matrix="mlp_in", rank=2)
    both = [save_model(m, tmp_path / name) for m, name in ((lm, "whole"), (cut, "cut"))]
    sizes = [(folder / "weights.safetensors").stat().st_size for folder in both]
    saved = 4 * (16 * 24 - 2 * (16 + 24))  # bytes of the matrix less those of its factors
    assert abs((sizes[0] - sizes[1]) - saved) < 300  # names in the file's head
    ids = RNG.integers(0, lm.vocabulary, (1, 7))
    for m, folder in zip((lm, cut), both, strict=True):
        again = load_model(folder)
        np.testing.assert_allclose(again.logits(ids), m.logits(ids), atol=1e-5)
        assert again.encode(" the cat") == m.encode(" the cat")
    with pytest.raises(BadInput, match="an empty folder"):
        save_model(cut, tmp_path / "cut")
    again = load_model(tmp_path / "cut")
    assert list(again.factors) == ["blocks.1.feed_forward.in"]  # and stays small when saved anew
    other = edits.apply(again, edits.DropTop(1, "mlp_in", count=1))
    assert np.linalg.matrix_rank(other.weights["blocks.1.feed_forward.in"], tol=1e-4) == 1


def test_size_is_told_before_reading(tmp_path):
    pytest.importorskip("safetensors")
    lm = model()
    folder = save_model(lm, tmp_path / "m")
    size = model_size(folder)
    assert size.parameters == sum(a.size for a in lm.weights.values())
    assert "GB of memory are free" in str(size) and size.needed == 4 * size.parameters


def test_a_model_that_does_not_fit_is_refused(tmp_path, monkeypatch):
    pytest.importorskip("safetensors")
    folder = save_model(model(), tmp_path / "m")
    monkeypatch.setattr("dynascope.language.loading.available_bytes", lambda: 1000)
    with pytest.raises(BadInput, match="a model that fits into memory"):
        load_model(folder)


def test_bad_tokens_are_told():
    lm = model()
    with pytest.raises(BadInput, match="numbers from 0 to"):
        lm.logits([[0, lm.vocabulary]])
    with pytest.raises(BadInput, match="whole numbers"):
        lm.logits([[0.5]])
    with pytest.raises(BadInput, match="at most 48"):
        lm.logits(np.zeros((1, 49), int))
    with pytest.raises(BadInput, match="at most 48"):
        generate(lm, "a", tokens=48)
