"""(r) The flow of the toy problem of boix2023 appendix A, against full-batch descent in PyTorch.

Both go from a start of size 1e-32 to just after the twelfth stage, in float64, on the same data.
Descent at rate 0.02 follows the flow's escape times to about one per cent; at the largest stable
rate it is faster and wrong by more. All its steps cost the same, so that its time is taken from
the first 100. Times exclude compilation. Needs torch.
"""

from __future__ import annotations

from dynascope.runtime.cores import use_all_cores

use_all_cores()  # must come before jax

# ruff: noqa: E402
import time

import jax
import jax.numpy as jnp
import numpy as np
import torch
from timing import line, median_seconds

import dynascope as ds
from dynascope import dynamics, models, probes, record, tasks
from dynascope.core.randomness import key_for
from dynascope.numerics.log_flow import log_flow
from dynascope.runtime.precision import precision
from dynascope.theories import incremental_stages, product_problem

ALPHA, STAGES = 1e-32, 12
ALPHAS = (0.1, 1e-2, 1e-4, 1e-8, 1e-16, 1e-32)
RATES = (0.02, 0.1)


def seconds_of(work: object) -> float:
    begun = time.perf_counter()
    work()  # type: ignore[operator]
    return time.perf_counter() - begun


def descend(x: np.ndarray, y: np.ndarray, u: np.ndarray, v: np.ndarray, rate: float,
            steps: int) -> None:  # fmt: skip
    """Plain descent."""
    x, y = torch.tensor(x), torch.tensor(y)
    d = x.shape[-1]
    u, v = (torch.tensor(ALPHA * w, requires_grad=True) for w in (u, v))
    for _ in range(steps):
        z = u * v
        scores = torch.softmax((x * z[:d]) @ x.transpose(1, 2), dim=-1)
        loss = (((scores @ x) * z[d:] - y) ** 2).sum() / (2 * len(x))
        first, second = torch.autograd.grad(loss, (u, v))
        with torch.no_grad():
            u -= rate * first
            v -= rate * second


def main() -> None:
    task, model = tasks.AttentionTeacher(), models.DiagonalAttention()
    problem = product_problem(task, model)
    begun = time.perf_counter()
    stages = incremental_stages(problem.loss, problem.size, most=STAGES)
    print(f"(r) Algorithm 1, {STAGES} stages: {time.perf_counter() - begun:.1f} s with compilation")
    until = float(1.03 * stages.times[-1])

    def flow(alphas: tuple[float, ...]) -> None:
        ds.sweep(
            task, model, dynamics.RescaledFlow(0.5), time=until, probes=[probes.Loss()],
            record=record.Evenly(37), over={"dynamics.alpha": alphas}, progress=False,
        )  # fmt: skip

    flow((ALPHA,))
    ours = seconds_of(lambda: flow((ALPHA,)))
    flow(ALPHAS)
    print(f"(r) flow at {ALPHA:g}: {ours:.1f} s (aim < 30); six scales: "
          f"{seconds_of(lambda: flow(ALPHAS)):.1f} s (aim < 120)")  # fmt: skip

    with precision("float64"):
        slope = jax.jit(jax.grad(problem.loss))
        z = jnp.asarray(stages.products[-1])
        gradient = median_seconds(lambda: slope(z).block_until_ready())
        x, y = (np.asarray(a, float) for a in task.samples(key_for(0, "data")))
    descend(x, y, problem.u, problem.v, RATES[0], 10)
    each = seconds_of(lambda: descend(x, y, problem.u, problem.v, RATES[0], 100)) / 100
    line("(r) one gradient, 1000 x 10 x 50", gradient, "torch", each, ">= 1x", 1e-3)
    found = log_flow(problem.loss, problem.u, problem.v, [ALPHA], [until])
    for rate in RATES:
        count = int(until * np.log(1 / ALPHA) / rate)
        line(f"(r) to stage {STAGES}: {int(found.evaluations[0])} gradients, descent "
             f"{count} at rate {rate}", ours, "torch", each * count, ">= 5x")  # fmt: skip


if __name__ == "__main__":
    main()
