"""Specs: frozen settings with checked fields, paths, a plain form and a fingerprint.

A spec is a frozen dataclass that derives from `Spec`. Its fields are brought to their
annotated types once, at construction (whole numbers become floats where floats are
meant, lists and arrays become tuples), so that equal settings have equal fingerprints.
The fingerprint covers all fields. `leaves` splits off the numbers that a compiled
function can take as arguments; what is left, the skeleton, decides what is compiled.

To add one: derive from `Spec` (or from a room's base), annotate the fields, and raise
`bad(...)` from `check` for values that make no sense.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
import json
import math
import re
import types
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeVar, Union

import numpy as np

from dynascope.core.errors import BadInput, bad, unknown

S = TypeVar("S", bound="Spec")
_CLASSES: dict[str, type[Spec]] = {}


@dataclass(frozen=True)
class Spec:
    """Base of all settings; see the module docstring."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        _CLASSES[_tag(cls)] = cls

    def __post_init__(self) -> None:
        """Bring every field to its annotated type, then let the subclass check values."""
        for name, hint in _hints(type(self)).items():  # type: ignore[arg-type]
            object.__setattr__(self, name, coerce(getattr(self, name), hint, name))
        self.check()

    def check(self) -> None:
        """Raise `BadInput` for values that make no sense; subclasses override this."""


def _tag(cls: type) -> str:
    """`room.Name` for our own classes, `module:Name` for anybody else's."""
    parts = cls.__module__.split(".")
    if parts[0] == "dynascope" and len(parts) > 1:
        return f"{parts[1]}.{cls.__name__}"
    return f"{cls.__module__}:{cls.__qualname__}"


@cache
def _hints(cls: type) -> dict[str, Any]:
    hints = typing.get_type_hints(cls)
    return {f.name: hints[f.name] for f in dataclasses.fields(cls) if f.init}


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
    except (TypeError, ValueError):
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


# --- paths -------------------------------------------------------------------------------


def _parse(path: str) -> list[str | int]:
    if not re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*|\[\d+\])*", path):
        raise bad("path", path, "a path such as task.means[0]")
    parts = re.findall(r"([A-Za-z_]\w*)|\[(\d+)\]", path)
    return [name or int(index) for name, index in parts]


def get_path(spec: Any, path: str) -> Any:
    """The value at a path such as `task.means[0]`."""
    value = spec
    for part in _parse(path):
        value = _child(value, part, path)
    return value


def set_path(spec: S, path: str, value: Any) -> S:
    """A copy of the spec with another value at a path; checked like a new one.

    Example:
        >>> @dataclass(frozen=True)
        ... class Line(Spec):
        ...     slopes: tuple[float, ...] = (1.0, 2.0)
        >>> set_path(Line(), "slopes[1]", 5).slopes
        (1.0, 5.0)
    """

    def rebuild(node: Any, parts: list[str | int]) -> Any:
        if not parts:
            return value
        child = rebuild(_child(node, parts[0], path), parts[1:])
        if isinstance(parts[0], int):
            return (*node[: parts[0]], child, *node[parts[0] + 1 :])
        try:
            return dataclasses.replace(node, **{parts[0]: child})
        except BadInput as error:
            prefix = path.rsplit(".", 1)[0] + "." if "." in path else ""
            message = str(error)
            raise BadInput(message if message.startswith(prefix) else prefix + message) from None

    return rebuild(spec, _parse(path))


def _child(node: Any, part: str | int, path: str) -> Any:
    if isinstance(part, int):
        if not isinstance(node, tuple):
            raise bad(path, node, "a list of values before the index")
        if part >= len(node):
            raise bad(path, part, f"an index below {len(node)}")
        return node[part]
    if not dataclasses.is_dataclass(node):
        raise bad(path, node, f"settings with a field {part!r}")
    names = [f.name for f in dataclasses.fields(node)]
    if part not in names:
        raise BadInput(f"{path}: {unknown('field', part, names)}")
    return getattr(node, part)


# --- plain form and fingerprint ----------------------------------------------------------


def to_plain(value: Any) -> Any:
    """The value as JSON-ready data; functions become a name and a hash of their code."""
    if isinstance(value, Spec):
        fields = {f.name: to_plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
        return {"spec": _tag(type(value)), **fields}
    if isinstance(value, bool | int | str) or value is None:
        return value
    if isinstance(value, float | np.floating):
        number = float(value)
        return number if math.isfinite(number) else {"float": repr(number)}
    if isinstance(value, tuple | list):
        return [to_plain(v) for v in value]
    if isinstance(value, dict):
        return {"map": {str(k): to_plain(v) for k, v in sorted(value.items())}}
    if callable(value):
        return {"function": getattr(value, "__qualname__", repr(type(value))), "code": _code(value)}
    if hasattr(value, "__array__"):
        array = np.asarray(value)
        return {"array": hashlib.sha256(array.tobytes()).hexdigest(), "shape": list(array.shape)}
    raise bad("field", value, "numbers, text, tuples, specs or functions")


def from_plain(plain: Any) -> Any:
    """The value that `to_plain` wrote; functions cannot be restored and say so."""
    if isinstance(plain, list):
        return tuple(from_plain(v) for v in plain)
    if not isinstance(plain, dict):
        return plain
    if "float" in plain:
        return float(plain["float"])
    if "map" in plain:
        return {k: from_plain(v) for k, v in plain["map"].items()}
    if "spec" not in plain:
        what = plain.get("function", "an array")
        raise bad("spec", what, "settings without code", "rebuild this spec in Python")
    cls = _class(plain["spec"])
    return cls(**{k: from_plain(v) for k, v in plain.items() if k != "spec"})


def _class(tag: str) -> type[Spec]:
    if tag not in _CLASSES and "." in tag and ":" not in tag:
        importlib.import_module(f"dynascope.{tag.split('.')[0]}")
    if tag not in _CLASSES:
        raise unknown("spec", tag, _CLASSES)
    return _CLASSES[tag]


def _code(function: Any) -> str:
    """A hash of a function's code, constants, defaults, captured and global values."""
    digest = hashlib.sha256()
    seen: set[int] = set()

    def feed(thing: Any) -> None:
        if id(thing) in seen or isinstance(thing, types.ModuleType):
            return
        code = getattr(thing, "__code__", None)
        if isinstance(thing, types.CodeType):
            digest.update(thing.co_code + repr(thing.co_names).encode())
            for constant in thing.co_consts:
                feed(constant)
        elif code is not None:
            seen.add(id(thing))
            feed(code)
            feed(getattr(thing, "__defaults__", None))
            for cell in getattr(thing, "__closure__", None) or ():
                feed(cell.cell_contents)
            for name in code.co_names:  # what it reads from its module
                feed(getattr(thing, "__globals__", {}).get(name))
        elif isinstance(thing, tuple | list):
            for item in thing:
                feed(item)
        elif isinstance(thing, Spec):
            digest.update(fingerprint(thing).encode())
        elif hasattr(thing, "__array__"):
            digest.update(np.asarray(thing).tobytes())
        elif hasattr(thing, "func"):  # functools.partial
            feed((thing.func, thing.args, tuple(sorted(thing.keywords.items()))))
        elif isinstance(thing, str | int | float | bool | bytes | type(None)):
            digest.update(repr(thing).encode())
        else:
            digest.update(type(thing).__qualname__.encode())

    feed(function)
    return digest.hexdigest()[:16]


def fingerprint(value: Any) -> str:
    """Sixteen hex digits that differ whenever any field differs.

    Example:
        >>> @dataclass(frozen=True)
        ... class Rate(Spec):
        ...     value: float = 1.0
        >>> fingerprint(Rate(1)) == fingerprint(Rate(1.0)) != fingerprint(Rate(2.0))
        True
    """
    text = json.dumps(to_plain(value), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


# --- leaves: the numbers a compiled function takes as arguments ----------------------------


def leaves(spec: Spec) -> dict[str, np.ndarray]:
    """Floats and rectangular tuples of floats, by path; fields marked static are left out.

    Example:
        >>> @dataclass(frozen=True)
        ... class Line(Spec):
        ...     slopes: tuple[float, ...] = (1.0, 2.0)
        >>> leaves(Line())
        {'slopes': array([1., 2.])}
    """
    return dict(_walk(spec, ""))


def _walk(node: Any, path: str) -> Iterator[tuple[str, np.ndarray]]:
    if isinstance(node, Spec):
        for field in dataclasses.fields(node):
            if not field.metadata.get("static"):
                yield from _walk(getattr(node, field.name), f"{path}.{field.name}".lstrip("."))
    elif isinstance(node, float):
        yield path, np.asarray(node)
    elif isinstance(node, tuple) and node:
        array = _rectangle(node)
        if array is not None:
            yield path, array
        else:
            for i, child in enumerate(node):
                yield from _walk(child, f"{path}[{i}]")


def _rectangle(node: tuple) -> np.ndarray | None:
    def floats(v: Any) -> bool:
        return isinstance(v, float) or (isinstance(v, tuple) and bool(v) and all(map(floats, v)))

    if not floats(node):
        return None
    try:
        return np.asarray(node, dtype=float)
    except ValueError:  # ragged
        return None


def with_leaves(spec: S, values: dict[str, Any]) -> S:
    """A copy whose leaves are replaced without any check, so that they may be traced."""

    def rebuild(node: Any, path: str) -> Any:
        if path in values:
            return values[path]
        if isinstance(node, Spec):
            copy = object.__new__(type(node))
            for field in dataclasses.fields(node):
                child = rebuild(getattr(node, field.name), f"{path}.{field.name}".lstrip("."))
                object.__setattr__(copy, field.name, child)
            return copy
        if isinstance(node, tuple):
            return tuple(rebuild(child, f"{path}[{i}]") for i, child in enumerate(node))
        return node

    return rebuild(spec, "")


def skeleton(spec: Spec) -> str:
    """Text that is equal for two specs exactly when they differ in leaves alone."""
    blank = {path: tuple(np.shape(value)) for path, value in leaves(spec).items()}
    shapes = {path: ["leaf", *shape] for path, shape in blank.items()}
    return json.dumps(to_plain(with_leaves(spec, shapes)), sort_keys=True)


def static_field(default: Any) -> Any:
    """A field that is no leaf: changing it compiles anew (a count, a tolerance, a switch)."""
    return dataclasses.field(default=default, metadata={"static": True})
