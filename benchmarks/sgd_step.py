"""(a) The papers' SGD setting: 4 layers, d = 64, batch 128; against a PyTorch loop.

Also against the eleven 128x64x64 float32 products that one step needs where it goes through
the batch row by row: four forward, four for the weights' gradients, three for the layers'
inputs. Linear layers need not: the batch enters through its second moments, which takes about
six. So there are more lines: ReLU layers, which do go row by row, and a PyTorch loop that
takes the second moments as well.
"""

from __future__ import annotations

from dynascope.runtime.cores import use_all_cores

use_all_cores()  # as the command does; must come before jax

# ruff: noqa: E402
import itertools

import jax
import jax.numpy as jnp
import torch
from timing import line, median_seconds

import dynascope as ds
from dynascope import dynamics, models, probes, record, tasks

STEPS, PEER_STEPS = 4720, 400  # 40 epochs of 118 batches


def simulate(seeds: int, activation: str = "linear") -> None:
    task = tasks.IdentityMapping(
        means=(1.0, 2.0), scales=(0.05, 0.05), dimension=64, samples_per_cluster=5000
    )
    ds.simulate(
        task, models.MLP(4, 64, activation, bias=False), dynamics.SGD(0.1, 128), steps=STEPS,
        probes=[probes.TestLoss()], record=record.At(()), seeds=seeds, progress=False,
    )  # fmt: skip


def torch_loop(way: str = "rows") -> None:
    """A plain loop: row by row, with ReLU between the layers, or through second moments."""
    torch.manual_seed(0)
    linear = [torch.nn.Linear(64, 64, bias=False) for _ in range(4)]
    between = [torch.nn.ReLU() for _ in range(3)] if way == "relu" else []
    every = [m for pair in itertools.zip_longest(linear, between) for m in pair if m is not None]
    layers, eye = torch.nn.Sequential(*every), torch.eye(64)
    optimizer = torch.optim.SGD(layers.parameters(), lr=0.1)
    x = torch.randn(10_000, 64)
    for i in range(PEER_STEPS):
        batch = x[(i % 78) * 128 : (i % 78 + 1) * 128]
        if way == "moments":
            product = torch.linalg.multi_dot([m.weight for m in reversed(linear)])
            error, moments = product - eye, batch.T @ batch
            loss = ((error @ moments) * error).sum() / (2 * 128)
        else:
            loss = ((layers(batch) - batch) ** 2).sum() / (2 * 128)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def torch_seconds(threads: int, way: str = "rows") -> float:
    torch.set_num_threads(threads)
    return median_seconds(lambda: torch_loop(way), 3) / PEER_STEPS


def tuned(way: str) -> float:
    """The better of one and two threads."""
    return min(torch_seconds(threads, way) for threads in (1, 2))


@jax.jit
def products(x: jax.Array, w: jax.Array) -> jax.Array:
    def body(_: int, h: jax.Array) -> jax.Array:
        for _ in range(11):
            h = h @ w
        return h

    return jax.lax.fori_loop(0, STEPS, body, x)


def main() -> None:
    plain = torch_seconds(torch.get_num_threads())  # as PyTorch sets itself up
    rows, relu, moments = (tuned(way) for way in ("rows", "relu", "moments"))
    one = median_seconds(lambda: simulate(1), 3) / STEPS
    many = median_seconds(lambda: simulate(32), 1) / STEPS / 32
    one_relu = median_seconds(lambda: simulate(1, "relu"), 3) / STEPS
    many_relu = median_seconds(lambda: simulate(32, "relu"), 1) / STEPS / 32
    x, w = jnp.ones((128, 64)), jnp.eye(64)
    bare = median_seconds(lambda: jax.block_until_ready(products(x, w))) / STEPS
    line("(a) SGD step, 4x64, one run", one, "PyTorch loop", plain, ">= 4x", 1e-6)
    line("(a) SGD step, 4x64, each of 32 seeds", many, "PyTorch loop", plain, ">= 4x", 1e-6)
    best = "PyTorch loop, best of 1, 2 threads"
    line("(a) one run", one, best, rows, ">= 4x", 1e-6)
    line("(a) each of 32 seeds", many, best, rows, ">= 4x", 1e-6)
    line("(a) one run", one, f"{best}, moments", moments, "none", 1e-6)
    line("(a) one run, ReLU", one_relu, f"{best}, ReLU", relu, "none", 1e-6)
    line("(a) each of 32 seeds, ReLU", many_relu, f"{best}, ReLU", relu, "none", 1e-6)
    line("(a) SGD step against its eleven products", one, "products", bare, ">= 0.67x", 1e-6)
    line("(a) the same, each of 32 seeds", many, "products", bare, ">= 0.67x", 1e-6)


if __name__ == "__main__":
    main()
