"""(k) Tangent kernel of 784-1024-10 on 64 samples, 10 outputs; against the full Jacobian.

Each way runs in a process of its own, so that its peak memory is its own. Base is the peak
after a forward pass; both ways compute the same 640 x 640 matrix.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import numpy as np
from timing import line

RUN = """
import json, resource, time
import jax, jax.numpy as jnp, numpy as np
from jax.flatten_util import ravel_pytree
from dynascope.probes import tangent_kernel

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20

def f(params, x):
    first, second = params
    return jax.nn.relu(x @ first["w"] / 28 + first["b"]) @ second["w"] / 32 + second["b"]

def full_jacobian(f, params, x):
    vector, restore = ravel_pytree(params)
    jacobian = jax.jacrev(lambda w: f(restore(w), x).reshape(-1))(vector)
    return jacobian @ jacobian.T

keys = jax.random.split(jax.random.key(0), 3)
params = [
    {{"w": jax.random.normal(keys[0], (784, 1024)), "b": jnp.zeros(1024)}},
    {{"w": jax.random.normal(keys[1], (1024, 10)), "b": jnp.zeros(10)}},
]
x = jax.random.normal(keys[2], (64, 784))
jax.jit(f)(params, x).block_until_ready()
way = tangent_kernel if {ours} else jax.jit(full_jacobian, static_argnums=0)
base, seconds = peak(), []
for _ in range(4):
    begun = time.perf_counter()
    kernel = way(f, params, x).block_until_ready()
    seconds.append(time.perf_counter() - begun)
print(json.dumps({{
    "first": seconds[0], "median": sorted(seconds[1:])[1], "above": peak() - base,
    "entries": np.asarray(kernel[::37, ::41]).ravel().tolist(),
}}))
"""


def measure(ours: bool) -> dict[str, Any]:
    code = RUN.format(ours=ours)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def main() -> None:
    own, full = measure(True), measure(False)
    line("(k) tangent kernel 784-1024-10, 64 samples", own["median"], "full Jacobian",
         full["median"], "> 1x")  # fmt: skip
    line("(k) the same, with compilation", own["first"], "full Jacobian", full["first"], "> 1x")
    entries = np.array([own["entries"], full["entries"]])
    apart = np.abs(entries[0] - entries[1]).max() / np.abs(entries).max()
    print(
        f"(k) peak memory above base {own['above']:.3f} GB (aim <= 0.1), full Jacobian "
        f"{full['above']:.3f} GB, ratio {full['above'] / own['above']:.0f}x; "
        f"entries differ by {apart:.1e} of the largest"
    )


if __name__ == "__main__":
    main()
