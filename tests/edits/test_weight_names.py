"""One table of names: every family gives the maps that were put in, whatever the packing."""

from __future__ import annotations

from dataclasses import replace

import jax
import numpy as np
import pytest

from dynascope.core.errors import BadInput, UnknownName
from dynascope.edits import layout
from dynascope.edits.families import FAMILIES
from dynascope.models import Transformer
from dynascope.models.transformer import head_maps, named_weights

D, H, SIZE, LAYERS = 12, 4, 3, 2
RNG = np.random.default_rng(0)


def maps(groups=H):
    """W_K, W_Q, W_V, W_O (layer, head, d, d_h), keys and values shared within groups."""
    shared = lambda: RNG.normal(size=(LAYERS, groups, D, SIZE)).repeat(H // groups, 1)  # noqa: E731
    own = lambda: RNG.normal(size=(LAYERS, H, D, SIZE))  # noqa: E731
    return shared(), own(), shared(), own()


def flat(w):
    """(head, d, d_h) to (d, heads side by side)."""
    return w.swapaxes(0, 1).reshape(D, -1)


def written(family, key, query, value, output, groups=H):
    """A checkpoint as the family's own program stores it."""
    found = {}
    for i in range(LAYERS):
        q, o = flat(query[i]), flat(output[i]).T  # o: (all heads, d)
        k, v = (flat(w[i][:: H // groups]) for w in (key, value))
        name = {
            "gpt2": f"transformer.h.{i}.attn.", "gpt_neox": f"gpt_neox.layers.{i}.attention.",
            "llama": f"model.layers.{i}.self_attn.", "timm": f"blocks.{i}.attn.",
            "vit": f"vit.encoder.layer.{i}.attention.",
            "vit of transformers 5": f"vit.layers.{i}.attention.",
            "phi3": f"model.layers.{i}.self_attn.",
        }[family]  # fmt: skip
        if family == "gpt2":
            found |= {f"{name}c_attn.weight": np.hstack([q, k, v]), f"{name}c_proj.weight": o}
        elif family == "timm":
            found |= {f"{name}qkv.weight": np.vstack([q.T, k.T, v.T]), f"{name}proj.weight": o.T}
        elif family == "phi3":
            found |= {f"{name}qkv_proj.weight": np.vstack([q.T, k.T, v.T]),
                      f"{name}o_proj.weight": o.T}  # fmt: skip
        elif family == "gpt_neox":
            # head by head: its queries, its keys, its values
            rows = [np.vstack([w[i][h].T for w in (query, key, value)]) for h in range(H)]
            found |= {f"{name}query_key_value.weight": np.vstack(rows),
                      f"{name}dense.weight": o.T}  # fmt: skip
        elif family == "vit":
            for part, w in (("query", q), ("key", k), ("value", v)):
                found[f"{name}attention.{part}.weight"] = w.T
            found[f"{name}output.dense.weight"] = o.T
        else:
            for part, w in (("q", q.T), ("k", k.T), ("v", v.T), ("o", o.T)):
                found[f"{name}{part}_proj.weight"] = w
    return found


OTHERS = [family for family in FAMILIES if family != "dynascope"]


@pytest.mark.parametrize("family", OTHERS)
def test_every_family_gives_back_its_heads(family):
    given = maps()
    found = layout(written(family, *given), {"num_attention_heads": H})
    assert (found.family, found.layers, found.heads, found.groups) == (family, LAYERS, H, H)
    for i in range(LAYERS):
        for ours, theirs in zip(found.head_maps(i), given, strict=True):
            assert np.array_equal(ours, theirs[i])
    assert ("distance zero" in found.note) == (family in ("gpt_neox", "llama", "phi3"))


@pytest.mark.parametrize("family", OTHERS)
@pytest.mark.parametrize("matrix", ["q", "k", "v", "o"])
def test_a_matrix_is_replaced_and_nothing_else_of_its_tensor(family, matrix):
    weights = written(family, *maps())
    before = {n: a.copy() for n, a in weights.items()}
    found = layout(weights, heads=H)
    new = RNG.normal(size=found.matrix(1, matrix).shape)
    after = layout({**weights, **found.replaced(1, matrix, new)}, heads=H)
    for layer, name in [(i, n) for i in range(LAYERS) for n in "qkvo"]:
        want = new if (layer, name) == (1, matrix) else found.matrix(layer, name)
        assert np.array_equal(after.matrix(layer, name), want), (layer, name)
    assert all(np.array_equal(before[n], weights[n]) for n in before)
    with pytest.raises(BadInput, match="a matrix of shape"):
        found.replaced(1, matrix, new[:3])


def test_grouped_queries_keys_and_values_in_turn():
    given = maps(groups=2)
    found = layout(written("phi3", *given, groups=2), heads=H)
    assert found.groups == 2
    for ours, theirs in zip(found.head_maps(1), given, strict=True):
        assert np.array_equal(ours, theirs[1])


def test_grouped_heads_have_their_groups_maps():
    given = maps(groups=2)
    found = layout(written("llama", *given, groups=2), heads=H)  # told by the shape of the keys
    assert found.groups == 2
    for ours, theirs in zip(found.head_maps(1), given, strict=True):
        assert np.array_equal(ours, theirs[1])


def test_models_of_ours_tell_their_heads_by_shape():
    model = replace(Transformer(width=D, heads=H, feed_forward="gated"), groups=2)
    params = model.build(5, 2).init(jax.random.key(0))
    found = layout(named_weights(params))
    assert (found.family, found.heads, found.groups) == ("dynascope", H, 2)
    for ours, theirs in zip(found.head_maps(1), head_maps(params), strict=True):
        assert np.array_equal(ours, theirs[1])
    assert found.matrix(0, "mlp_gate").shape == (D, 4 * D)
    assert np.array_equal(found.matrix(0, "q").reshape(D, H, SIZE)[:, 2],
                          head_maps(params).query[0, 2])  # fmt: skip


def test_a_missing_tensor_is_told_with_the_nearest():
    weights = written("gpt2", *maps())
    weights["transformer.h.1.attn.c_prj.weight"] = weights.pop("transformer.h.1.attn.c_proj.weight")
    found = layout(weights, heads=H)
    found.head_maps(0)
    with pytest.raises(UnknownName, match=r"no tensor 'transformer\.h\.1\.attn\.c_proj\.weight'; "
                                          r"nearest: transformer\.h\.1\.attn\.c_prj"):  # fmt: skip
        found.head_maps(1)


def test_what_cannot_be_understood_is_said():
    weights = written("timm", *maps())
    with pytest.raises(BadInput, match=r"the number of heads; give it, or put .* config\.json"):
        layout(weights)
    with pytest.raises(BadInput, match="a divisor of 12"):
        layout(weights, heads=5)
    with pytest.raises(BadInput, match="names of no known family: a, b; known: gpt2, gpt_neox"):
        layout({"a": np.ones(2), "b": np.ones(2)})
    found = layout(weights, heads=H)
    with pytest.raises(UnknownName, match="unknown matrix of timm 'mlp_gate'"):
        found.matrix(0, "mlp_gate")
    with pytest.raises(BadInput, match="from 0 to 1"):
        found.matrix(2, "q")
