"""Functions of x written as text, such as "(x**2-1)**2/4", read without ever running it.

The text becomes Python's own syntax tree, of which only numbers, names, + - * / ** and calls
of the functions below are accepted. Every number is a float: no whole number can grow
without end.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp

from dynascope.core.errors import BadInput, bad, unknown

LONGEST = 1000  # characters
CONSTANTS = {"pi": math.pi, "e": math.e}
FUNCTIONS: dict[str, Callable] = {
    "sin": jnp.sin,
    "cos": jnp.cos,
    "tan": jnp.tan,
    "exp": jnp.exp,
    "log": jnp.log,
    "sqrt": jnp.sqrt,
    "tanh": jnp.tanh,
    "sigmoid": jax.nn.sigmoid,
    "softplus": jax.nn.softplus,
}
_OPERATORS: dict[type, Callable] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}
ALLOWED = "x, numbers, pi, e, + - * / ** and " + " ".join(FUNCTIONS)


@dataclass(frozen=True)
class Expression:
    """A function of x that was given as text; a call evaluates it with jax, elementwise."""

    text: str
    tree: ast.expr = field(repr=False, compare=False)

    def __call__(self, x: Any) -> jax.Array:
        """Value at x, with the shape and dtype of x."""
        x = jnp.asarray(x)
        value = _value(self.tree, x)
        return value if isinstance(value, jax.Array) else jnp.full_like(x, value)


def parse(text: str) -> Expression:
    """Read a function of x.

    Args:
        text: The function, in Python's notation; see `ALLOWED`.

    Returns:
        A function for jax to evaluate and differentiate.

    Example:
        >>> float(parse("(x**2 - 1)**2 / 4")(3.0))
        16.0
        >>> parse("sinn(x)")
        Traceback (most recent call last):
        dynascope.core.errors.UnknownName: unknown function 'sinn'; did you mean 'sin'? \
Known: cos, exp, log, sigmoid, sin, softplus, sqrt, tan, tanh
    """
    if not isinstance(text, str) or not text.strip():
        raise bad("function", text, f"a function of x made of {ALLOWED}")
    if len(text) > LONGEST:
        raise bad("function", text, f"at most {LONGEST} characters")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        _check(tree)
        _value(tree, None)  # numbers alone must not overflow or divide by zero
    except BadInput:
        raise
    except SyntaxError as error:
        raise bad("function", text, "Python's notation", f"{error.msg}") from None
    except (ArithmeticError, ValueError) as error:
        raise bad("function", text, "numbers that can be worked out", f"{error}") from None
    except (RecursionError, MemoryError):
        raise bad("function", text, "fewer brackets inside each other") from None
    return Expression(text.strip(), tree)


def _check(node: ast.expr) -> None:
    """Raise for everything that is not allowed."""
    match node:
        case ast.Constant(value=bool() | complex()):
            raise _refused(node)
        case ast.Constant(value=int() | float()):
            return
        case ast.Name(id=name):
            if name in FUNCTIONS:
                raise bad("function", name, f"an argument, as in {name}(x)")
            if name != "x" and name not in CONSTANTS:
                raise unknown("name", name, ["x", *CONSTANTS])
        case ast.BinOp(left, op, right) if type(op) in _OPERATORS or isinstance(op, ast.Pow):
            _check(left)
            _check(right)
        case ast.UnaryOp(op, operand) if type(op) in _OPERATORS:
            _check(operand)
        case ast.Call(ast.Name(id=name), [argument], []):
            if name not in FUNCTIONS:
                raise unknown("function", name, FUNCTIONS)
            _check(argument)
        case _:
            raise _refused(node)


def _refused(node: ast.expr) -> BadInput:
    hint = "powers are written **" if isinstance(node, ast.BinOp) else ""
    return bad("function", ast.unparse(node), f"only {ALLOWED}", hint)


def _value(node: ast.expr, x: Any) -> Any:
    """Value of a checked tree; with x = None, numbers are worked out and the rest is None."""
    match node:
        case ast.Constant(value=number):
            return float(number)  # type: ignore[arg-type]  # `_check` let only numbers pass
        case ast.Name(id=name):
            return x if name == "x" else CONSTANTS[name]
        case ast.UnaryOp(op, operand):
            inner = _value(operand, x)
            return None if inner is None else _OPERATORS[type(op)](inner)
        case ast.Call(ast.Name(id=name), [argument], _):
            inner = _value(argument, x)
            return None if x is None else FUNCTIONS[name](jnp.asarray(inner, x.dtype))
        case ast.BinOp(left, op, right):
            a, b = _value(left, x), _value(right, x)
            if a is None or b is None:
                return None
            return _power(a, b) if isinstance(op, ast.Pow) else _OPERATORS[type(op)](a, b)
    raise AssertionError("a checked tree has no other nodes")


def _power(base: Any, exponent: Any) -> Any:
    """The power; whole exponents stay whole, so that a negative base is fine."""
    if isinstance(exponent, float):
        if exponent.is_integer() and not isinstance(base, float) and abs(exponent) < 2**31:
            return base ** int(exponent)
        result = base**exponent
        if isinstance(result, complex):
            raise ValueError("a fractional power of a negative number")
        return result
    return jnp.power(jnp.asarray(base, exponent.dtype), exponent)
