"""A training step of Eq. 4.1 (batch 64, T 128, d 128) against PyTorch, plain and with our trick.

The trick: the last block is worked out only where the loss is, at most 48 of 128 places. The
plain loop works it out everywhere; both loops use PyTorch's fused attention. Rows are drawn
within our step, and once for all before PyTorch's.
"""

from __future__ import annotations

from dynascope.runtime.cores import use_all_cores

use_all_cores()  # as the command does; must come before jax

# ruff: noqa: E402
import time
from dataclasses import replace

import jax
import numpy as np
import torch
from timing import line, median_seconds
from torch.nn.functional import cross_entropy, scaled_dot_product_attention

from dynascope.engine import execute
from dynascope.models import recall_transformer
from dynascope.studies.recall.training import trained
from dynascope.tasks import recall_of_program

BATCH, LENGTH, WIDTH, PLACES, STEPS = 64, 128, 128, 48, 40
TASK = replace(recall_of_program(LENGTH), places=PLACES, test=8)


def ours(steps: int) -> None:
    """Steps in the engine, looked at only before and after."""
    model = recall_transformer(LENGTH, WIDTH)
    experiment = trained(TASK, model, 0.01, BATCH, steps, range(1), cuts=())
    execute(replace(experiment, record=type(experiment.record)(()), probes=experiment.probes[:1],
                    keep=None), progress=False)  # fmt: skip


class Block(torch.nn.Module):
    """One causal head whose queries are the tokens, and an MLP; no norms, no offsets."""

    def __init__(self) -> None:
        super().__init__()
        linear = lambda a, b: torch.nn.Linear(a, b, bias=False)  # noqa: E731
        self.key, self.value, self.out = (linear(WIDTH, WIDTH) for _ in range(3))
        self.first, self.second = linear(WIDTH, 4 * WIDTH), linear(4 * WIDTH, WIDTH)

    def forward(self, x: torch.Tensor, places: torch.Tensor | None = None) -> torch.Tensor:
        """All places, or those that are asked."""
        keys, values = self.key(x)[:, None], self.value(x)[:, None]
        if places is None:
            read = scaled_dot_product_attention(x[:, None], keys, values, is_causal=True)
        else:
            seen = torch.arange(LENGTH) <= places[..., None]
            x = torch.gather(x, 1, places[..., None].expand(-1, -1, WIDTH))
            read = scaled_dot_product_attention(x[:, None], keys, values, attn_mask=seen[:, None])
        y = x + self.out(read[:, 0])
        return y + self.second(torch.relu(self.first(y)))


def torch_loop(asked_only: bool, steps: int) -> None:
    """Momentum and weight decay as in the program, on rows that are drawn beforehand."""
    torch.manual_seed(0)
    words, places_table = torch.randn(65, WIDTH), torch.randn(LENGTH, WIDTH)
    out = torch.randn(WIDTH, 65) / WIDTH**0.5
    blocks = torch.nn.ModuleList([Block(), Block()])
    rule = torch.optim.SGD(blocks.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4)
    rows = TASK.sequences(jax.random.key(0), BATCH, 0.5)
    tokens, places, targets = (
        torch.from_numpy(np.array(a)).long() for a in (rows.tokens, rows.places, rows.targets)
    )
    weights = torch.from_numpy(np.array(rows.weights))
    for _ in range(steps):
        x = blocks[0](words[tokens] + places_table)
        x = blocks[1](x, places if asked_only else None)
        if not asked_only:
            x = torch.gather(x, 1, places[..., None].expand(-1, -1, WIDTH))
        losses = cross_entropy((x @ out).flatten(0, 1), targets.flatten(), reduction="none")
        loss = (losses * weights.flatten()).sum() / weights.sum()
        rule.zero_grad()
        loss.backward()
        rule.step()


def torch_seconds(asked_only: bool) -> float:
    """A step, the better of one and two threads."""
    found = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        found.append(median_seconds(lambda: torch_loop(asked_only, STEPS), 3) / STEPS)
    return min(found)


def main() -> None:
    begun = time.perf_counter()
    ours(1)
    print(f"first step, with compilation: {time.perf_counter() - begun:.1f} s")
    # Two lengths, so that what a run costs besides its steps falls out.
    short, long = (median_seconds(lambda n=n: ours(n), 3) for n in (STEPS, 3 * STEPS))
    step = (long - short) / (2 * STEPS)
    plain, trick = torch_seconds(False), torch_seconds(True)
    what = "(r) step of Eq. 4.1, batch 64, T 128, d 128"
    line(what, step, "PyTorch, plain loop", plain, ">= 1.1x", 1e-3)
    line(what, step, "PyTorch, last block where asked", trick, ">= 0.7x", 1e-3)


if __name__ == "__main__":
    main()
