"""The transformer against loops, its symmetries, and what it refuses."""

from __future__ import annotations

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from compiling import quick  # tests is on the path
from dynascope.core.errors import BadInput, UnknownName
from dynascope.models import Patches, Transformer, Words, gpt, vit
from dynascope.models.transformer import head_maps, named_weights, with_named_weights
from dynascope.models.transformer.attention import Attention
from dynascope.models.transformer.feed_forward import FeedForward
from dynascope.runtime.precision import precision

from . import dense

BARE = Transformer(
    depth=2, width=6, heads=2, hidden=5, norm="none", bias=False, scaled=False, positions="none"
)


def start(model, inputs=4, outputs=3, seed=0):
    """Parameters in float64, larger than a start so that softmax is far from flat."""
    network = model.build(inputs, outputs)
    params = quick(lambda key: jax.tree.map(lambda a: 1.5 * a, network.init(key)))(
        jax.random.key(seed)
    )
    return network, params


def test_blocks_are_example_3_2_in_loops():
    """RANK-M1 and M2: sum over heads, then act(Z W_A) W_B^T, both added to what was there."""
    with precision("float64"):
        _, params = start(BARE)
        x = np.random.default_rng(0).normal(size=(4, 6))
        z, maps = x, [np.asarray(m) for m in head_maps(params)]
        for layer in range(2):
            key, query, value, output = (m[layer] for m in maps)
            # The document's W_K asks and its W_Q answers.
            z = z + sum(dense.head(z, query[h], key[h], value[h], output[h]) for h in range(2))
            parts = params["blocks"][layer]["feed_forward"]
            z = z + dense.gelu(z @ np.asarray(parts["in"])) @ np.asarray(parts["out"])
        ours = jnp.asarray(x)
        block_of = quick(BARE.block)
        for block in params["blocks"]:
            ours = block_of(block, ours)
        assert np.allclose(ours, z, rtol=1e-12, atol=1e-12)
        assert np.abs(z - x).max() > 0.1, "the blocks do something"


def test_the_tangent_kernels_scaling_is_its_factors_on_numbers_of_deviation_one():
    """W = V / sqrt(inputs): the output of the scaled weights, and slopes over sqrt(inputs)."""
    width, hidden = 64, 256
    model = Transformer(Patches((4, 4, 1), 2), depth=1, width=width, heads=2, hidden=hidden,
                        bias=False, start="ntk")  # fmt: skip
    network = model.build(16, 1)
    with precision("float64"):
        params = quick(network.init)(jax.random.key(0))
        x = jax.random.normal(jax.random.key(1), (3, 16))
        block = params["blocks"][0]
        for drawn in (block["attention"]["query"], block["feed_forward"]["out"]):
            assert np.std(drawn) == pytest.approx(1, abs=0.05)
        inputs = {"in": width, "out": hidden, "query": width, "key": width, "value": width,
                  "output": width}  # fmt: skip
        for part in ("attention", "feed_forward"):
            own = {n: a / inputs[n] ** 0.5 for n, a in block[part].items()}
            block = {**block, part: own}
        tokens = params["tokens"] | {"weight": params["tokens"]["weight"] / 2}  # of 4 pixels
        output = {"weight": params["output"]["weight"] / width**0.5}
        plain = {**params, "blocks": [block], "tokens": tokens, "output": output}
        assert np.allclose(quick(network.apply)(params, x), quick(model.apply)(plain, x))
        ours = quick(jax.grad(lambda p: network.apply(p, x).sum()))(params)
        theirs = quick(jax.grad(lambda p: model.apply(p, x).sum()))(plain)
        assert np.allclose(ours["output"]["weight"] * width**0.5, theirs["output"]["weight"])


def test_a_norm_before_each_part_with_scale_and_mask():
    with precision("float64"):
        model = replace(BARE, norm="layer", scaled=True, causal=True, depth=1, read="every")
        _, params = start(model)
        x = np.random.default_rng(1).normal(size=(4, 6))
        block = {
            k: {n: np.asarray(a) for n, a in v.items()} for k, v in params["blocks"][0].items()
        }
        maps = [np.asarray(m)[0] for m in head_maps(params)]
        normed = block["attention_norm"]
        read = dense.layer_norm(x, normed["scale"], normed["offset"], 1e-5)
        z = x + sum(
            dense.head(read, maps[1][h], maps[0][h], maps[2][h], maps[3][h], scale=3**-0.5,
                       causal=True)
            for h in range(2)
        )  # fmt: skip
        normed = block["feed_forward_norm"]
        read = dense.layer_norm(z, normed["scale"], normed["offset"], 1e-5)
        z = z + dense.gelu(read @ block["feed_forward"]["in"]) @ block["feed_forward"]["out"]
        assert np.allclose(quick(model.block)(params["blocks"][0], jnp.asarray(x)), z, rtol=1e-12)


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_grouped_and_rotary_attention_in_loops(groups):
    with precision("float64"):
        part = Attention(8, 4, 4, groups, False, False, True, True, (100.0, 1.0))
        rng = np.random.default_rng(groups)
        shapes = {name: entry.shape for name, entry in part.entries(_Ones()).items()}
        weights = {name: rng.normal(size=shape) for name, shape in shapes.items()}
        x = rng.normal(size=(5, 8))
        expected = np.zeros((5, 8))
        for h in range(4):
            g = h // (4 // groups)
            q = dense.rotate(x @ weights["query"][:, h], 100.0)
            k = dense.rotate(x @ weights["key"][:, g], 100.0)
            v = x @ weights["value"][:, g]
            for i in range(5):
                pattern = dense.softmax(np.array([q[i] @ k[j] / 2 for j in range(i + 1)]))
                expected[i] += pattern @ v[: i + 1] @ weights["output"][h]
        ours = quick(part.__call__)({k: jnp.asarray(v) for k, v in weights.items()}, jnp.asarray(x))
        assert np.allclose(ours, expected, rtol=1e-11, atol=1e-12)


class _Ones:
    """A start that only tells shapes."""

    def weight(self, shape, inputs, *, writes=False):
        from dynascope.models.transformer.drawing import Entry

        return Entry(shape, "constant", 1.0)

    offset = weight


def test_rotary_scores_depend_on_the_distance_alone():
    with precision("float64"):
        from dynascope.models.transformer.rotary import rotated

        rng = np.random.default_rng(0)
        q, k = rng.normal(size=(2, 6))
        many = quick(lambda v: rotated(jnp.tile(v, (9, 1, 1)), 50.0, 1.0)[:, 0])
        scores = np.asarray(many(q) @ many(k).T)
        assert np.allclose(np.diag(scores), q @ k), "distance zero is no rotation"
        assert np.allclose(scores[3, 1], scores[7, 5]) and np.allclose(scores[0, 4], scores[4, 8])
        assert abs(scores[3, 1] - scores[1, 3]) > 1e-3, "before and after are told apart"
        x = jnp.asarray(rng.normal(size=(4, 1, 8)))
        half = np.asarray(quick(lambda v: rotated(v, 50.0, 0.5))(x))
        assert np.array_equal(half[..., 4:], x[..., 4:])
        assert np.allclose(half[..., :4], quick(lambda v: rotated(v, 50.0, 1.0))(x[..., :4]))


def test_tokens_without_positions_may_change_places():
    """Equivariant with an output a token, invariant with their mean; positions break it."""
    with precision("float64"):
        x = jnp.asarray(np.random.default_rng(2).normal(size=(3, 7)))
        order = np.random.default_rng(3).permutation(7)
        for read in ("every", "mean"):
            network, params = start(replace(BARE, norm="layer", read=read), 7)
            apply = quick(network.apply)
            y, moved = apply(params, x), apply(params, x[:, order])
            back = y[:, order] if read == "every" else y
            assert np.allclose(back, moved, rtol=1e-12, atol=1e-13)
        network, params = start(replace(BARE, norm="layer", positions="learned"), 7)
        apply = quick(network.apply)
        gap = np.abs(apply(params, x) - apply(params, x[:, order])).max()
        assert gap > 1e-3


def test_a_causal_model_never_sees_what_comes_later():
    with precision("float64"):
        model = Transformer(Words(8), causal=True, read="every", positions="learned")
        network, params = start(model, 11, 11)
        words = np.random.default_rng(0).integers(0, 11, (2, 8))
        changed = words.copy()
        changed[:, 5] = (changed[:, 5] + 1) % 11
        apply = quick(network.apply)
        a, b = (np.asarray(apply(params, w)) for w in (words, changed))
        assert np.array_equal(a[:, :5], b[:, :5])
        assert (np.abs(a[:, 5:] - b[:, 5:]).max(axis=(0, 2)) > 1e-6).all()
        free, weights = start(replace(model, causal=False), 11, 11)
        apply = quick(free.apply)
        a, b = (np.asarray(apply(weights, w)) for w in (words, changed))
        assert np.abs(a[:, :5] - b[:, :5]).max() > 1e-6, "without the mask it does see"


def test_feed_forward_parts_as_written():
    with precision("float64"):
        rng = np.random.default_rng(0)
        x = rng.normal(size=(3, 4))
        weights = {"in": rng.normal(size=(4, 6)), "gate": rng.normal(size=(4, 6)),
                   "out": rng.normal(size=(6, 4))}  # fmt: skip
        call = lambda kind, w: np.asarray(  # noqa: E731
            FeedForward(kind, 4, 6, "swish", False)({k: jnp.asarray(v) for k, v in w.items()}, x)
        )
        swish = lambda v: v / (1 + np.exp(-v))  # noqa: E731
        assert np.allclose(call("mlp", weights), swish(x @ weights["in"]) @ weights["out"])
        gated = (swish(x @ weights["gate"]) * (x @ weights["in"])) @ weights["out"]
        assert np.allclose(call("gated", weights), gated)
        square = rng.normal(size=(4, 4))
        assert np.allclose(call("linear", {"out": square}), x @ square)
        assert not call("none", {}).any()


def test_the_scale_of_the_start_spares_tokens_and_norms():
    """boix2023 Fig. 6: a factor on all layers but the token map."""
    model = Transformer(Patches((4, 4, 1), 2), read="class_token")
    one = named_weights(quick(model.build(16, 3).init)(jax.random.key(0)))
    tenth = named_weights(
        quick(replace(model, init_scale=0.1).build(16, 3).init)(jax.random.key(0))
    )
    for name, weight in one.items():
        kept = name.startswith(("tokens", "positions", "class_token")) or "norm" in name
        expected = weight if kept else 0.1 * weight
        assert np.allclose(tenth[name], expected, rtol=1e-6), name


def test_the_papers_sizes():
    shapes = jax.eval_shape(vit().build(3072, 10).init, jax.random.key(0))
    query, key, value, output = (
        shapes["blocks"][5]["attention"][n] for n in ("query", "key", "value", "output")
    )
    assert query.shape == key.shape == value.shape == (512, 8, 128)
    assert output.shape == (8, 128, 512) and len(shapes["blocks"]) == 6
    assert shapes["positions"].shape == (65, 512)
    words = jax.eval_shape(gpt().build(50257, 50257).init, jax.random.key(0))
    assert sum(a.size for a in jax.tree.leaves(words)) == 124_439_808  # GPT-2 small


def test_weights_by_name_and_back():
    _, params = start(BARE)
    names = named_weights(params)
    assert "blocks.1.attention.query" in names and len(names) == len(jax.tree.leaves(params))
    other = with_named_weights(params, {"output.weight": 0 * names["output.weight"]})
    assert not np.any(other["output"]["weight"]) and np.any(params["output"]["weight"])
    with pytest.raises(UnknownName, match=r"did you mean 'blocks\.1\.attention\.query'"):
        with_named_weights(params, {"blocks.1.attention.qery": names["output.weight"]})
    with pytest.raises(BadInput, match="an array of shape"):
        with_named_weights(params, {"output.weight": np.zeros(3)})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"heads": 5}, "a multiple of heads"),
        ({"groups": 3}, "a divisor of heads"),
        ({"depth": 0}, "at least 1"),
        ({"tied": True}, "a table of words"),
        ({"causal": True, "read": "class_token"}, "sees nothing"),
        ({"parallel": True, "norm_place": "post"}, "norm_place"),
        ({"init_scale": -1.0}, "at least 0"),
    ],
)
def test_bad_settings_raise_at_construction(change, words):
    with pytest.raises(BadInput, match=words):
        Transformer(**change)


def test_patches_must_fill_the_picture():
    with pytest.raises(BadInput, match="a divisor of the sides"):
        Patches((8, 8, 3), 3)
    with pytest.raises(BadInput, match="as the task has"):
        Transformer(Patches((8, 8, 3), 4)).build(100, 2)
