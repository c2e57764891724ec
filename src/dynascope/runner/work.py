"""The work of one step and one measurement of a program, counted in its trace and priced.

Prices were measured on two cores of an x86 machine, over the experiments of the swing-by study.
That of large products is timed where it is asked for: a fixed one was up to ten times too high.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.core.leaves import leaves
from dynascope.engine.experiment import Setup
from dynascope.engine.fitting import naming_misfits
from dynascope.engine.lane import build
from dynascope.engine.program import LARGEST_VMAPPED, bytes_of, largest_side
from dynascope.runtime.quick_compile import inner_programs

OPERATION = 50e-9  # seconds to start one operation, whatever its size; most are fused
PRODUCT = 30e-9  # seconds to start one lane of a batched matrix product
ELEMENTS = 4e9  # of everything else, per second


@cache
def product_speed() -> float:
    """Floating-point operations a second of a product of matrices on this device, timed once.

    On one machine with two cores 170 to 430 GFLOP/s were seen, by size.
    """
    side, times = 512, []
    matrix = jnp.ones((side, side), np.float32)
    product = jax.jit(jnp.dot)
    for _ in range(4):
        begun = time.perf_counter()
        product(matrix, matrix).block_until_ready()
        times.append(time.perf_counter() - begun)
    return 2 * side**3 / min(times)  # the first compiles


@dataclass(frozen=True)
class Work:
    """What a piece of a program does for one lane."""

    operations: float = 0.0
    products: float = 0.0
    flops: float = 0.0
    elements: float = 0.0

    def plus(self, other: Work) -> Work:
        """The work of both."""
        return Work(*(a + b for a, b in zip(self._all(), other._all(), strict=True)))

    def repeated(self, times: int) -> Work:
        """The work of so many of it."""
        return Work(*(times * a for a in self._all()))

    def seconds(self, lanes: int, mapped: bool) -> float:
        """Lanes one after the other, or as a batch that starts each operation once."""
        own = self.flops / product_speed() + self.elements / ELEMENTS
        if mapped:
            return lanes * (self.operations * OPERATION + own)
        return self.operations * OPERATION + lanes * (self.products * PRODUCT + own)

    def _all(self) -> tuple[float, ...]:
        return self.operations, self.products, self.flops, self.elements


def trace(setup: Setup, dtype: str) -> tuple[Work, Work, int, bool]:
    """The work of a step and of a measurement, the bytes of a row, and whether lanes are mapped."""
    functions = build(setup, dtype)
    seed = jax.ShapeDtypeStruct((), np.uint32)
    values = leaves(setup)
    with naming_misfits(setup, dtype):
        lane = jax.eval_shape(functions.prepare, values, seed, None)
        shapes = jax.eval_shape(functions.measure, values, lane, None)
        jax.eval_shape(functions.slope, values, lane, None)
    start, record_steps = np.int32(0), np.zeros(2, np.int32)
    times = np.zeros(3)
    call = (values, seed, lane, start, start, record_steps, times, None)
    loop = partial(functions.advance, shapes)
    program, (*_, row) = jax.make_jaxpr(loop, return_shape=True)(*call)
    by_depth: dict[int, Work] = {}
    count(program.jaxpr, 0, by_depth)
    step = Work()
    for depth, work in by_depth.items():
        step = step.plus(work) if depth > 1 else step
    row_bytes = bytes_of(row)
    mapped = largest_side(lane) > LARGEST_VMAPPED[dtype]
    return step, by_depth.get(1, Work()), row_bytes, mapped


def count(program: Any, depth: int, found: dict[int, Work], times: int = 1) -> None:
    """Add up work by the number of loops around it: 1 is a measurement, 2 and more are a step.

    A loop of known length, such as a sampler's, is no loop of ours: its work counts so many times.
    """
    for equation in program.eqns:
        inner = inner_programs(equation)
        loop = equation.primitive.name == "while"
        length = equation.params["length"] if equation.primitive.name == "scan" else 1
        for part in inner:
            count(part, depth + loop, found, times * length)
        if not inner:
            found[depth] = found.get(depth, Work()).plus(_work(equation).repeated(times))


def _work(equation: Any) -> Work:
    size = float(sum(np.prod(v.aval.shape) for v in equation.outvars))
    if equation.primitive.name == "conv_general_dilated":
        window = equation.invars[1].aval.shape
        out = window[equation.params["dimension_numbers"].rhs_spec[0]]
        return Work(1, 1, 2 * size * float(np.prod(window)) / out, 0)
    if equation.primitive.name != "dot_general":
        return Work(1, 0, 0, size)
    (contracted, _), _ = equation.params["dimension_numbers"]
    shape = equation.invars[0].aval.shape
    return Work(1, 1, 2 * size * float(np.prod([shape[i] for i in contracted])), 0)
