"""Traces of compiled functions, kept in files: a second command does not trace again.

XLA's programs are kept by jax, but jax finds one only by tracing the function anew, which takes
Python longer than XLA takes to load it. A trace is kept by everything that decides it: the
settings, all of dynascope's own text, the libraries' versions and jax's configuration. As with
stored records, what somebody has put into dynascope's modules at run time is not seen: traces are
kept and used in processes that are ours alone, and only where no code of the user's enters.

A trace that holds arrays may hold somebody's data, which the settings know by name only; it is
not kept.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
from jax import export

from dynascope.core.source_text import all_files, text_digest
from dynascope.engine.spreading import Spread
from dynascope.runtime import process
from dynascope.runtime.home import compiled_folder
from dynascope.runtime.versions import versions

LARGEST_ARRAY = 256  # numbers: coefficients of a solver are fewer, a data set has more
LARGEST_FILE = 4 * 2**20  # bytes
# What flows are made of, beside the libraries that every record names.
SOLVERS = ("lineax", "optimistix")


class Measures(NamedTuple):
    """What is known of a program only by tracing its parts."""

    row: dict[str, jax.ShapeDtypeStruct]  # what the probes of one lane measure at one step
    work_bytes: int  # of what a gradient or a measurement of one lane writes meanwhile
    options: dict[str, Any]  # of the compiler, for the program that draws

    @classmethod
    def of_plain(cls, plain: dict[str, Any]) -> Measures:
        """From the form of `plain`."""
        row = {k: jax.ShapeDtypeStruct(tuple(s), d) for k, (s, d) in plain["row"].items()}
        return cls(row, plain["work_bytes"], plain["options"])

    def plain(self) -> dict[str, Any]:
        """As JSON has it."""
        row = {k: (v.shape, v.dtype.name) for k, v in self.row.items()}
        return self._asdict() | {"row": row}


class KeptTraces:
    """The files of one program; `name` is a digest of everything that decides it."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name = folder, name

    def measures(self) -> Measures | None:
        """What an earlier process has found, if it is there."""
        data = _read(self.folder / f"{self.name}.measures")
        return Measures.of_plain(json.loads(data)) if data else None

    def keep_measures(self, measures: Measures) -> None:
        """For later processes."""
        _write(self.folder / f"{self.name}.measures", json.dumps(measures.plain()).encode())

    def function(
        self, role: str, spread: Spread, gives: Any, options: dict[str, Any] | None = None
    ) -> Callable:
        """The compiled function, by a kept trace where there is one.

        Args:
            role: Its name among the functions of the program.
            spread: What is traced, and where its arguments lie.
            gives: What it gives, as a tree of anything.
            options: Of the compiler.
        """
        compiled: dict[tuple, Callable] = {}  # by the shapes of the arguments

        def kept(*arguments: Any) -> Any:
            arrays, structure = jax.tree.flatten(arguments)
            shapes = tuple(map(jax.typeof, arrays))
            if shapes not in compiled:
                file = self.folder / f"{self.name}-{role}-{_short(repr((shapes, structure)))}.trace"

                def flat(*arrays: Any) -> list[Any]:
                    return jax.tree.leaves(spread.call(*jax.tree.unflatten(structure, arrays)))

                traced = _load(file) or _trace(jax.jit(flat), shapes, file)
                placed = spread.placed
                given: dict[str, Any] = {"in_shardings": placed(arguments)} if placed else {}
                run: Callable = traced.call if traced else flat
                compiled[shapes] = jax.jit(run, compiler_options=options, **given)
            return jax.tree.unflatten(jax.tree.structure(gives), compiled[shapes](*arrays))

        return kept


def traced_here(
    role: str, spread: Spread, gives: Any, options: dict[str, Any] | None = None
) -> Callable:
    """The compiled function where no trace is kept; arguments as `KeptTraces.function` has them."""
    return jax.jit(spread.call, compiler_options=options)


def kept_traces(what: tuple) -> KeptTraces | None:
    """The files for a program that these settings decide; None where nothing may be kept."""
    folder = compiled_folder()
    if not process.ours():
        return None
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:  # a run must not fail because nothing can be kept
        return None
    libraries = versions() | {name: metadata.version(name) for name in SOLVERS}
    configuration = {k: v for k, v in jax.config.values.items() if "cache" not in k}
    everything = (what, text_digest(all_files()), libraries, jax.default_backend(), configuration)
    return KeptTraces(folder, f"traced-{_short(repr(everything))}")


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _trace(function: Any, shapes: tuple, file: Path) -> export.Exported | None:
    """Trace a function and keep it; None for one that cannot be or may not be kept."""
    given = [jax.ShapeDtypeStruct(s.shape, s.dtype, weak_type=s.weak_type) for s in shapes]
    if any(math.prod(shape) > LARGEST_ARRAY for shape in _held(function.trace(*given).jaxpr)):
        return None
    try:
        traced = export.export(function)(*given)
        data = bytes(traced.serialize())
    except (ValueError, NotImplementedError):  # a callback, or a call without a stable form
        return None
    if len(data) > LARGEST_FILE:
        return None
    _write(file, data)
    return traced


def _held(traced: Any) -> Iterator[tuple[int, ...]]:
    """The shapes of the arrays that a traced program holds."""
    yield from map(np.shape, getattr(traced, "consts", ()))
    for equation in traced.eqns:
        yield from (np.shape(v.val) for v in equation.invars if hasattr(v, "val"))
        for value in equation.params.values():
            for part in value if isinstance(value, tuple | list) else [value]:
                if hasattr(part, "eqns"):
                    yield from _held(part)


def _load(file: Path) -> export.Exported | None:
    data = _read(file)
    return export.deserialize(bytearray(data)) if data else None


def _read(file: Path) -> bytes | None:
    """What stands in a file, unless it is missing or its checksum is another."""
    try:
        checksum, _, data = file.read_bytes().partition(b"\n")
    except OSError:
        return None
    return data if checksum == hashlib.sha256(data).hexdigest().encode() else None


def _write(file: Path, data: bytes) -> None:
    """Put a file in place in one move; where that cannot be, nothing is kept."""
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        draft.write_bytes(hashlib.sha256(data).hexdigest().encode() + b"\n" + data)
        os.replace(draft, file)
    except OSError:
        draft.unlink(missing_ok=True)
