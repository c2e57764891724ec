"""How much memory a program will take, from its trace, before anything is allocated.

The lanes themselves are arrays of known shape. To these comes the largest set of arrays that a
gradient or a measurement holds at a time. XLA writes products, convolutions, sorts and gathers to
memory, and what goes into a product or a convolution; it fuses what lies between. So only those
count.
"""

from __future__ import annotations

import math
from typing import Any

from dynascope.runtime.quick_compile import inner_programs

WRITTEN = {"dot_general", "conv_general_dilated", "gather", "scatter", "scatter-add", "sort",
           "concatenate", "cumsum", "eigh", "svd", "random_bits", "scan", "while"}  # fmt: skip
READS_MEMORY = {"dot_general", "conv_general_dilated", "eigh", "svd", "sort"}  # calls of libraries


def peak(program: Any) -> int:
    """The most bytes that the written arrays of a traced program take at a time.

    Example:
        >>> import jax
        >>> import jax.numpy as jnp
        >>> square = jax.make_jaxpr(lambda a: (a @ a) @ a)(jnp.ones((100, 100)))
        >>> peak(square.jaxpr)  # the inner product and the outer one
        80000
        >>> wave = jax.make_jaxpr(lambda a: jnp.sin(a) @ jnp.cos(a))(jnp.ones((100, 100)))
        >>> peak(wave.jaxpr)  # both waves and their product
        120000
    """
    last, written = _last_uses(program)
    alive: dict[Any, int] = {}
    most = 0
    for place, equation in enumerate(program.eqns):
        alive |= {v: _bytes(v.aval) for v in equation.outvars if v in last and v in written}
        inner = max((peak(p) for p in inner_programs(equation)), default=0)
        most = max(most, sum(alive.values()) + inner)
        alive = {v: size for v, size in alive.items() if last[v] > place}
    return most


def _last_uses(program: Any) -> tuple[dict[Any, int], set[Any]]:
    """The place where each value is read last, and the values that are written to memory.

    A value that is fused is worked out where it is read, so what it comes from, entry by entry,
    is kept until then.
    """
    last: dict[Any, int] = {}
    written: set[Any] = set()
    for place, equation in enumerate(program.eqns):
        read = _variables(equation.invars)
        last |= dict.fromkeys(read, place)
        if equation.primitive.name in READS_MEMORY:
            written |= read
        if equation.primitive.name in WRITTEN:
            written |= set(equation.outvars)
    last |= dict.fromkeys(_variables(program.outvars), len(program.eqns))
    for equation in reversed(program.eqns):
        for fused in (v for v in equation.outvars if v in last and v not in written):
            for v in _variables(equation.invars):
                if v.aval.shape == fused.aval.shape:
                    last[v] = max(last[v], last[fused])
    return last, written


def _variables(values: Any) -> set[Any]:
    """Without numbers that stand in the program itself."""
    return {v for v in values if not hasattr(v, "val")}


def _bytes(a: Any) -> int:
    return math.prod(a.shape) * getattr(a.dtype, "itemsize", 8)  # keys have no size of their own
