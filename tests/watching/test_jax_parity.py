"""The models of `models.py` written in jax: watching them gives what watching torch gives."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest

from dynascope import probes
from dynascope.watching.attach import adapt

from .models import KINDS, made

pytestmark = pytest.mark.slow  # torch is installed for make test-all alone


def normalised(x, w, name):
    mean, spread = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) / jnp.sqrt(spread + 1e-5) * w[f"{name}.weight"] + w[f"{name}.bias"]


def attention(x, together, heads, causal):
    """Queries, keys and values side by side in `together`."""
    rows, places, width = x.shape
    parts = together.reshape(rows, places, 3, heads, width // heads)
    q, k, v = (parts[:, :, i].swapaxes(1, 2) for i in range(3))
    scores = q @ k.swapaxes(-1, -2) / (width // heads) ** 0.5
    if causal:
        scores = jnp.where(jnp.tril(jnp.ones((places, places), bool)), scores, -jnp.inf)
    return (jax.nn.softmax(scores) @ v).swapaxes(1, 2).reshape(x.shape)


def mlp(w, x):
    hidden = jnp.tanh(x @ w["0.weight"].T + w["0.bias"])
    return hidden @ w["2.weight"].T + w["2.bias"]


def convolution(w, x):
    """With the statistics of the batch."""
    h = jax.lax.conv(x, w["0.weight"], (1, 1), "VALID") + w["0.bias"][:, None, None]
    mean, spread = h.mean((0, 2, 3), keepdims=True), h.var((0, 2, 3), keepdims=True)
    h = (h - mean) / jnp.sqrt(spread + 1e-5)
    h = h * w["1.weight"][:, None, None] + w["1.bias"][:, None, None]
    h = jax.nn.gelu(h, approximate=False).reshape(len(x), -1)
    return h @ w["5.weight"].T + w["5.bias"]


def encoder(w, x):
    """One layer of torch's encoder: norms after the sums."""
    w = {name.replace("body.layers.0.", ""): value for name, value in w.items()}
    together = x @ w["self_attn.in_proj_weight"].T + w["self_attn.in_proj_bias"]
    seen = attention(x, together, 2, False)
    seen = seen @ w["self_attn.out_proj.weight"].T + w["self_attn.out_proj.bias"]
    x = normalised(x + seen, w, "norm1")
    hidden = jax.nn.relu(x @ w["linear1.weight"].T + w["linear1.bias"])
    x = normalised(x + hidden @ w["linear2.weight"].T + w["linear2.bias"], w, "norm2")
    return (x @ w["head.weight"].T + w["head.bias"]).mean(1)


def gpt2(w, tokens):
    """One block of GPT-2, whose weights are inputs x outputs; the head is the embedding."""
    w = {name.replace("transformer.", "").replace("h.0.", ""): v for name, v in w.items()}
    x = w["wte.weight"][tokens] + w["wpe.weight"][: tokens.shape[1]]
    h = normalised(x, w, "ln_1")
    h = attention(h, h @ w["attn.c_attn.weight"] + w["attn.c_attn.bias"], 2, True)
    x = x + h @ w["attn.c_proj.weight"] + w["attn.c_proj.bias"]
    h = normalised(x, w, "ln_2") @ w["mlp.c_fc.weight"] + w["mlp.c_fc.bias"]
    x = x + jax.nn.gelu(h, approximate=True) @ w["mlp.c_proj.weight"] + w["mlp.c_proj.bias"]
    return normalised(x, w, "ln_f") @ w["wte.weight"].T


def cross_entropy(out, targets):
    return -jnp.take_along_axis(jax.nn.log_softmax(out), targets[..., None], -1).mean()


def mean_square(out, targets):
    return jnp.mean((out - targets) ** 2)


def next_token(out, tokens):
    return cross_entropy(out[:, :-1], tokens[:, 1:])


WRITTEN = {
    "mlp": (mlp, cross_entropy),
    "convolution": (convolution, cross_entropy),
    "encoder": (encoder, mean_square),
    "gpt2": (gpt2, next_token),
}


@pytest.mark.parametrize("kind", KINDS)
def test_torch_jax_and_our_probes_agree(kind):
    """Loss, gradient norm, sharpness and kernel of the same weights on the same batch."""
    net, loss, batch = made(kind)
    weights = {n: jnp.asarray(p.detach().numpy()) for n, p in net.named_parameters()}
    pair = tuple(batch.values()) if loss is None else batch
    x, y = (part.numpy() for part in pair)
    f, objective = WRITTEN[kind]
    with adapt(net, loss).at(batch) as point:
        torchs = point.sharpness(None, 1e-4), point.kernel_top(None, 3, 1e-4)
        scalars = point.loss, point.gradient_norm
    with adapt(f, objective).at((x, y), weights) as point:
        jaxs = point.sharpness(None, 1e-4), point.kernel_top(None, 3, 1e-4)
        assert scalars == pytest.approx((point.loss, point.gradient_norm), rel=1e-4)
    assert torchs[0].value == pytest.approx(jaxs[0].value, rel=1e-4)
    assert torchs[1].values == pytest.approx(jaxs[1].values, rel=1e-4)
    probe = probes.sharpness(lambda w, x, y: objective(f(w, x), y), weights, data=(x, y))
    assert torchs[0].value == pytest.approx(probe.value, rel=1e-4)
    kernel = probes.tangent_kernel_top(f, weights, x, 3)
    assert torchs[1].values == pytest.approx([pair.value for pair in kernel], rel=1e-4)
