from __future__ import annotations

import math

import numpy as np
import pytest

from dynascope.core.errors import BadInput, UnknownName
from dynascope.numerics.expressions import FUNCTIONS, LONGEST, parse

WITNESSES = {
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "exp": math.exp,
    "log": math.log,
    "sqrt": math.sqrt,
    "tanh": math.tanh,
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "softplus": lambda x: math.log1p(math.exp(x)),
}


def value(text, x=0.7):
    import jax

    with jax.enable_x64(True):
        return float(parse(text)(np.float64(x)))


def test_every_function_is_the_one_of_its_name():
    assert set(WITNESSES) == set(FUNCTIONS)
    for name, witness in WITNESSES.items():
        assert value(f"{name}(x)") == pytest.approx(witness(0.7), rel=1e-14)


def test_operators_bind_as_in_python():
    x = 0.7
    assert value("-x**2 + 3*x/2 - 2**x*e + pi") == pytest.approx(
        -(x**2) + 3 * x / 2 - 2**x * math.e + math.pi, rel=1e-14
    )
    assert value("x**-2") == pytest.approx(x**-2, rel=1e-14)
    assert value("x**0.5") == pytest.approx(x**0.5, rel=1e-14)
    assert value("(-x)**3") == pytest.approx(-(x**3), rel=1e-14)
    assert value("sin(2)") == pytest.approx(math.sin(2), rel=1e-14)


def test_a_constant_has_the_shape_of_x():
    assert parse("3")(np.zeros(4)).shape == (4,)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')", "x.real", "lambda: 1", "[x]", "x if x else 1", "x and 1", "x < 1",
        "x % 2", "x // 2", "x @ x", "'a'", "True", "1j", "sin", "sin()", "sin(x, x)",
        "sin(x=x)", "(x)(x)", "x[0]", "f'{x}'", "(y := x)", "*x", "x +", "", "   ", "None",
        "10**10**10", "1/0", "(-1)**0.5", "2**99999", "1" * (LONGEST + 1),
        "(" * 300 + "x" + ")" * 300,
    ],
)  # fmt: skip
def test_everything_else_is_refused_in_one_line(text):
    with pytest.raises(BadInput) as refused:
        parse(text)
    assert "\n" not in str(refused.value)


def test_the_nearest_name_is_given():
    with pytest.raises(UnknownName, match="did you mean 'softplus'"):
        parse("softplu(x)")
    with pytest.raises(UnknownName, match="unknown name 'y'"):
        parse("y**2")


def test_equal_texts_are_equal_functions_so_that_they_compile_once():
    assert parse("x**2") == parse(" x**2 ") and hash(parse("x**2")) == hash(parse("x**2"))
