"""Where lanes should stop being vmapped: the rule of `engine.program.LARGEST_VMAPPED`.

For each size of the tied model, time of one step of gradient descent per lane when lanes
are vmapped, over the time when they are mapped, one after the other; 32 lanes.
"""

from __future__ import annotations

from timing import median_seconds

import dynascope as ds
from dynascope import dynamics, models, probes, record, tasks
from dynascope.engine import program

LANES = 32


def seconds(d: int, dtype: str, vmapped: bool) -> float:
    program.LARGEST_VMAPPED = dict.fromkeys(("float32", "float64"), 10**6 if vmapped else 0)
    program._PROGRAMS.clear()
    task = tasks.IdentityMapping(means=(1.0, 2.0), scales=(0.05, 0.05), dimension=d)
    steps = max(50, 40_000 // d**2)

    def work() -> None:
        ds.simulate(
            task, models.TiedLinear(d, 0.01), dynamics.GradientDescent(0.01), steps=steps,
            probes=[probes.TestLoss()], record=record.At(()), seeds=LANES, dtype=dtype,
            progress=False,
        )  # fmt: skip

    return median_seconds(work, 3) / steps / LANES


def main() -> None:
    rule = dict(program.LARGEST_VMAPPED)
    for dtype in ("float32", "float64"):
        for d in (2, 4, 8, 12, 16, 24, 32, 48, 64):
            mapped, vmapped = seconds(d, dtype, False), seconds(d, dtype, True)
            chosen = "vmap" if d <= rule[dtype] else "map"
            print(
                f"lanes, {dtype}, d = {d:3}: mapped {mapped * 1e6:8.3g} us, vmapped "
                f"{vmapped * 1e6:8.3g} us a step, ratio {mapped / vmapped:6.3g}x; rule: {chosen}"
            )


if __name__ == "__main__":
    main()
