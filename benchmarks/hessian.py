"""(h) Top Hessian eigenvalue at residual 1e-3; against curvlinops with scipy's eigsh.

The same networks, weights and data on both sides: an MLP 784-256-256-10 on 256 samples, and a
transformer of two layers on 64 sequences. PyTorch's attention has no second derivative on
the CPU unless its plain kernel is chosen, which is done here for the peer.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch
from curvlinops import HessianLinearOperator
from scipy.sparse.linalg import eigsh
from timing import line, median_seconds
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from dynascope.probes import sharpness

RESIDUAL, WIDTH, HEADS, TOKENS, WORDS = 1e-3, 64, 4, 16, 50


class Sequences(nn.Module):
    """Embedding with positions, two encoder layers, mean over positions, linear head."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.places = nn.Parameter(torch.randn(TOKENS, WIDTH))
        layer = dict(d_model=WIDTH, nhead=HEADS, dim_feedforward=128, dropout=0.0, batch_first=True)
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(**layer) for _ in range(2))
        self.head = nn.Linear(WIDTH, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Scores of the classes, (sequences, 10)."""
        h = self.words(x) + self.places
        for layer in self.layers:
            h = layer(h)
        return self.head(h.mean(1))


def mlp() -> nn.Module:
    return nn.Sequential(
        nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10)
    )


def affine(p: dict, name: str, x: jax.Array, kind: str = ".") -> jax.Array:
    return x @ p[f"{name}{kind}weight"].T + p[f"{name}{kind}bias"]


def mlp_twin(p: dict, x: jax.Array) -> jax.Array:
    x = jax.nn.relu(affine(p, "0", x))
    return affine(p, "4", jax.nn.relu(affine(p, "2", x)))


def normalised(p: dict, name: str, h: jax.Array) -> jax.Array:
    h = h - h.mean(-1, keepdims=True)
    h = h / jnp.sqrt((h**2).mean(-1, keepdims=True) + 1e-5)
    return h * p[f"{name}.weight"] + p[f"{name}.bias"]


def sequences_twin(p: dict, x: jax.Array) -> jax.Array:
    h = p["words.weight"][x] + p["places"]
    for i in range(2):
        name = f"layers.{i}"
        parts = affine(p, f"{name}.self_attn", h, ".in_proj_")
        q, k, v = jnp.split(parts.reshape(*h.shape[:2], 3 * HEADS, -1), 3, axis=2)
        scores = jnp.einsum("nqhd,nkhd->nhqk", q, k) / (WIDTH // HEADS) ** 0.5
        mixed = jnp.einsum("nhqk,nkhd->nqhd", jax.nn.softmax(scores), v).reshape(h.shape)
        h = normalised(p, f"{name}.norm1", h + affine(p, f"{name}.self_attn.out_proj", mixed))
        inner = affine(p, f"{name}.linear2", jax.nn.relu(affine(p, f"{name}.linear1", h)))
        h = normalised(p, f"{name}.norm2", h + inner)
    return affine(p, "head", h.mean(1))


def cross_entropy(f: Callable) -> Callable:
    def loss(params: Any, x: jax.Array, y: jax.Array) -> jax.Array:
        scores = jax.nn.log_softmax(f(params, x))
        return -jnp.take_along_axis(scores, y[:, None], 1).mean()

    return loss


def compare(what: str, module: nn.Module, twin: Callable, x: torch.Tensor, y: torch.Tensor) -> None:
    params = {k: jnp.asarray(v.detach().numpy()) for k, v in module.named_parameters()}
    data, loss = (jnp.asarray(x.numpy()), jnp.asarray(y.numpy())), cross_entropy(twin)

    def ours() -> Any:
        return sharpness(loss, params, data=data, tolerance=RESIDUAL)

    begun = time.perf_counter()
    found = ours()
    first = time.perf_counter() - begun
    own = median_seconds(ours)
    weights, criterion = list(module.parameters()), nn.CrossEntropyLoss()
    plain = sdpa_kernel(SDPBackend.MATH) if isinstance(module, Sequences) else nullcontext()
    with plain:
        operator = HessianLinearOperator(module, criterion, weights, [(x, y)]).to_scipy()

        def theirs() -> np.ndarray:
            # A fixed start, so that repeats do the same work.
            start = np.random.default_rng(0).normal(size=operator.shape[0]).astype(np.float32)
            return eigsh(operator, k=1, which="LA", tol=RESIDUAL, v0=start)[0]

        peer = {}
        for threads in (1, 2):
            torch.set_num_threads(threads)
            peer[threads] = median_seconds(theirs, 3)
        value = float(theirs()[0])
    line(f"(h) {what}, {sum(v.size for v in params.values()):,} weights", own, "curvlinops + eigsh",
         min(peer.values()), ">= 2x", 1e-3)  # fmt: skip
    print(
        f"(h)   compilation {first - own:.1f} s; {found.products} products, residual "
        f"{found.residual:.1e}; values {found.value:.5g}, {value:.5g}; peer with 1, 2 threads: "
        f"{peer[1] * 1e3:.0f}, {peer[2] * 1e3:.0f} ms"
    )


def main() -> None:
    torch.manual_seed(0)
    labels = torch.randint(10, (256,))
    compare("MLP 784-256-256-10", mlp(), mlp_twin, torch.randn(256, 784), labels)
    tokens = torch.randint(WORDS, (64, TOKENS))
    compare("transformer, 2 layers of 64", Sequences(), sequences_twin, tokens, labels[:64])


if __name__ == "__main__":
    main()
