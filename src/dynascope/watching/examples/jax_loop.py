"""A jax loop past the critical learning rate: the loss jumps and the curvature falls."""

import jax
import jax.numpy as jnp

import dynascope


def apply(params: dict, x: jax.Array) -> jax.Array:
    """Two layers, written by hand."""
    return jnp.tanh(x @ params["a"]) @ params["b"]


def loss(outputs: jax.Array, targets: jax.Array) -> jax.Array:
    """Mean squared error."""
    return jnp.mean((outputs - targets) ** 2)


keys = jax.random.split(jax.random.key(0), 3)
params = {
    "a": jax.random.normal(keys[0], (10, 64)) / 10**0.5,
    "b": jax.random.normal(keys[1], (64, 1)) / 8,
}
x = jax.random.normal(keys[2], (64, 10))
y = x[:, :1] * x[:, 1:2]
rate = 0.2


@jax.jit
def step(params: dict) -> tuple:
    """One step of descent."""
    value, slope = jax.value_and_grad(lambda p: loss(apply(p, x), y))(params)
    return value, jax.tree.map(lambda w, g: w - rate * g, params, slope)


with dynascope.watch(apply, loss, every=1, budget=10, label="jax-loop") as watch:
    for _ in range(300):
        before = params
        value, params = step(params)
        watch(value, batch=(x, y), params=before, learning_rate=rate)
print(watch.summary())
