"""(t) A training step of the transformer against the same network in plain PyTorch, with Adam.

The networks are those of the studies at laptop scale, and a GPT of middle size. PyTorch has its
own modules: Linear, LayerNorm, Embedding, scaled_dot_product_attention, fused Adam. Steps are
those of `simulate`, which draws shuffled batches; the difference of a long and a short run
leaves compilation and measurement out. What compilation takes is printed beside it. Needs torch.
"""

from __future__ import annotations

from dynascope.runtime.cores import use_all_cores

use_all_cores()  # as the command does; must come before jax

# ruff: noqa: E402
import time

import numpy as np
import torch
from timing import line
from torch import nn
from torch.nn import functional

import dynascope as ds
from dynascope import dynamics, models, probes, record, tasks

SHORT, LONG = 10, 60
RNG = np.random.default_rng(0)
PIXELS = RNG.normal(size=(512, 3072)).astype(np.float32)
LETTERS = RNG.integers(0, 65, (256, 129))


class Block(nn.Module):
    """Norm, attention, norm, feed-forward, both with residual sums."""

    def __init__(self, width: int, heads: int, hidden: int, causal: bool) -> None:
        super().__init__()
        self.heads, self.causal = heads, causal
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=causal), nn.Linear(width, width)
        self.into, self.back = nn.Linear(width, hidden), nn.Linear(hidden, width)

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        """The tokens after this block."""
        n, t, d = z.shape
        qkv = self.qkv(self.first(z)).view(n, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        read = functional.scaled_dot_product_attention(*qkv, is_causal=self.causal)
        z = z + self.out(read.transpose(1, 2).reshape(n, t, d))
        form = "tanh" if self.causal else "none"
        return z + self.back(functional.gelu(self.into(self.second(z)), approximate=form))


class Picture(nn.Module):
    """The vision transformer: patches of side 8, a class token."""

    def __init__(self, depth: int, width: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.patch = nn.Conv2d(3, width, 8, 8)
        self.token = nn.Parameter(torch.randn(width))
        self.places = nn.Parameter(torch.randn(17, width))
        self.blocks = nn.Sequential(*(Block(width, heads, hidden, False) for _ in range(depth)))
        self.norm, self.output = nn.LayerNorm(width), nn.Linear(width, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Logits of the classes."""
        z = self.patch(x.view(-1, 3, 32, 32)).flatten(2).transpose(1, 2)
        z = torch.cat([self.token.expand(len(z), 1, -1), z], 1) + self.places
        return self.output(self.norm(self.blocks(z)[:, 0]))


class Text(nn.Module):
    """The GPT, its output tied to the table of words."""

    def __init__(self, depth: int, width: int, heads: int, length: int) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(65, width), nn.Embedding(length, width)
        self.blocks = nn.Sequential(*(Block(width, heads, 4 * width, True) for _ in range(depth)))
        self.norm = nn.LayerNorm(width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Logits of the next letters."""
        z = self.words(x) + self.places.weight[: x.shape[1]]
        return self.norm(self.blocks(z)) @ self.words.weight.T


def torch_seconds(net: nn.Module, x: torch.Tensor, y: torch.Tensor, batch: int) -> float:
    """A step of the plain loop; the better of one and two threads."""
    found = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        adam = torch.optim.Adam(net.parameters(), 1e-3, fused=True)

        def steps(count: int, adam: torch.optim.Optimizer = adam) -> float:
            begun = time.perf_counter()
            for _ in range(count):
                rows = torch.randint(0, len(x), (batch,))
                out = net(x[rows])
                loss = functional.cross_entropy(out.flatten(0, -2), y[rows].flatten())
                adam.zero_grad()
                loss.backward()
                adam.step()
            return time.perf_counter() - begun

        steps(3)
        found.append(min(steps(LONG) for _ in range(3)) / LONG)
    return min(found)


def our_seconds(task: tasks.Task, model: models.Transformer, batch: int) -> tuple[float, float]:
    """A step of `simulate`, and how long the first call took before its first step."""
    rule = dynamics.Adam(1e-3, batch_size=batch, order="shuffled")

    def run(steps: int) -> float:
        begun = time.perf_counter()
        ds.simulate(
            task, model, rule, steps=steps, probes=[probes.Loss()], record=record.At(()),
            progress=False,
        )  # fmt: skip
        return time.perf_counter() - begun

    first = run(SHORT)
    short, long = (min(run(n) for _ in range(3)) for n in (SHORT, LONG))
    return (long - short) / (LONG - SHORT), first - short


def main() -> None:
    labels = RNG.integers(0, 10, 512)
    small = models.Transformer(
        models.Patches((32, 32, 3), 8), depth=3, width=64, heads=4, head_size=16, hidden=128,
        read="class_token",
    )  # fmt: skip
    cases = [("ViT of rank-vit, laptop", tasks.ArrayClasses(PIXELS, labels), small, 64,
              Picture(3, 64, 4, 128), torch.tensor(PIXELS), torch.tensor(labels))]  # fmt: skip
    for name, depth, width, heads, length, batch in (
        ("GPT of rank-gpt, laptop", 3, 64, 4, 64, 16), ("GPT, 6 layers of 256", 6, 256, 8, 128, 8),
    ):  # fmt: skip
        model = models.Transformer(
            models.Words(length), depth=depth, width=width, heads=heads, activation="gelu_tanh",
            qkv_bias=True, causal=True, read="every", tied=True, start="gpt2",
        )  # fmt: skip
        x, y = LETTERS[:, :length], LETTERS[:, 1 : length + 1]
        net = Text(depth, width, heads, length)
        cases.append((
            name,
            tasks.ArrayClasses(x, y),
            model,
            batch,
            net,
            *map(torch.tensor, (x, y)),
        ))
    for name, task, model, batch, net, x, y in cases:
        ours, compiling = our_seconds(task, model, batch)
        line(f"(t) {name}", ours, "PyTorch", torch_seconds(net, x, y, batch), ">= 1x", 1e-3)
        print(f"    first call: {compiling:.1f} s longer, compilation (kept on disk afterwards)")


if __name__ == "__main__":
    main()
