"""(d) Peak memory of a run must not grow with its steps; against its own shortest run."""

from __future__ import annotations

import subprocess
import sys

RUN = """
import resource
import dynascope as ds
from dynascope import dynamics, models, probes, tasks
task = tasks.IdentityMapping(means=(1.0, 2.0), scales=(0.05, 0.05), dimension=3)
ds.simulate(task, models.TiedLinear(3, 0.01), dynamics.GradientDescent(0.01), steps={steps},
            probes=[probes.TestLoss(), probes.InputJacobian()], seeds=64, progress=False)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def peak(steps: int) -> float:
    """Peak memory in MB of a process of its own."""
    code = RUN.format(steps=steps)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout)


def main() -> None:
    first = peak(10_000)
    for steps in (10_000, 100_000, 1_000_000):
        used = peak(steps)
        print(
            f"(d) peak memory, 64 lanes, {steps:9,} steps: {used:6.0f} MB  ratio {used / first:.3f}"
        )


if __name__ == "__main__":
    main()
