"""(a) The papers' SGD setting: 4 linear layers, d = 64, batch 128; against a PyTorch loop.

Also against the eleven 128x64x64 float32 products that one step needs: four forward, four
for the weights' gradients, three for the layers' inputs.
"""

from __future__ import annotations

from dynascope.cli.cores import use_all_cores

use_all_cores()  # as the command does; must come before jax

# ruff: noqa: E402
import jax
import jax.numpy as jnp
import torch
from timing import line, median_seconds

import dynascope as ds
from dynascope import dynamics, models, probes, record, tasks

STEPS, PEER_STEPS = 4720, 400  # 40 epochs of 118 batches


def simulate(seeds: int) -> None:
    task = tasks.IdentityMapping(
        means=(1.0, 2.0), scales=(0.05, 0.05), dimension=64, samples_per_cluster=5000
    )
    ds.simulate(
        task, models.MLP(4, 64, "linear", bias=False), dynamics.SGD(0.1, 128), steps=STEPS,
        probes=[probes.TestLoss()], record=record.At(()), seeds=seeds, progress=False,
    )  # fmt: skip


def torch_loop() -> None:
    torch.manual_seed(0)
    layers = torch.nn.Sequential(*[torch.nn.Linear(64, 64, bias=False) for _ in range(4)])
    optimizer = torch.optim.SGD(layers.parameters(), lr=0.1)
    x = torch.randn(10_000, 64)
    for i in range(PEER_STEPS):
        batch = x[(i % 78) * 128 : (i % 78 + 1) * 128]
        loss = ((layers(batch) - batch) ** 2).sum() / (2 * 128)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def torch_seconds(threads: int) -> float:
    torch.set_num_threads(threads)
    return median_seconds(torch_loop, 3)


@jax.jit
def products(x: jax.Array, w: jax.Array) -> jax.Array:
    def body(_: int, h: jax.Array) -> jax.Array:
        for _ in range(11):
            h = h @ w
        return h

    return jax.lax.fori_loop(0, STEPS, body, x)


def main() -> None:
    plain = torch_seconds(torch.get_num_threads()) / PEER_STEPS  # as PyTorch sets itself up
    tuned = min(torch_seconds(threads) for threads in (1, 2)) / PEER_STEPS
    one = median_seconds(lambda: simulate(1), 3) / STEPS
    many = median_seconds(lambda: simulate(32), 1) / STEPS / 32
    x, w = jnp.ones((128, 64)), jnp.eye(64)
    bare = median_seconds(lambda: jax.block_until_ready(products(x, w))) / STEPS
    line("(a) SGD step, 4x64, one run", one, "PyTorch loop", plain, ">= 4x", 1e-6)
    line("(a) SGD step, 4x64, each of 32 seeds", many, "PyTorch loop", plain, ">= 4x", 1e-6)
    line("(a) one run", one, "PyTorch loop, best of 1, 2 threads", tuned, "none", 1e-6)
    line("(a) each of 32 seeds", many, "PyTorch loop, best of 1, 2 threads", tuned, ">= 4x", 1e-6)
    line("(a) SGD step against its eleven products", one, "products", bare, ">= 0.67x", 1e-6)
    line("(a) the same, each of 32 seeds", many, "products", bare, ">= 0.67x", 1e-6)


if __name__ == "__main__":
    main()
