"""(b) A thousand tied 3x3 systems, 5,000 steps each, against a plain PyTorch loop of one."""

from __future__ import annotations

import torch
from timing import line, median_seconds

import dynascope as ds
from dynascope import dynamics, models, probes, record, tasks

STEPS, SYSTEMS, PEER_STEPS = 5000, 1000, 1000


def simulate() -> None:
    task = tasks.IdentityMapping(means=(1.0, 2.0), scales=(0.05, 0.05), dimension=3)
    ds.simulate(
        task, models.TiedLinear(3, 0.01), dynamics.GradientDescent(0.01), steps=STEPS,
        probes=[probes.TestLoss()], record=record.At(()), seeds=SYSTEMS, progress=False,
    )  # fmt: skip


def torch_loop() -> None:
    torch.manual_seed(0)
    u = (0.01 * torch.randn(3, 3)).requires_grad_()
    a, eye = torch.tensor([0.5025, 2.0025, 0.0]), torch.eye(3)
    optimizer = torch.optim.SGD([u], lr=0.01)
    for _ in range(PEER_STEPS):
        error = u @ u.T - eye
        loss = (error * error * a).sum() / 2
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main() -> None:
    torch.set_num_threads(1)  # faster than two for 3x3 matrices
    peer = median_seconds(torch_loop, 3) / PEER_STEPS * STEPS
    ours = median_seconds(simulate) / SYSTEMS
    line(
        "(b) tied 3x3 system, 5,000 steps, each of 1,000",
        ours,
        "PyTorch loop",
        peer,
        ">= 500x",
        1e-3,
    )


if __name__ == "__main__":
    main()
