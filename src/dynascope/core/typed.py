"""Whether plain data from a file has the types that a class is annotated with.

A file may come from anybody. What is read from one is held against the annotations before any
code relies on them, so that a wrong field is one line and not an error somewhere else.
"""

from __future__ import annotations

import dataclasses
import reprlib
import types
import typing
from collections.abc import Iterable
from functools import cache
from typing import Any, Literal, Union

DEEPEST = 64  # levels of lists and dictionaries; our own files have about ten


class WrongType(TypeError):
    """A field that is not what its annotation says; the message names it."""


def check_type(value: Any, hint: Any, name: str) -> None:
    """Raise `WrongType` unless a value read from JSON fits an annotation.

    Whole numbers pass where numbers are meant, lists where tuples are.

    Example:
        >>> check_type([1, 2.5], tuple[float, ...], "rates")
        >>> check_type({"value": "high"}, dict[str, float], "expected")
        Traceback (most recent call last):
        ...
        dynascope.core.typed.WrongType: expected['value'] is 'high', not a number
    """
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return
    if origin in (Union, types.UnionType):
        _check_union(value, args, name)
    elif origin is Literal:
        # A list cannot be looked up among words; True equals 1.
        _require(isinstance(value, str) and value in args, value, name, f"one of {args}")
    elif hint is float:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        _require(number and _is_float(value), value, name, "a number")
    elif hint is int:
        whole = isinstance(value, int) and not isinstance(value, bool)
        _require(whole and abs(value) < 2**63, value, name, "a whole number of 64 bits")
    elif hint is tuple or origin in (tuple, list):
        _require(isinstance(value, list | tuple), value, name, "a list")
        fixed = origin is tuple and args[1:] != (Ellipsis,)
        _require(not fixed or len(value) == len(args), value, name, f"{len(args)} values")
        for i, item in enumerate(value):
            check_type(item, args[i if fixed else 0] if args else Any, f"{name}[{i}]")
    elif hint is dict or origin is dict:
        _require(isinstance(value, dict), value, name, "a dictionary")
        for key, item in value.items():
            check_type(item, args[1] if args else Any, f"{name}[{key!r}]")
    elif dataclasses.is_dataclass(hint):
        check_fields(value, hint, name)
    else:
        wanted = "nothing" if hint is type(None) else f"a {getattr(hint, '__name__', hint)}"
        _require(isinstance(value, hint), value, name, wanted)


def check_fields(plain: Any, cls: Any, name: str, but: Iterable[str] = ()) -> None:
    """Raise `WrongType` unless a dictionary has the fields of a dataclass, of their types.

    Args:
        plain: The dictionary.
        cls: The dataclass.
        name: What the message calls the dictionary.
        but: Fields that somebody else checks.
    """
    _require(isinstance(plain, dict), plain, name, "a dictionary")
    hints, skip = _hints(cls), set(but)
    fields = {f.name: f for f in dataclasses.fields(cls) if f.init}
    if strange := sorted(set(plain) - set(fields)):
        raise WrongType(f"{name} has the unknown field {reprlib.repr(strange[0])}")
    for field in fields.values():
        if field.name in plain:
            if field.name not in skip:
                check_type(plain[field.name], hints[field.name], f"{name}.{field.name}")
        elif field.default is field.default_factory is dataclasses.MISSING:
            raise WrongType(f"{name} lacks {field.name!r}")


def check_depth(value: Any, name: str) -> None:
    """Raise `WrongType` where lists and dictionaries are nested deeper than any of ours.

    Example:
        >>> check_depth([[]] * 3, "spec")
    """
    level = [value]
    for _ in range(DEEPEST):
        inner = [v for v in level if isinstance(v, list | dict)]
        level = [c for v in inner for c in (v.values() if isinstance(v, dict) else v)]
        if not level:
            return
    raise WrongType(f"{name} is nested more than {DEEPEST} levels deep")


def _is_float(number: int | float) -> bool:
    """Whether it has a floating value; whole numbers of JSON may be too long for one."""
    return isinstance(number, float) or abs(number) < 2**1023


def _check_union(value: Any, args: tuple, name: str) -> None:
    errors = []
    for arg in args:
        try:
            check_type(value, arg, name)
            return
        except WrongType as error:
            errors.append(error)
    raise errors[0]


@cache
def _hints(cls: type) -> dict[str, Any]:
    return typing.get_type_hints(cls)


def _require(fits: bool, value: Any, name: str, wanted: str) -> None:
    if not fits:
        raise WrongType(f"{name} is {reprlib.repr(value)}, not {wanted}")
