"""Watching loops of jax: a module of Equinox, one of Flax, a function and a pair of functions."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import dynascope
from dynascope.core.errors import BadInput

pytestmark = pytest.mark.slow  # every kind of model compiles its own measurements


def mean_square(out, targets):
    return jnp.mean((out - targets) ** 2)


def batch():
    x, y = np.random.default_rng(0).standard_normal((2, 20, 3)).astype(np.float32)
    return jnp.asarray(x), jnp.asarray(y[:, :1])


def trained(watch, objective, params, steps=6):
    """Plain descent on one batch; the loop passes its weights."""
    x, y = batch()
    optimizer = optax.sgd(0.05)
    state = optimizer.init(eqx.filter(params, eqx.is_inexact_array))
    for _ in range(steps):
        value, slope = eqx.filter_value_and_grad(objective)(params, x, y)
        watch(value, batch=(x, y), learning_rate=0.05, params=params)
        change, state = optimizer.update(slope, state)
        params = eqx.apply_updates(params, change)
    return watch.dataset()


def dense_sharpness(objective, params):
    vector, restore = jax.flatten_util.ravel_pytree(params)
    hessian = jax.hessian(lambda w: objective(restore(w), *batch()))(vector)
    return np.linalg.eigvalsh(np.asarray(hessian, np.float64))[-1]


def checked(watch, objective, params):
    """The record of a short run, and its first sharpness against the dense Hessian."""
    data = trained(watch, objective, params)
    assert watch.errors == [] and data["sharpness"].count() == 3
    first = float(data["sharpness"][0])
    arrays = eqx.filter(params, eqx.is_inexact_array)
    rest = eqx.filter(params, eqx.is_inexact_array, inverse=True)
    want = dense_sharpness(lambda w, x, y: objective(eqx.combine(w, rest), x, y), arrays)
    assert first == pytest.approx(want, rel=1e-3)
    assert (data["sharpness_converged"].dropna("step") == 1).all()
    assert (data["sharpness_products"].dropna("step") >= 1).all()
    assert np.isfinite(data["update_stable_rank"][2]).any()
    assert np.isfinite(data["kernel_drift"][2]) and 0 < data["agop_alignment"][4] <= 1.0001
    assert data["tangent_kernel_spectrum_residual"][0].max() <= 1e-2
    assert "gradient descent" in watch.summary()


def test_equinox():
    module = eqx.nn.MLP(3, 1, 8, 1, jax.nn.tanh, key=jax.random.key(0))
    watch = dynascope.watch(
        module,
        mean_square,
        every=2,
        budget=1e9,
        preset="full",
        store=None,
        strict=True,
        tolerance=0.01,
    )
    checked(watch, lambda m, x, y: mean_square(jax.vmap(m)(x), y), module)


def test_equinox_is_measured_without_dropout():
    """Dropout of a module asks for a key: inside measurements it is off, and that is said."""
    keys = jax.random.split(jax.random.key(0))
    layers = [
        eqx.nn.Linear(3, 4, key=keys[0]),
        eqx.nn.Dropout(0.5),
        eqx.nn.Linear(4, 1, key=keys[1]),
    ]
    watch = dynascope.watch(
        eqx.nn.Sequential(layers), mean_square, every=1, store=None, strict=True
    )
    watch(1.0, batch=batch(), learning_rate=0.1, params=eqx.nn.Sequential(layers))
    plain = eqx.nn.Sequential([layers[0], layers[2]])
    without = dynascope.watch(plain, mean_square, every=1, store=None, strict=True)
    without(1.0, batch=batch(), learning_rate=0.1, params=plain)
    want = float(without.dataset()["sharpness"][0])
    assert float(watch.dataset()["sharpness"][0]) == pytest.approx(want, rel=1e-4)
    assert "without dropout" in watch.summary()


def start():
    """Weights of a network of two layers."""
    first, second = jax.random.split(jax.random.key(1))
    return {"a": jax.random.normal(first, (3, 8)) / 2, "b": jax.random.normal(second, (8, 1)) / 3}


def apply(params, x):
    return jnp.tanh(x @ params["a"]) @ params["b"]


@pytest.mark.parametrize("model", [apply, (lambda key: start(), apply)], ids=["function", "pair"])
def test_functions(model):
    watch = dynascope.watch(
        model,
        mean_square,
        every=2,
        budget=1e9,
        preset="full",
        store=None,
        strict=True,
        tolerance=0.01,
    )
    checked(watch, lambda w, x, y: mean_square(apply(w, x), y), start())


def test_flax():
    linen = pytest.importorskip("flax.linen", reason="flax is not installed")

    class Network(linen.Module):
        @linen.compact
        def __call__(self, x):
            return linen.Dense(1)(jnp.tanh(linen.Dense(8)(x)))

    network = Network()
    params = network.init(jax.random.key(0), batch()[0])
    watch = dynascope.watch(
        network,
        mean_square,
        every=2,
        budget=1e9,
        preset="full",
        store=None,
        strict=True,
        tolerance=0.01,
    )
    checked(watch, lambda w, x, y: mean_square(network.apply(w, x), y), params)


@pytest.mark.parametrize("count", [16, 12])
def test_many_samples_are_measured_on_the_first_ones(count):
    """Kernel and outer product of a batch of 20 are those of its first samples alone."""
    found = []
    for rows in (slice(None), slice(count)):
        asked = {} if count == 16 else {"samples": count}
        watch = dynascope.watch(
            apply, mean_square, preset="full", store=None, strict=True, tolerance=0.01, **asked
        )
        x, y = batch()
        watch(1.0, batch=(x[rows], y[rows]), learning_rate=0.1, params=start())
        found.append(watch.dataset())
    whole, part = found
    assert float(whole["tangent_kernel_norm"][0]) == float(part["tangent_kernel_norm"][0])
    more = dynascope.watch(
        apply, mean_square, preset="full", store=None, strict=True, tolerance=0.01, samples=20
    )
    more(1.0, batch=batch(), learning_rate=0.1, params=start())
    all_of_it = float(more.dataset()["tangent_kernel_norm"][0])
    assert all_of_it != pytest.approx(float(whole["tangent_kernel_norm"][0]), rel=1e-3)
    assert float(whole["sharpness"][0]) != pytest.approx(float(part["sharpness"][0]), rel=1e-3)


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: (apply, None, start()), "only torch models bring their own"),
        (lambda: (apply, lambda out, y: (out - y) ** 2, start()), "a single number"),
        (lambda: (apply, mean_square, None), "watch(..., params=params)"),
        (lambda: (apply, mean_square, {}), "parameters to train"),
        (lambda: (jax.nn.tanh, mean_square, {"name": "no array"}), "floating arrays"),
        (lambda: (eqx.nn.Identity(), mean_square, eqx.nn.Identity()), "parameters to train"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line(make, word):
    model, loss, params = make()
    with pytest.raises(BadInput) as caught:
        dynascope.watch(model, loss, store=None)(
            1.0, batch=batch(), learning_rate=0.1, params=params
        )
    assert word in str(caught.value) and "\n" not in str(caught.value)
