"""Values as bytes and back, by their annotated type.

A computation's result is numbers, text, arrays, datasets, and tuples, lists, dictionaries,
named tuples and dataclasses of these. The bytes are a zip file: `tree.json` has the structure,
every array is a `.npy` file beside it. Classes are never named in the bytes: reading takes them
from the annotation, so that a file from elsewhere can make nothing but what the code expects.
"""

from __future__ import annotations

import dataclasses
import io
import json
import math
import reprlib
import types
import typing
import zipfile
from collections.abc import Mapping
from typing import Any, Union

import numpy as np

from dynascope.core.errors import DamagedRecord, bad

_TREE = "tree.json"


def encode(value: Any) -> bytes:
    """The value as bytes; equal values give equal bytes.

    Example:
        >>> decode(encode({(3, 2): np.arange(2.0)}), dict[tuple[int, int], np.ndarray])
        {(3, 2): array([0., 1.])}
    """
    arrays: list[np.ndarray] = []
    tree = json.dumps(_plain(value, arrays))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        _put(archive, _TREE, tree.encode())
        for number, array in enumerate(arrays):
            content = io.BytesIO()
            np.save(content, array, allow_pickle=False)
            _put(archive, f"{number}.npy", content.getvalue())
    return packed.getvalue()


def decode(data: bytes, hint: Any) -> Any:
    """The value that `encode` wrote, of the annotated type `hint`."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _value(json.loads(archive.read(_TREE)), hint, archive)
    except Exception as error:  # bytes from elsewhere may be wrong in any way
        words = " ".join(str(error).split())[:200]
        raise DamagedRecord(f"stored value is not a {hint}: {words}") from error


def content(data: bytes) -> dict[str, np.ndarray]:
    """Everything in the bytes as flat arrays by name, for comparing two of them."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = [n for n in archive.namelist() if n != _TREE]
        found = {n: np.load(io.BytesIO(archive.read(n)), allow_pickle=False) for n in names}
        _flatten(json.loads(archive.read(_TREE)), "value", found)
    return found


def _put(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    info = zipfile.ZipInfo(name)  # a fixed date: equal content, equal bytes
    info.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(info, content)


def _plain(value: Any, arrays: list[np.ndarray]) -> Any:
    if type(value).__name__ == "Dataset" and hasattr(value, "data_vars"):
        variables = [(str(n), n in value.coords, v.dims, v.values, v.attrs)
                     for n, v in value.variables.items()]  # fmt: skip
        return {"dataset": _plain((variables, value.attrs), arrays)}
    if isinstance(value, np.ndarray | np.generic) or hasattr(value, "__array__"):
        arrays.append(np.asarray(value))
        return {"array": len(arrays) - 1}
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}
    if isinstance(value, bool | int | float | str) or value is None:
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [_plain(getattr(value, f.name), arrays) for f in dataclasses.fields(value)]
    if isinstance(value, tuple | list):
        return [_plain(v, arrays) for v in value]
    if isinstance(value, dict):
        pairs = [[_plain(k, arrays), _plain(v, arrays)] for k, v in value.items()]
        return {"pairs": pairs}
    raise bad("result", value, "numbers, text, arrays, and tuples, dictionaries or records of them")


def _value(plain: Any, hint: Any, archive: zipfile.ZipFile) -> Any:
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if isinstance(plain, dict) and "array" in plain:
        array = np.load(io.BytesIO(archive.read(f"{plain['array']}.npy")), allow_pickle=False)
        return array[()] if array.ndim == 0 else array
    if isinstance(plain, dict) and "dataset" in plain:
        return _dataset(*_value(plain["dataset"], tuple, archive))
    if isinstance(plain, dict) and "float" in plain:
        return float(plain["float"])
    if origin in (Union, types.UnionType) and isinstance(plain, dict | list):
        return _value(plain, _arm(plain, args), archive)
    if isinstance(plain, dict):
        of_key, of_value = args or (Any, Any)
        pairs = [(_value(k, of_key, archive), _value(v, of_value, archive))
                 for k, v in plain["pairs"]]  # fmt: skip
        return dict(pairs)
    _check_single(plain, hint)
    if not isinstance(plain, list):
        return plain
    if _is_record(hint):
        names = [f.name for f in dataclasses.fields(hint)] if dataclasses.is_dataclass(hint) else (
            hint._fields)  # fmt: skip
        hints = typing.get_type_hints(hint)
        return hint(*(_value(v, hints[n], archive) for n, v in zip(names, plain, strict=True)))
    if origin is list or hint is list:
        return [_value(v, args[0] if args else Any, archive) for v in plain]
    of_items = [args[0]] * len(plain) if len(args) == 2 and args[1] is Ellipsis else args
    return tuple(
        _value(v, of_items[i] if i < len(of_items) else Any, archive) for i, v in enumerate(plain)
    )


def _arm(plain: dict | list, args: tuple) -> Any:
    """The part of a union that a dictionary, or else a list or a record, can be."""
    single = (type(None), bool, int, float, str)
    several = [arg for arg in args if arg not in single]
    fitting = [arg for arg in several if _is_mapping(arg) == isinstance(plain, dict)]
    return next(iter((*fitting, *several)), Any)


def _is_mapping(hint: Any) -> bool:
    kind = typing.get_origin(hint) or hint
    return isinstance(kind, type) and issubclass(kind, Mapping)


def _check_single(plain: Any, hint: Any) -> None:
    """Raise unless what is annotated as a number or a text is one, or nothing."""
    if hint in (bool, int, float) and not isinstance(plain, bool | int | float | None):
        raise TypeError(f"{reprlib.repr(plain)} is no number")
    if hint is str and not isinstance(plain, str | None):
        raise TypeError(f"{reprlib.repr(plain)} is no text")


def _dataset(variables: tuple, attrs: dict[str, Any]) -> Any:
    import xarray as xr

    parts: dict[bool, dict[str, Any]] = {True: {}, False: {}}
    for name, is_coord, dims, values, about in variables:
        parts[is_coord][name] = (dims, values, about)
    return xr.Dataset(parts[False], parts[True], attrs)


def _is_record(hint: Any) -> bool:
    named = isinstance(hint, type) and issubclass(hint, tuple) and hasattr(hint, "_fields")
    return named or (isinstance(hint, type) and dataclasses.is_dataclass(hint))


def _flatten(plain: Any, path: str, found: dict[str, np.ndarray]) -> None:
    if isinstance(plain, list | dict):
        children = plain.items() if isinstance(plain, dict) else enumerate(plain)
        for key, child in children:
            _flatten(child, f"{path}.{key}", found)
    elif isinstance(plain, float):
        found[path] = np.asarray(plain)
    else:  # whole numbers of any length, text, nothing
        found[path] = np.asarray(repr(plain))
