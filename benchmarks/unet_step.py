"""(d) The U-Net of concept-diffusion: a training step and sampling, against PyTorch.

The peer is the same network in channels-last layout with AdamW, on the same batch of pictures.
The process is bound to one core before either library starts its threads, as each run of a study
has one; processor time is compared, the median of interleaved repeats, which other work on the
machine changes least. Also the trap that `models/denoisers/picture_convolution.py` avoids: one
convolution with its gradients inside a compiled loop, by autodiff and by ours. Peak memory is
printed after 5 and after 25 steps of training.
"""

from __future__ import annotations

import os

if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
os.environ["OMP_NUM_THREADS"] = "1"

import resource
import statistics
import time
from collections.abc import Callable

import jax
import jax.numpy as jnp
import optax
import torch
from jax import lax
from timing import line
from torch import nn
from torch.nn import functional

from dynascope.core.randomness import key_for
from dynascope.models import UNet
from dynascope.models.denoisers.picture_convolution import FORM, convolved
from dynascope.models.denoisers.schedule import COORDINATES
from dynascope.tasks import Circles

BATCH, STEPS, SAMPLES, SAMPLING = 64, 5, 32, 20

Work = Callable[[], object]


def cpu_seconds(*works: Callable[[], object], repeats: int = 7) -> list[float]:
    """Median processor time of each call, taken in turn, after one call that does not count."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(repeats + 1):
        for work, own in zip(works, times, strict=True):
            begun = time.process_time()
            work()
            own.append(time.process_time() - begun)
    return [statistics.median(own[1:]) for own in times]


class Residual(nn.Module):
    """A residual block."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList([nn.GroupNorm(1, inputs), nn.GroupNorm(1, outputs)])
        pairs = ((inputs, outputs), (outputs, outputs))
        self.convs = nn.ModuleList([nn.Conv2d(a, b, 3, padding=1) for a, b in pairs])
        self.skip = nn.Identity() if inputs == outputs else nn.Conv2d(inputs, outputs, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Pictures to pictures."""
        h = x
        for norm, conv in zip(self.norms, self.convs, strict=True):
            h = conv(functional.gelu(norm(h), approximate="tanh"))
        return h + self.skip(x)


class Attention(nn.Module):
    """Attention over places."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm, self.maps = nn.GroupNorm(1, channels), nn.Linear(channels, 3 * channels)
        self.output = nn.Linear(channels, channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Pictures to pictures."""
        n, c, s, _ = x.shape
        rows = self.norm(x).permute(0, 2, 3, 1).reshape(n, s * s, c)
        read = functional.scaled_dot_product_attention(*self.maps(rows).chunk(3, -1))
        return x + self.output(read).reshape(n, s, s, c).permute(0, 3, 1, 2)


def told(given: int, channels: int) -> nn.Module:
    return nn.Sequential(nn.Linear(given, channels), nn.GELU("tanh"), nn.Linear(channels, channels))


class Peer(nn.Module):
    """The network of `models/denoisers/unet.py`; noise levels stay as they are."""

    def __init__(self, channels: tuple[int, ...], given: int) -> None:
        super().__init__()
        first, last, before = channels[0], channels[-1], (channels[0], *channels[:-1])
        self.first = nn.Conv2d(3, first, 3, padding=1)
        pairs = list(zip(before, channels, strict=True))
        self.down = nn.ModuleList([nn.Sequential(Residual(a, b), Residual(b, b)) for a, b in pairs])
        self.halve = nn.ModuleList([nn.Conv2d(c, c, 2, 2) for c in channels])
        self.down_told = nn.ModuleList([told(given, c) for c in channels])
        self.middle = nn.Sequential(Residual(last, last), Attention(last), Residual(last, last))
        below = (last, *reversed(channels[1:]))
        ways = list(zip(below, reversed(channels), strict=True))
        self.up_told = nn.ModuleList([told(given, a) for a, _ in ways])
        self.up = nn.ModuleList([
            nn.Sequential(Residual(a + b, b), Residual(b, b)) for a, b in ways
        ])
        self.norm, self.output = nn.GroupNorm(1, first), nn.Conv2d(first, 3, 3, padding=1)

    def forward(self, z: torch.Tensor, what: torch.Tensor) -> torch.Tensor:
        """The estimate of the noise."""
        h, kept = self.first(z), []
        for blocks, halve, added in zip(self.down, self.halve, self.down_told, strict=True):
            h = blocks(h)
            kept.append(h)
            h = halve(h) + added(what)[:, :, None, None]
        h = self.middle(h)
        for blocks, added, own in zip(self.up, self.up_told, reversed(kept), strict=True):
            h = h + added(what)[:, :, None, None]
            h = blocks(torch.cat([functional.interpolate(h, scale_factor=2), own], 1))
        return self.output(functional.gelu(self.norm(h), approximate="tanh")) + z


def ours(channels: tuple[int, ...], task: Circles) -> tuple[Work, Work]:
    """Training inside the compiled loop, and sampling; both compiled."""
    network = UNet(channels).build(task.input_size, task.output_size)
    params = network.init(jax.random.key(0))
    rule = optax.adamw(1e-3)

    def step(i: jax.Array, state: tuple) -> tuple:
        params, memory = state
        batch = task.draw(key_for(0, "batch", i), BATCH, None)
        slope = jax.grad(
            lambda p: task.random_loss(network.bind(p), batch, key_for(0, "noise", i))
        )(params)
        updates, memory = rule.update(slope, memory, params)
        return optax.apply_updates(params, updates), memory

    loop = jax.jit(lambda state, steps: lax.fori_loop(0, steps, step, state))
    state = (params, rule.init(params))
    jax.block_until_ready(loop(state, STEPS))
    short = memory()
    jax.block_until_ready(loop(state, 5 * STEPS))
    print(
        f"    peak memory after {STEPS} steps {short:.0f} MB, after {5 * STEPS} {memory():.0f} MB"
    )
    condition = jnp.broadcast_to(task.test_condition(), (SAMPLES, 4))
    sample = jax.jit(
        lambda p: task.generate(network.bind(p), condition, jax.random.key(1), SAMPLING)
    )
    return (
        lambda: jax.block_until_ready(loop(state, STEPS)),
        lambda: jax.block_until_ready(sample(params)),
    )


def peer(channels: tuple[int, ...], task: Circles) -> tuple[Work, Work]:
    """The same of PyTorch; its pictures are drawn beforehand."""
    torch.set_num_threads(1)
    network = Peer(channels, 4 + COORDINATES).to(memory_format=torch.channels_last)
    rule = torch.optim.AdamW(network.parameters(), lr=1e-3, weight_decay=0.01)
    z = torch.randn(BATCH, 3, task.side, task.side).to(memory_format=torch.channels_last)
    what = torch.randn(BATCH, 4 + COORDINATES)

    def train() -> None:
        for _ in range(STEPS):
            noise = torch.randn_like(z)
            loss = ((network(z, what) - noise) ** 2).mean()
            rule.zero_grad(set_to_none=True)
            loss.backward()
            rule.step()

    @torch.no_grad()
    def sample() -> None:
        h = torch.randn(SAMPLES, 3, task.side, task.side).to(memory_format=torch.channels_last)
        for _ in range(SAMPLING):
            h = 0.99 * (h - 0.1 * network(h, what[:SAMPLES])) + 0.1 * torch.randn_like(h)

    return train, sample


def one_convolution(side: int, channels: int) -> None:
    """A convolution with both gradients inside a loop: ours, and what autodiff writes."""
    x = jax.random.normal(jax.random.key(0), (BATCH, side, side, channels))
    w = jax.random.normal(jax.random.key(1), (3, 3, channels, channels))

    def plain(x: jax.Array, w: jax.Array) -> jax.Array:
        return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=FORM)

    def work(way: Callable) -> Work:
        def step(_: int, state: tuple) -> tuple:
            slopes = jax.grad(lambda x, w: jnp.sin(way(jnp.sin(x), w)).sum(), (0, 1))(*state)
            return jax.tree.map(lambda a, b: a - 1e-4 * b, state, slopes)

        loop = jax.jit(lambda state: lax.fori_loop(0, STEPS, step, state))
        return lambda: jax.block_until_ready(loop((x, w)))

    name = f"(d) convolution and gradients, {side}x{side}x{channels}"
    own, other = cpu_seconds(work(convolved), work(plain), repeats=3)
    line(name, own / STEPS, "autodiff in a loop", other / STEPS, ">= 5x", 1e-3)


def memory() -> float:
    """Peak memory of this process in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    task = Circles(side=16)
    for channels in ((16, 32, 64), (32, 64, 128)):
        works = zip(ours(channels, task), peer(channels, task), strict=True)
        training, sampling = (cpu_seconds(*pair) for pair in works)
        name = "/".join(map(str, channels))
        step, theirs = (seconds / STEPS for seconds in training)
        line(f"(d) U-Net {name}, training step", step, "PyTorch", theirs, ">= 0.8x", 1e-3)
        line(f"(d) U-Net {name}, sampling", sampling[0], "PyTorch", sampling[1], ">= 1.2x", 1e-3)
    for side, channels in ((16, 16), (8, 32), (4, 64)):  # the slowest operation, level by level
        one_convolution(side, channels)


if __name__ == "__main__":
    main()
