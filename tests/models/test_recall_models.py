"""Eq. 4.1 and its construction: checks 2, 9 and 16, and the places that are asked."""

from __future__ import annotations

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from compiling import quick  # tests is on the path
from dynascope.core.errors import BadInput
from dynascope.edits.truncation import truncate_matrix
from dynascope.models import recall_transformer
from dynascope.models.transformer import constructed, named_weights, with_named_weights
from dynascope.probes.recall import patterns, truncations
from dynascope.runtime.precision import precision
from dynascope.tasks import Asked, NoisyRecall

MODEL = recall_transformer(6, 8, ("mlp", "linear"))


def by_hand(params, tokens):
    """Eq. 4.1 in plain numpy, one row, position by position."""
    w = {k: np.asarray(v, float) for k, v in named_weights(params).items()}
    x = w["tokens.weight"][tokens] + w["positions"][: len(tokens)]
    for b, kind in enumerate(("mlp", "linear")):
        key, value = w[f"blocks.{b}.attention.key"][:, 0], w[f"blocks.{b}.attention.value"][:, 0]
        out, h = w[f"blocks.{b}.attention.output"][0], np.zeros_like(x)
        for t in range(len(x)):
            scores = np.array([x[t] @ key.T @ x[s] for s in range(t + 1)]) / np.sqrt(8)
            a = np.exp(scores - scores.max())
            h[t] = sum(a[s] / a.sum() * (x[s] @ value @ out) for s in range(t + 1))
        y = x + h
        name = f"blocks.{b}.feed_forward"
        x = y + (np.maximum(y @ w[f"{name}.in"], 0) @ w[f"{name}.out"] if kind == "mlp"
                 else y @ w[f"{name}.out"])  # fmt: skip
    return x @ w["output.weight"]


def test_the_equation():
    with precision("float64"):
        network = MODEL.build(5, 5)
        params = quick(network.init)(jax.random.key(0))
        tokens = jnp.array([[0, 3, 1, 4, 2, 0]])
        full = quick(network.apply)(params, tokens)
        assert np.allclose(full[0], by_hand(params, np.asarray(tokens[0])), rtol=1e-10)
        places = jnp.array([[5, 2]])
        asked = quick(network.apply)(params, Asked(tokens, places))
        assert np.allclose(asked[0], full[0, places[0]], rtol=1e-12)


def test_gradients_against_central_differences():
    """Check 9: every parameter of a two-block model in float64; embeddings do not learn."""
    with precision("float64"):
        network = MODEL.build(5, 5)
        params = quick(network.init)(jax.random.key(1))
        rows = Asked(
            jnp.array([[0, 3, 1, 4, 2, 0], [1, 1, 0, 2, 3, 4]]), jnp.array([[5, 1], [4, 0]])
        )
        loss = quick(lambda p: jnp.mean(jax.nn.log_softmax(network.apply(p, rows))[..., 2]))
        gradient = named_weights(quick(jax.grad(loss))(params))
        rng = np.random.default_rng(0)
        for name, weight in named_weights(params).items():
            if not name.startswith("blocks"):
                assert not np.any(gradient[name])
                continue
            for index in {tuple(rng.integers(0, n) for n in weight.shape) for _ in range(12)}:
                moved = [
                    loss(with_named_weights(params, {name: weight.at[index].add(d)}))
                    for d in (1e-5, -1e-5)
                ]
                numeric = (moved[0] - moved[1]) / 2e-5
                assert gradient[name][index] == pytest.approx(float(numeric), rel=1e-5, abs=1e-9)


def test_dropping_is_truncating_to_nothing():
    """Check 2: an MLP without offsets, its input map cut to share 0; other shares as the twin."""
    with precision("float64"):
        network, name = MODEL.build(5, 5), "blocks.0.feed_forward.in"
        params = quick(network.init)(jax.random.key(0))
        weight = named_weights(params)[name]
        cuts = truncations(weight, (0.0, 0.3, 1.0))
        tokens = jnp.array([[0, 3, 1, 4]])
        without = replace(MODEL, feed_forwards=("none", "linear"))
        ours = quick(network.apply)(with_named_weights(params, {name: cuts[0]}), tokens)
        assert np.allclose(ours, quick(without.apply)(params, tokens), atol=1e-12)
        assert np.allclose(cuts[1], truncate_matrix(weight, keep=0.3), atol=1e-12)
        assert np.array_equal(cuts[2], weight)


@pytest.fixture(scope="module")
def built():
    """Rows of N = 10, T = 40 on which the construction is meant to work."""
    task = NoisyRecall(40, 0.5, ordinary=10, exclude=True)
    samples = quick(lambda key: task.sequences(key, 1500, 0.5))(jax.random.key(0))
    tokens, answers = np.asarray(samples.tokens), np.asarray(samples.answers[:, 0])
    shown = ((tokens[:, :-2] == 0) & (tokens[:, 1:-1] == answers[:, None])).any(1)
    fine = shown & (tokens[:, 0] != 0) & (tokens[:, -2] != 0)
    return task, samples, tokens, answers, fine


def probabilities(model, params, samples, answers):
    found = np.asarray(
        jax.nn.softmax(quick(model.build(11, 11).apply)(params, samples.asked)[:, 0])
    )
    return found[np.arange(len(answers)), answers], found[:, 10]


def test_the_construction(built):
    """Check 16."""
    task, samples, _, answers, fine = built
    model, params = constructed(task)
    right, noise = probabilities(model, params, samples, answers)
    assert np.allclose(right[fine], 0.5, atol=1e-3) and np.allclose(noise[fine], 0.5, atol=1e-3)
    inner = params["blocks"][1]["feed_forward"]["in"]
    cut = with_named_weights(params, {"blocks.1.feed_forward.in": np.zeros_like(inner)})
    assert probabilities(model, cut, samples, answers)[0][fine].min() >= 0.999


def test_without_avoiding_noise_and_answers_are_alike(built):
    """Check 16: c = 0 gives every position after the trigger the same attention."""
    task, samples, tokens, _, fine = built
    model, params = constructed(task, avoid=0.0)
    last = np.asarray(patterns(model, jax.tree.map(jnp.asarray, params), samples.asked)[1])[:, 0]
    after = np.concatenate([np.zeros((len(tokens), 1), bool), tokens[:, :-1] == 0], 1)
    for row in np.flatnonzero(fine)[:200]:
        given = last[row, after[row]]
        assert given.min() > 0 and np.ptp(given) < 1e-6


def test_the_construction_needs_its_edge_cases_left_out(built):
    task, samples, _, answers, fine = built
    right, _ = probabilities(*constructed(task), samples, answers)
    assert right[~fine].mean() < 0.45


def test_parts_that_do_not_fit():
    with pytest.raises(BadInput, match="feed_forwards"):
        replace(MODEL, depth=3)
    with pytest.raises(BadInput, match="identity_query"):
        replace(MODEL, heads=2)
    with pytest.raises(BadInput, match="frozen"):
        replace(MODEL, frozen=("blocks",))
