"""Paths such as `task.means[0]`: a value inside a spec, read or replaced."""

from __future__ import annotations

import dataclasses
import re
from typing import Any, TypeVar

from dynascope.core.errors import BadInput, bad, unknown
from dynascope.core.spec import Spec

S = TypeVar("S", bound=Spec)


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
        >>> @dataclasses.dataclass(frozen=True)
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
