"""The plain form of a spec, ready for JSON, and the fingerprint made of it.

Both cover all fields (a `later_field` where it is set). A class of ours is known by its name;
a class or a function of the user's own also by its code (`core/code.py`), so that results of
other code are other results.
"""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import json
import math
import uuid
from typing import Any, NamedTuple

import numpy as np

from dynascope.core.code import Code, code_of
from dynascope.core.errors import BadInput, bad
from dynascope.core.spec import Spec, class_of, is_ours, is_told

CLASS_CODE = "code of class"  # beside the fields; with its blanks no field can be called so
Codes = dict[int, tuple[Any, Code]]  # by identity; the thing is kept so that it stays its own


def to_plain(value: Any, codes: Codes | None = None) -> Any:
    """The value as JSON-ready data; functions become a name and a digest of their code.

    Args:
        value: Specs, numbers, text, functions, arrays, and tuples and dictionaries of them.
        codes: Filled with the code of every class and function that is not ours. What is in
            it already is not read again.

    Returns:
        Nested dictionaries and lists.
    """
    codes = {} if codes is None else codes
    if isinstance(value, Spec):
        cls = type(value)
        held = [(f, getattr(value, f.name)) for f in dataclasses.fields(cls)]
        fields = {f.name: to_plain(v, codes) for f, v in held if is_told(f, v)}
        code = {} if is_ours(cls) else {CLASS_CODE: _digest(cls, codes)}
        return {"spec": cls.spec_tag, **code, **fields}
    if isinstance(value, bool | int | str) or value is None:
        return value
    if isinstance(value, float | np.floating):
        number = float(value)
        return number if math.isfinite(number) else {"float": repr(number)}
    if isinstance(value, tuple | list):
        return [to_plain(v, codes) for v in value]
    if isinstance(value, dict):
        return {"map": {str(k): to_plain(v, codes) for k, v in sorted(value.items())}}
    if callable(value):
        name = getattr(value, "__qualname__", repr(type(value)))
        return {"function": name, "code": _digest(value, codes)}
    if hasattr(value, "__array__"):
        return _array(np.asarray(value))
    raise bad("field", value, "numbers, text, tuples, specs or functions")


def _array(array: np.ndarray) -> dict[str, Any]:
    """A digest of the numbers, their shape, and their type where it is not float64."""
    digest = hashlib.sha256(array.tobytes()).hexdigest()
    usual = array.dtype == np.float64  # known by its numbers and shape since the first records
    kind = {} if usual else {"dtype": str(array.dtype)}
    return {"array": digest, "shape": list(array.shape), **kind}


def _digest(thing: Any, codes: Codes) -> str:
    if id(thing) not in codes:
        codes[id(thing)] = (thing, code_of(thing))
    return codes[id(thing)][1].digest


def from_plain(plain: Any) -> Any:
    """The value that `to_plain` wrote; functions cannot be restored and say so.

    A class of the user's own is the one that has that name now, whatever its code was. Fields
    that a class no longer has, or has got without a default, are `BadInput`.
    """
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
    fields = {k: from_plain(v) for k, v in plain.items() if k not in ("spec", CLASS_CODE)}
    cls = class_of(plain["spec"])
    try:
        inspect.signature(cls).bind(**fields)
    except TypeError as error:
        raise BadInput(f"{cls.spec_tag}: {error}; its settings are others now") from None
    return cls(**fields)


def fingerprint(value: Any) -> str:
    """Sixteen hex digits that differ whenever any field, or any code that is not ours, differs.

    Example:
        >>> @dataclasses.dataclass(frozen=True)
        ... class Rate(Spec):
        ...     value: float = 1.0
        >>> fingerprint(Rate(1)) == fingerprint(Rate(1.0)) != fingerprint(Rate(2.0))
        True
    """
    return identify(value).fingerprint


class Identity(NamedTuple):
    """What a record of a spec is known by."""

    plain: Any
    fingerprint: str
    unknown: list[str]  # what of the code behind it cannot be known, by name
    key: str  # the fingerprint; where code is unknown one that no other record has


def identify(value: Any) -> Identity:
    """The plain form of a value, its fingerprint, and how far its code is known.

    Where some of it is unknown, equal fingerprints do not mean equal results.
    """
    codes: Codes = {}
    plain = to_plain(value, codes)
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    unknown = sorted({name for _, code in codes.values() for name in code.unknown})
    return Identity(plain, digest, unknown, uuid.uuid4().hex[:16] if unknown else digest)
