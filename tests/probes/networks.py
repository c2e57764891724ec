"""Small networks as plain functions f(params, x), and dense twins of what is measured on them."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from compiling import quick  # tests is on the path


def draws(seed):
    """Normal numbers from numpy: jax would compile its generator for every shape."""
    generator = np.random.default_rng(seed)
    return lambda *shape: jnp.asarray(generator.normal(size=shape))


def fully_connected(normal):
    params = {"w": [normal(6, 9), normal(9, 9), normal(9, 2)], "b": [normal(9), normal(9)]}

    def f(p, x):
        h = jnp.tanh(x @ p["w"][0] / 6**0.5 + p["b"][0])
        h = jax.nn.swish(h @ (p["w"][1] / jnp.sqrt(9)) + p["b"][1])
        return h @ p["w"][2] / 3

    return f, params, normal(5, 6), normal(5, 2)


def convolutional(normal):
    params = [normal(3, 3, 2, 4), normal(4), normal(5 * 5 * 4, 2)]
    numbers = ("NHWC", "HWIO", "NHWC")

    def f(p, x):
        h = jax.lax.conv_general_dilated(x, p[0], (1, 1), "SAME", dimension_numbers=numbers)
        return jnp.tanh(h / 18**0.5 + p[1]).reshape(len(x), -1) @ p[2] / 10

    return f, params, normal(3, 5, 5, 2), normal(3, 2)


def masked_graph(normal):
    """Every vertex sees all before it, but for dropped edges; one output, shape (n,)."""
    params = [normal(5, 7), normal(12, 7), normal(19)]
    keep = [jnp.sign(jnp.abs(normal(*p.shape)) - 0.4).clip(0) for p in params]

    def f(p, x):
        first = jnp.tanh(x @ (p[0] * keep[0]) / 5**0.5)
        both = jnp.concatenate([x, first], 1)
        second = jnp.tanh(both @ (p[1] * keep[1]) / 12**0.5)
        return jnp.concatenate([both, second], 1) @ (p[2] * keep[2])

    return f, params, normal(6, 5), normal(6)


def transformer_block(normal):
    params = {name: normal(4, 4) / 2 for name in ("q", "k", "v", "o")}
    params |= {
        "up": normal(4, 8) / 2,
        "down": normal(8, 4) / 3,
        "gain": normal(4),
        "head": normal(4),
    }

    def normalised(h):
        h = h - h.mean(-1, keepdims=True)
        return h / jnp.sqrt((h**2).mean(-1, keepdims=True) + 1e-5)

    def f(p, x):  # x (n, tokens, 4)
        h = normalised(x) * p["gain"]
        scores = jnp.einsum("nqd,nkd->nqk", h @ p["q"], h @ p["k"]) / 2
        x = x + jax.nn.softmax(scores) @ (h @ p["v"]) @ p["o"]
        x = x + jax.nn.gelu(normalised(x) @ p["up"]) @ p["down"]
        return x.mean(1) @ p["head"]

    return f, params, normal(4, 3, 4), normal(4)


NETWORKS = [fully_connected, convolutional, masked_graph, transformer_block]


def jacobian(f, params, x):
    vector, restore = ravel_pytree(params)
    return quick(jax.jacrev(lambda w: f(restore(w), x).reshape(-1)))(vector)


def hessian(loss, params):
    vector, restore = ravel_pytree(params)
    return quick(jax.hessian(lambda w: loss(restore(w))))(vector)
