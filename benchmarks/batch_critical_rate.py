"""SGD that knows the critical rate of every batch, against the same SGD without.

The setting of zhu2024 Fig. 4.6: two layers, width 1024, 128 samples of 3,072 inputs, batches of 32.
Aims: the batch's critical rate at every step costs at most 3x the plain step, the loss split by the
kernel's top eigenspace every 10 steps at most 1.5x. A PyTorch loop that takes a Jacobian by
`torch.func` for the same number is the peer.
"""

from __future__ import annotations

import numpy as np
import torch
from timing import line, median_seconds
from torch.func import functional_call, jacrev, vmap

import dynascope as ds
from dynascope import dynamics, models, probes, record, tasks

STEPS, PEER_STEPS = 300, 20
RNG = np.random.default_rng(0)
TASK = tasks.ArraySamples(RNG.normal(size=(128, 3072)), np.sign(RNG.normal(size=128)))
MODEL = models.MLP(2, 1024, parameterization="ntk")


def simulate(*observed: probes.Probe, every: int = STEPS) -> None:
    ds.simulate(
        TASK, MODEL, dynamics.SGD(0.5, 32, "shuffled"), steps=STEPS, record=record.Every(every),
        probes=[probes.Loss(), *observed], progress=False,
    )  # fmt: skip


def torch_loop() -> None:
    """A plain step, and the largest eigenvalue of the batch's kernel from per-sample Jacobians."""
    torch.manual_seed(0)
    net = torch.nn.Sequential(
        torch.nn.Linear(3072, 1024, bias=False), torch.nn.ReLU(),
        torch.nn.Linear(1024, 1, bias=False),
    )  # fmt: skip
    optimizer, x = torch.optim.SGD(net.parameters(), lr=1e-3), torch.randn(128, 3072)
    y = torch.sign(torch.randn(128, 1))
    for i in range(PEER_STEPS):
        rows = slice((i % 4) * 32, (i % 4 + 1) * 32)
        weights = {k: v.detach() for k, v in net.named_parameters()}
        one = jacrev(lambda p, row: functional_call(net, p, (row[None],))[0, 0])
        tree = vmap(one, (None, 0))(weights, x[rows])
        flat = torch.cat([a.reshape(32, -1) for a in tree.values()], dim=1)
        torch.linalg.eigvalsh(flat @ flat.T)[-1]
        loss = ((net(x[rows]) - y[rows]) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main() -> None:
    plain = median_seconds(simulate, 3) / STEPS
    rated = median_seconds(lambda: simulate(probes.SupercriticalSteps()), 3) / STEPS
    sparse = median_seconds(lambda: simulate(every=10), 3) / STEPS
    split = median_seconds(lambda: simulate(probes.KernelSplit(5), every=10), 3) / STEPS
    peer = median_seconds(torch_loop, 1) / PEER_STEPS
    name = "SGD with the batch's critical rate every step"
    line(name, rated, "plain SGD", plain, ">= 0.33x", 1e-3)
    line("the same", rated, "PyTorch with jacrev", peer, ">= 1x", 1e-3)
    line("SGD with the split every 10 steps", split, "plain SGD", sparse, ">= 0.67x", 1e-3)


if __name__ == "__main__":
    main()
