"""Values brought to their annotated types: whole numbers become floats, lists become tuples."""

from __future__ import annotations

import math
import types
import typing
from collections.abc import Callable
from typing import Any, Literal, Union

import numpy as np

from dynascope.core.errors import BadInput, bad, unknown

LARGEST = 10**15  # nothing that is counted comes near it; floats are whole numbers up to there


def coerce(value: Any, hint: Any, name: str) -> Any:
    """Bring a value to an annotated type, or raise `BadInput` saying what was expected.

    Example:
        >>> coerce([1, 2], tuple[float, ...], "means")
        (1.0, 2.0)
    """
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any or origin is Callable or hint is Callable:
        return value
    if origin in (Union, types.UnionType):
        return _coerce_union(value, args, name)
    if origin is Literal:
        if value in args:
            return value
        if isinstance(value, str):
            raise BadInput(f"{name}: {unknown('choice', value, [str(a) for a in args])}")
        raise bad(name, value, f"one of {', '.join(map(repr, args))}")
    if hint is float:
        return _coerce_float(value, name)
    if hint is int:
        if isinstance(value, bool) or not isinstance(value, int | float | np.integer):
            raise bad(name, value, "a whole number")
        if not math.isfinite(value) or int(value) != value:
            raise bad(name, value, "a whole number")
        if abs(int(value)) >= LARGEST:
            raise bad(name, value, f"a whole number below {LARGEST:.0e}")
        return int(value)
    if origin is tuple or hint is tuple:
        return _coerce_tuple(value, args, name)
    if hint is type(None):
        if value is None:
            return None
        raise bad(name, value, "nothing (None)")
    if isinstance(hint, type):
        if isinstance(value, hint):
            return value
        raise bad(name, value, f"a {hint.__name__}")
    return value


def _coerce_float(value: Any, name: str) -> float:
    if isinstance(value, bool | str) or value is None:
        raise bad(name, value, "a number")
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):  # the last: a whole number of 400 digits
        raise bad(name, value, "a number") from None
    if math.isnan(number):
        raise bad(name, value, "a number that is not NaN")
    return number


def _coerce_union(value: Any, args: tuple, name: str) -> Any:
    errors = []
    for arg in sorted(args, key=lambda a: a is float):  # 1 stays an int where both would do
        try:
            return coerce(value, arg, name)
        except BadInput as error:
            errors.append(str(error))
    wanted = [e.split("expected ")[-1] for e in errors]
    raise bad(name, value, " or ".join(dict.fromkeys(wanted)))


def _coerce_tuple(value: Any, args: tuple, name: str) -> tuple:
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        raise bad(name, value, "a list of values")
    items = list(value)
    if not args:
        return tuple(items)
    if len(args) == 2 and args[1] is Ellipsis:
        hints = [args[0]] * len(items)
    elif len(args) != len(items):
        raise bad(name, value, f"{len(args)} values")
    else:
        hints = list(args)
    return tuple(
        coerce(v, h, f"{name}[{i}]") for i, (v, h) in enumerate(zip(items, hints, strict=True))
    )
