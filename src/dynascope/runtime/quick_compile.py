"""Compiler options for programs that run once: XLA takes seconds to optimise random draws."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

# A third of the time that XLA takes by itself.
SOME = {"xla_backend_optimization_level": 1}
# Half of that again; but a number then takes 40 ns instead of 5, and products and sums are not
# fused: normal numbers, which go through a polynomial, would differ in their last place.
LITTLE = {"xla_backend_optimization_level": 0, "xla_cpu_use_fusion_emitters": False}
FEW = 20_000  # numbers: four layers of 64 x 64 with offsets


def quick_compile_options(jaxpr: Any) -> dict[str, Any]:
    """Compiler options for a program of draws; none changes a bit of them.

    Example:
        >>> import jax
        >>> draw = lambda n: jax.make_jaxpr(lambda key: jax.random.uniform(key, (n,)))
        >>> quick_compile_options(draw(10)(jax.random.key(0)).jaxpr) == LITTLE
        True
        >>> quick_compile_options(draw(30_000)(jax.random.key(0)).jaxpr) == SOME
        True
    """
    drawn = 0
    for equation, in_loop in _equations(jaxpr, False):
        if equation.primitive.name == "erf_inv" or (
            equation.primitive.name == "random_bits" and in_loop
        ):
            return SOME
        if equation.primitive.name == "random_bits":
            drawn += sum(math.prod(v.aval.shape) for v in equation.outvars)
    return LITTLE if drawn <= FEW else SOME


def _equations(jaxpr: Any, in_loop: bool) -> Iterator[tuple[Any, bool]]:
    """Every equation of a traced program, and whether a loop stands around it."""
    for equation in jaxpr.eqns:
        yield equation, in_loop
        loop = in_loop or equation.primitive.name in ("while", "scan")
        for part in inner_programs(equation):
            yield from _equations(part, loop)


def inner_programs(equation: Any) -> list[Any]:
    """The traced programs inside of an equation: branches, bodies of loops, called functions."""
    parts = [
        getattr(part, "jaxpr", part)
        for value in equation.params.values()
        for part in (value if isinstance(value, tuple | list) else [value])
    ]
    return [part for part in parts if hasattr(part, "eqns")]
