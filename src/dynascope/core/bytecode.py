"""What a compiled piece of Python says by itself: its instructions, and the names it reads.

Neither file nor line numbers count, so comments and blank lines do not matter. A docstring
is a constant of its function and counts.
"""

from __future__ import annotations

import dis
import hashlib
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType
from typing import Any, Literal, NamedTuple

_GLOBAL = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}
_CLOSURE = {"LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"}
_ATTRIBUTE = {"LOAD_ATTR", "LOAD_METHOD"}


class Read(NamedTuple):
    """A name that code reads from outside, and the attributes it takes of it at once."""

    source: Literal["global", "closure", "import"]
    name: str  # of a module for imports, with its leading dots
    attributes: tuple[str, ...]


class Bytecode(NamedTuple):
    """A piece of code: a digest of what it does, and what it reads."""

    digest: str
    reads: tuple[Read, ...]


@lru_cache(maxsize=4096)
def bytecode(code: CodeType) -> Bytecode:
    """The digest of a code object and of all code inside it, and everything they read.

    Example:
        >>> bytecode((lambda x: math.pi * x).__code__).reads
        (Read(source='global', name='math', attributes=('pi',)),)
    """
    inner = [bytecode(c) for c in code.co_consts if isinstance(c, CodeType)]
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    names = (code.co_names, code.co_varnames, code.co_cellvars, code.co_freevars)
    steps = (code.co_code, code.co_exceptiontable)
    parts = (*steps, *names, *counts, [constant(c) for c in code.co_consts])
    reads = dict.fromkeys([*_reads(code), *(r for b in inner for r in b.reads)])
    return Bytecode(hashlib.sha256(repr(parts).encode()).hexdigest(), tuple(reads))


def constant(value: Any) -> str:
    """A constant as text that tells 1 from 1.0 and does not depend on the order of a set.

    Example:
        >>> [constant(v) for v in (1, 1.0, frozenset({"b", "a"}))]
        ['int 0x1', 'float 1.0', "frozenset ['str a', 'str b']"]
    """
    kind = type(value).__name__
    if isinstance(value, CodeType):
        return f"code {bytecode(value).digest}"
    if isinstance(value, tuple):
        return f"tuple {[constant(v) for v in value]}"
    if isinstance(value, frozenset):
        return f"frozenset {sorted(map(constant, value))}"
    if type(value) is int:
        return f"int {value:#x}"  # decimal digits have a limit
    return f"{kind} {value}" if kind == "str" else f"{kind} {value!r}"


def _reads(code: CodeType) -> Iterator[Read]:
    steps = list(dis.get_instructions(code))
    for i, step in enumerate(steps):
        if step.opname in _GLOBAL:
            yield Read("global", step.argval, _attributes(steps, i))
        elif step.opname in _CLOSURE:
            yield Read("closure", step.argval, _attributes(steps, i))
        elif step.opname == "IMPORT_NAME":  # after the level and the names that are wanted
            level, wanted = steps[i - 2].argval, steps[i - 1].argval
            yield from (
                Read("import", "." * level + step.argval, names)
                for names in ([(name,) for name in wanted] if wanted else [()])
            )


def _attributes(steps: list[dis.Instruction], i: int) -> tuple[str, ...]:
    """The attributes that are taken right after step i: ("b", "c") in `a.b.c`."""
    end = i + 1
    while end < len(steps) and steps[end].opname in _ATTRIBUTE:
        end += 1
    return tuple(step.argval for step in steps[i + 1 : end])
