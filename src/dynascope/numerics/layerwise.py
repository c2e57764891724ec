"""Per-sample Jacobians in factored form, whose products are tangent kernels.

A weight matrix W that multiplies one vector a per sample has the Jacobian s a^T, where s is the
sensitivity of the outputs to W a. The product of two such Jacobians is (a . a') (s . s'), so
neither need be formed. Which weights are used like this is read off the traced program;
the Jacobian with respect to all others (biases, convolutions, weights shared between
positions or used twice) is kept as it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.extend import core

# What only rearranges the entries of an array, so that inner products stay.
_REARRANGING = {"transpose", "reshape", "squeeze", "copy", "copy_p", "expand_dims"}
_CALLS = {"jit", "pjit"}


class Factors(NamedTuple):
    """The Jacobian of n samples with c outputs each."""

    layers: list[tuple[jax.Array, jax.Array]]  # inputs (n, d), sensitivities (n, c, h)
    rest: jax.Array  # (n, c, parameters that no layer covers)


class _Layer(NamedTuple):
    """Where a weight matrix meets the vector that it multiplies."""

    equation: int  # number of the product in the program
    operand: int  # which of its operands is the vector
    factor: float  # what the weights are multiplied by before


def factors(f: Callable, params: Any, x: jax.Array) -> Factors:
    """The factors at the rows of x; samples must not depend on each other.

    Example:
        >>> found = factors(lambda w, x: x @ w, jnp.ones((3, 2)), jnp.eye(3))
        >>> [(a.shape, s.shape) for a, s in found.layers], found.rest.shape
        ([((3, 3), (3, 2, 2))], (3, 2, 0))
    """
    leaves, structure = jax.tree.flatten(params)

    def sample(leaves: list, row: jax.Array) -> jax.Array:
        return f(jax.tree.unflatten(structure, leaves), row[None]).reshape(-1)

    program = _program(sample, leaves, x[0])
    known = _constants(program)
    uses = [_use(program.jaxpr, known, var) for var in program.jaxpr.invars[: len(leaves)]]
    # Where two weights meet in one product, the first is taken as its layer.
    first = {use.equation: i for i, use in reversed([*enumerate(uses)]) if isinstance(use, _Layer)}
    layers = [use for i, use in enumerate(uses) if isinstance(use, _Layer) and i in first.values()]
    others = [i for i, use in enumerate(uses) if use != "unused" and i not in first.values()]

    def one(row: jax.Array) -> tuple[list, jax.Array]:
        return _factors_of_one(program, leaves, row, layers, others)

    return Factors(*jax.vmap(one)(x))


def _factors_of_one(
    program: core.ClosedJaxpr, leaves: list, row: jax.Array, layers: list[_Layer], others: list[int]
) -> tuple[list, jax.Array]:
    """Inputs and sensitivities of the layers, and the Jacobian of the other leaves."""
    shapes = [program.jaxpr.eqns[layer.equation].outvars[0].aval for layer in layers]
    zeros = [jnp.zeros(shape.shape, shape.dtype) for shape in shapes]

    def outputs(shifts: list, own: list) -> tuple[jax.Array, list]:
        filled = list(leaves)
        for i, leaf in zip(others, own, strict=True):
            filled[i] = leaf
        return _evaluate(program, [*filled, row], layers, shifts)

    out, pull, inputs = jax.vjp(outputs, zeros, [leaves[i] for i in others], has_aux=True)
    sensitivities, jacobians = jax.vmap(pull)(jnp.eye(out.size, dtype=out.dtype))
    pairs = [
        (a.reshape(-1), layer.factor * s.reshape(out.size, -1))
        for a, s, layer in zip(inputs, sensitivities, layers, strict=True)
    ]
    flat = [jacobian.reshape(out.size, -1) for jacobian in jacobians]
    empty = jnp.zeros((out.size, 0), out.dtype)
    return pairs, jnp.concatenate([empty, *flat], axis=1)


def contract(ours: Factors, theirs: Factors) -> jax.Array:
    """J J'^T, (n c, n' c), from the factors of both."""
    n, c, size = ours.rest.shape
    m = theirs.rest.shape[0]
    kernel = ours.rest.reshape(n * c, size) @ theirs.rest.reshape(m * c, size).T
    kernel = kernel.reshape(n, c, m, c)
    for (a, s), (b, t) in zip(ours.layers, theirs.layers, strict=True):
        width = s.shape[-1]
        sensitivities = s.reshape(n * c, width) @ t.reshape(m * c, width).T
        kernel = kernel + (a @ b.T)[:, None, :, None] * sensitivities.reshape(kernel.shape)
    return kernel.reshape(n * c, m * c)


def numbers_per_sample(f: Callable, params: Any, x: jax.Array) -> int:
    """How many numbers the factors of one sample hold."""
    shapes = jax.eval_shape(lambda p, row: factors(f, p, row), params, x[:1])
    return sum(leaf.size for leaf in jax.tree.leaves(shapes))


def _program(f: Callable, leaves: list, row: jax.Array) -> core.ClosedJaxpr:
    """The traced function with its inner calls written out."""
    nested = jax.make_jaxpr(f)(leaves, row)

    def flat(*values: Any) -> jax.Array:
        return _run(nested.jaxpr, nested.consts, values)[0]

    return jax.make_jaxpr(flat)(*leaves, row)


def _run(jaxpr: core.Jaxpr, consts: Any, values: Any, at: Callable | None = None) -> list:
    """Evaluate a program; `at(number, operands, result)` may change results."""
    known: dict = dict(zip(jaxpr.constvars, consts, strict=True))
    known.update(zip(jaxpr.invars, values, strict=True))

    def read(var: Any) -> Any:
        return var.val if isinstance(var, core.Literal) else known[var]

    for number, equation in enumerate(jaxpr.eqns):
        operands = [read(var) for var in equation.invars]
        if equation.primitive.name in _CALLS:
            inner = equation.params["jaxpr"]
            results = _run(inner.jaxpr, inner.consts, operands)
        else:
            results = _apply(equation, operands)
        if at is not None:
            results = at(number, operands, results)
        known.update(zip(equation.outvars, results, strict=True))
    return [read(var) for var in jaxpr.outvars]


def _apply(equation: core.JaxprEqn, operands: list) -> list:
    """The results of one equation."""
    bound = equation.primitive.get_bind_params(equation.params)
    # Until jax 0.9 functions came apart from the other parameters.
    functions, options = bound if isinstance(bound, tuple) else ((), bound)
    results = equation.primitive.bind(*functions, *operands, **options)
    return results if equation.primitive.multiple_results else [results]


def _evaluate(
    program: core.ClosedJaxpr, values: list, layers: list[_Layer], shifts: list
) -> tuple[jax.Array, list]:
    """The outputs with something added to every layer's product, and the layers' inputs."""
    places = {layer.equation: i for i, layer in enumerate(layers)}
    inputs: list = [None] * len(layers)

    def at(number: int, operands: list, results: list) -> list:
        if number not in places:
            return results
        i = places[number]
        inputs[i] = operands[layers[i].operand]
        return [results[0] + shifts[i]]

    (out,) = _run(program.jaxpr, program.consts, values, at)
    return out, inputs


def _constants(program: core.ClosedJaxpr) -> dict:
    """Single numbers that depend on no input, such as the root of a width."""
    jaxpr = program.jaxpr
    known = dict(zip(jaxpr.constvars, program.consts, strict=True))
    known = {v: c for v, c in known.items() if not isinstance(c, jax.core.Tracer)}
    for equation in jaxpr.eqns:
        given = [v.val if isinstance(v, core.Literal) else known.get(v) for v in equation.invars]
        single = all(v.aval.size == 1 for v in [*equation.invars, *equation.outvars])
        if single and given and all(value is not None for value in given):
            with jax.ensure_compile_time_eval():
                known.update(zip(equation.outvars, _apply(equation, given), strict=True))
    return known


def _use(jaxpr: core.Jaxpr, known: dict, var: core.Var) -> _Layer | str | None:
    """How a leaf is used: as a layer, not at all ("unused"), or in another way (None)."""
    users = _users(jaxpr, var)
    if not users and var not in jaxpr.outvars:
        return "unused"
    factor = 1.0
    while len(users) == 1 and var not in jaxpr.outvars:
        number, operand = users[0]
        equation = jaxpr.eqns[number]
        if equation.primitive.name == "dot_general":
            fits = _one_vector(equation, operand)
            return _Layer(number, 1 - operand, factor) if fits else None
        scale = _scale(equation, operand, known)
        if scale is None:
            return None
        factor *= scale
        var = equation.outvars[0]
        users = _users(jaxpr, var)
    return None


def _users(jaxpr: core.Jaxpr, var: core.Var) -> list[tuple[int, int]]:
    """Numbers of the equations that take a variable, and as which operand."""
    return [(n, i) for n, e in enumerate(jaxpr.eqns) for i, v in enumerate(e.invars) if v is var]


def _scale(equation: core.JaxprEqn, operand: int, known: dict) -> float | None:
    """The factor of an equation that does nothing but rearrange or scale; None for others."""
    name = equation.primitive.name
    before: Any = equation.invars[operand].aval
    after: Any = equation.outvars[0].aval
    if name in _REARRANGING or name == "broadcast_in_dim":
        return 1.0 if before.size == after.size else None
    if name not in ("mul", "div") or (name == "div" and operand == 1):
        return None
    other = equation.invars[1 - operand]
    value = other.val if isinstance(other, core.Literal) else known.get(other)
    if value is None or jnp.size(value) != 1:
        return None
    return float(value) if name == "mul" else 1.0 / float(value)


def _one_vector(equation: core.JaxprEqn, operand: int) -> bool:
    """Whether a product is of weights with a single vector."""
    (contracted, batched) = equation.params["dimension_numbers"]
    other: Any = equation.invars[1 - operand].aval
    free = [n for axis, n in enumerate(other.shape) if axis not in contracted[1 - operand]]
    return not batched[0] and math.prod(free) == 1
