"""The tests with another instruction set and another number of cores: `make test-portable`.

No test may rest on how one processor rounds. The suite runs three times: with the instructions
of an old processor, on one core, and with wide vectors where the machine has them. Words behind
the command go to pytest.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]


def machines() -> dict[str, dict[str, str]]:
    """Names and environments, as far as this machine can play them."""
    known = np._core._multiarray_umath
    switchable = [f for f in known.__cpu_dispatch__ if known.__cpu_features__.get(f)]
    old = {
        "OPENBLAS_CORETYPE": "Nehalem",
        "NPY_DISABLE_CPU_FEATURES": " ".join(switchable),
        "XLA_FLAGS": "--xla_cpu_max_isa=SSE4_2",
    }
    found = {"old instructions": old, "one core": {"DYNASCOPE_TEST_CORES": "1"}}
    if known.__cpu_features__.get("AVX512_SKX"):
        found["wide vectors"] = {"OPENBLAS_CORETYPE": "SkylakeX"}
    return found


def main() -> int:
    """Run the suite on every machine that can be played; 1 if it fails on any."""
    failed = []
    for name, environment in machines().items():
        cores = environment.pop("DYNASCOPE_TEST_CORES", None)
        only = ["taskset", "--cpu-list", "0"] if cores else []
        workers = ["-n", cores or "auto", "--dist", "loadscope"]
        words = [*only, sys.executable, "-m", "pytest", "-q", *workers, *sys.argv[1:]]
        print(f"== {name}: {environment or 'one core'}", flush=True)
        begun = time.perf_counter()
        done = subprocess.run(words, cwd=ROOT, env={**os.environ, **environment})
        print(f"== {name}: exit code {done.returncode} after {time.perf_counter() - begun:.0f} s")
        failed += [name] if done.returncode else []
    print(f"failed on: {', '.join(failed)}" if failed else "passed on all")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
