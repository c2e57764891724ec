"""Edits of models: composition, what is kept."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dynascope import edits
from dynascope.core.errors import BadInput, UnknownName
from dynascope.models import Transformer, Words
from dynascope.models.transformer import named_weights

MODEL = Transformer(Words(8), depth=2, width=6, heads=2, hidden=9, norm="none", bias=False,
                    causal=True, read="every")  # fmt: skip
PARAMS = MODEL.build(5, 5).init(jax.random.key(0))
X = jnp.array([[0, 1, 4, 2]])
W = np.asarray(PARAMS["blocks"][1]["feed_forward"]["in"])


def matrix(params):
    return np.asarray(params["blocks"][1]["feed_forward"]["in"])


def test_the_model_that_is_given_stays_bit_by_bit():
    before = {n: np.array(a) for n, a in named_weights(PARAMS).items()}
    cut = edits.truncate(PARAMS, layer=1, matrix="mlp_in", keep=0.5)
    assert all(np.array_equal(before[n], a) for n, a in named_weights(PARAMS).items())
    changed = [n for n, a in named_weights(cut).items() if not np.array_equal(before[n], a)]
    assert changed == ["blocks.1.feed_forward.in"]
    np.testing.assert_allclose(matrix(cut), edits.truncate_matrix(W, rank=3), atol=1e-6)


def test_dropping_a_part_without_offsets_is_keeping_nothing_of_its_first_matrix():
    """Check 2."""
    zero = edits.truncate(PARAMS, layer=1, matrix="mlp_in", keep=0.0)
    dropped = edits.apply(PARAMS, edits.DropPart(1, "mlp"))
    assert np.array_equal(MODEL.apply(zero, X), MODEL.apply(dropped, X))
    assert not np.allclose(MODEL.apply(zero, X), MODEL.apply(PARAMS, X))


def test_offsets_go_with_their_part():
    from dataclasses import replace

    model = replace(MODEL, bias=True, qkv_bias=True)
    params = model.build(5, 5).init(jax.random.key(1))
    for part, name in (("mlp", "feed_forward"), ("attention", "attention")):
        dropped = edits.apply(params, edits.DropPart(0, part))
        block = dropped["blocks"][0][name]
        last = {"mlp": "out", "attention": "output"}[part]
        assert not block[last].any() and not block[f"{last}_bias"].any()


def test_all_directions_is_the_matrix_itself():
    same = edits.truncate(PARAMS, layer=1, matrix="mlp_in", keep=1.0)
    assert np.array_equal(matrix(same), W)


def test_edits_compose():
    """Rank 5 of 6, then without its largest: directions 1 to 4."""
    both = edits.apply(
        PARAMS, edits.Truncate(1, "mlp_in", rank=5), edits.DropTop(1, "mlp_in", count=1)
    )
    found = edits.directions(W)
    np.testing.assert_allclose(matrix(both), found.kept(np.arange(1, 5)), atol=1e-5)
    again = edits.apply(both, edits.Truncate(0, "q", rank=1))
    np.testing.assert_allclose(matrix(again), matrix(both))


def test_what_selections_keep():
    size = 6
    smallest = edits.KeepSmallest(1, "mlp_in", rank=2).which(size)
    random = edits.KeepRandom(1, "mlp_in", rank=3, seed=1).which(size)
    assert smallest.tolist() == [4, 5]
    assert len(set(random.tolist())) == 3 and set(random.tolist()) <= set(range(size))
    assert set(random) <= set(edits.KeepRandom(1, "mlp_in", rank=5, seed=1).which(size))
    assert edits.DropDirection(1, "mlp_in", number=2).which(size).tolist() == [0, 1, 3, 4, 5]
    draws = [edits.KeepRandom(1, "mlp_in", rank=3, seed=s).which(size).tolist() for s in range(9)]
    assert len({tuple(d) for d in draws}) > 3


def test_kept_energy_and_spectrum():
    told = edits.kept(PARAMS, edits.Truncate(1, "mlp_in", rank=2))
    s = np.linalg.svd(W, compute_uv=False)
    assert (told.shape, told.rank) == ((6, 9), 2)
    assert told.energy == pytest.approx((s[:2] ** 2).sum() / (s**2).sum(), rel=1e-5)
    np.testing.assert_allclose(told.spectrum, s, rtol=1e-5)


def test_a_projected_output_direction_is_gone_and_others_stay():
    d = np.arange(1.0, 10.0)
    out = matrix(edits.apply(PARAMS, edits.ProjectOut(1, "mlp_in", tuple(d))))
    np.testing.assert_allclose(out @ d, 0, atol=1e-5)
    other = np.r_[2.0, -1.0, np.zeros(7)]  # orthogonal to d
    np.testing.assert_allclose(out @ other, W @ other, atol=1e-5)
    with pytest.raises(BadInput, match="9 finite numbers"):
        edits.apply(PARAMS, edits.ProjectOut(1, "mlp_in", (1.0, 2.0)))


def test_bad_edits_are_told():
    with pytest.raises(UnknownName, match="did you mean 'mlp_in'"):
        edits.truncate(PARAMS, layer=0, matrix="mlp_inn", keep=0.1)
    with pytest.raises(UnknownName, match=r"no tensor 'blocks\.0\.feed_forward\.gate'; nearest"):
        edits.truncate(PARAMS, layer=0, matrix="mlp_gate", keep=0.1)
    with pytest.raises(BadInput, match="from 0 to 1"):
        edits.truncate(PARAMS, layer=2, matrix="mlp_in", keep=0.1)
    with pytest.raises(BadInput, match="a share from 0 to 1"):
        edits.truncate(PARAMS, layer=0, matrix="mlp_in", keep=1.5)
    with pytest.raises(BadInput, match="one of the two"):
        edits.truncate(PARAMS, layer=0, matrix="mlp_in", keep=0.5, rank=2)
    broken = jax.tree.map(lambda a: a, PARAMS)
    broken["blocks"][0]["feed_forward"]["in"] = jnp.full((6, 9), jnp.nan)
    with pytest.raises(BadInput, match=r"blocks\.0\.feed_forward\.in: got 'NaN"):
        edits.truncate(broken, layer=0, matrix="mlp_in", keep=0.5)
    with pytest.raises(BadInput, match="a language model, parameters"):
        edits.truncate(3, layer=0, matrix="mlp_in", keep=0.5)
