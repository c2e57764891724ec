"""Leaves: the numbers of a spec that a compiled function takes as arguments.

What is left, the skeleton, decides what is compiled.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from typing import Any, TypeVar

import numpy as np

from dynascope.core.plain import Codes, to_plain
from dynascope.core.spec import Spec

S = TypeVar("S", bound=Spec)


def leaves(spec: Spec) -> dict[str, np.ndarray]:
    """Floats and rectangular tuples of floats, by path; fields marked static are left out.

    Example:
        >>> @dataclasses.dataclass(frozen=True)
        ... class Curve(Spec):
        ...     slopes: tuple[float, ...] = (1.0, 2.0)
        >>> leaves(Curve())
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
            parts = [rebuild(child, f"{path}[{i}]") for i, child in enumerate(node)]
            return type(node)(*parts) if hasattr(node, "_fields") else tuple(parts)
        return node

    return rebuild(spec, "")


def skeleton(spec: Spec, codes: Codes | None = None) -> str:
    """Text that is equal for two specs exactly when they differ in leaves alone.

    Args:
        spec: The settings.
        codes: What has been read of the users' code already; see `plain.to_plain`.

    Returns:
        The plain form with every leaf blanked out.
    """
    blank = {path: tuple(np.shape(value)) for path, value in leaves(spec).items()}
    shapes = {path: ["leaf", *shape] for path, shape in blank.items()}
    return json.dumps(to_plain(with_leaves(spec, shapes), codes), sort_keys=True)
