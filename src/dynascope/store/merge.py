"""Many small parts become few: reading a long run back must stay quick."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from dynascope.core.parts import join_parts
from dynascope.store import files
from dynascope.store.arrays import pack, unpack
from dynascope.store.files import File

_MANY = 32  # parts that are merged while the run is still going on
_LARGE = 64 << 20  # bytes; parts are merged up to this size, which bounds the memory it takes

Namer = Callable[[str], str]  # turns "merged" into a file name that was never used


def merge_tail(folder: Path, parts: tuple[File, ...], name: Namer) -> tuple[File, ...]:
    """The parts, with those behind the last merged one merged once there are many."""
    whole = max((i for i, f in enumerate(parts, 1) if f.name.startswith("merged")), default=0)
    if len(parts) - whole < _MANY:
        return parts
    return (*parts[:whole], *merge(folder, parts[whole:], name))


def merge(folder: Path, parts: tuple[File, ...], name: Namer) -> tuple[File, ...]:
    """The same rows in fewer files: neighbouring small parts are written anew as one."""
    merged: list[File] = []
    for group in _groups(parts):
        if len(group) > 1:
            whole = pack(join_parts([unpack(files.read(folder, f)) for f in group]))
            rows = sum(f.rows for f in group)
            group = [files.write(folder, name("merged"), whole, rows)]
        merged += group
    return tuple(merged)


def _groups(parts: tuple[File, ...]) -> Iterator[list[File]]:
    """Neighbours that together stay below the size of a merged part."""
    group: list[File] = []
    for part in parts:
        if group and sum(f.bytes for f in group) + part.bytes > _LARGE:
            yield group
            group = []
        group.append(part)
    yield group
