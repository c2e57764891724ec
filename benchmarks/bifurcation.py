"""(e) A million gradient descents of 2,000 steps on the quartic, against a loop in C.

Both run on one core, in float64, and count the last 200 steps into the same bins. The loop is
written by hand so that gcc vectorises it: 32 trajectories stay in registers for all steps.
"""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from timing import line, median_seconds

COLUMNS, EACH, BINS, STEPS, COUNTED = 1000, 1000, 600, 2000, 200
RATES, VALUES, START = (0.9, 1.6), (-1.5, 1.5), 0.9
LOOP = """
enum { B = 32 };
void run(long n, long steps, long counted, double a, double b, double x0, double lo, double hi,
         long bins, long cols, int *hist) {
  double scale = bins / (hi - lo);
  for (long i = 0; i < n; i += B) {
    double x[B], k[B];
    for (int j = 0; j < B; j++) { k[j] = a + (b - a) * (i + j + 0.5) / n; x[j] = x0; }
    for (long t = 0; t < steps - counted; t++)
      for (int j = 0; j < B; j++) x[j] -= k[j] * x[j] * (x[j] * x[j] - 1.0);
    for (long t = 0; t < counted; t++) {
      for (int j = 0; j < B; j++) x[j] -= k[j] * x[j] * (x[j] * x[j] - 1.0);
      for (int j = 0; j < B; j++) {
        double p = (x[j] - lo) * scale;
        if (p >= 0 && p < bins) hist[(i + j) * cols / n * bins + (long)p]++;
      }
    }
  }
}
"""


def compiled() -> ctypes.CDLL:
    """The loop, compiled for this machine."""
    folder = Path(tempfile.mkdtemp())
    (folder / "loop.c").write_text(LOOP)
    options = ["-O3", "-march=native", "-ffast-math", "-shared", "-fPIC"]
    subprocess.run(["gcc", *options, "loop.c", "-o", "loop.so"], cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "loop.so"))


def main() -> None:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # before jax makes its threads
    from dynascope.instruments.orbits.bifurcation import bifurcation
    from dynascope.numerics.expressions import parse

    loop, counts = compiled(), np.zeros((COLUMNS, BINS), np.int32)
    whole = [ctypes.c_long(v) for v in (COLUMNS * EACH, STEPS, COUNTED)]
    real = [ctypes.c_double(v) for v in (*RATES, START, *VALUES)]
    shape = [ctypes.c_long(BINS), ctypes.c_long(COLUMNS)]
    function = parse("(x**2-1)**2/4")

    def ours() -> np.ndarray:
        return bifurcation(
            function, RATES, START, VALUES, columns=COLUMNS, bins=BINS, per_column=EACH,
            steps=STEPS, counted=COUNTED, progress=False,
        ).counts  # fmt: skip

    def theirs() -> None:
        counts[:] = 0
        loop.run(*whole, *real, *shape, counts.ctypes.data_as(ctypes.c_void_p))

    peer, own = median_seconds(theirs, 3), median_seconds(ours, 3)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    line("(e) 10^6 descents x 2,000 steps, one core", own, "loop in C", peer, ">= 0.5x")
    periodic = slice(0, int(COLUMNS * (1.29 - 0.9) / 0.7))  # chaos parts after rounding
    same = (counts[periodic] == ours()[periodic]).mean()
    print(f"(e) peak memory {memory:.0f} MB (aim < 500); bins that agree before chaos {same:.4f}")


if __name__ == "__main__":
    main()
