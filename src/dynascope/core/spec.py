"""Specs: frozen settings whose fields are checked once, at construction.

A spec is a frozen dataclass that derives from `Spec`. Its fields are brought to their
annotated types (whole numbers become floats where floats are meant, lists and arrays become
tuples), so that equal settings have equal fingerprints. The plain form and the fingerprint,
which cover all fields, are in `core/plain.py`; the numbers that a compiled function takes as
arguments are in `core/leaves.py`.

To add one: derive from `Spec` (or from a package's base), annotate the fields, and raise
`bad(...)` from `check` for values that make no sense.
"""

from __future__ import annotations

import dataclasses
import importlib
import sys
import typing
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

from dynascope.core.coercion import coerce
from dynascope.core.errors import unknown
from dynascope.core.typed import check_type

_CLASSES: dict[str, type[Spec]] = {}
# What a tag in a file may ask to be imported: packages that hold specs, never a program.
PACKAGES = ("data", "dynamics", "engine", "models", "probes", "runner", "studies", "tasks",
            "theories")  # fmt: skip
ALL_OF = {"studies": "studies.everything"}  # where importing the package does not import all of it


@dataclass(frozen=True)
class Spec:
    """Base of all settings; see the module docstring."""

    spec_tag: ClassVar[str]  # what the class is called in records and fingerprints

    def __init_subclass__(cls, tag: str | None = None, **kwargs: Any) -> None:
        """A class that was renamed or moved keeps its first `tag`, and with it its fingerprint."""
        super().__init_subclass__(**kwargs)
        cls.spec_tag = tag or _tag(cls)
        _register(cls)

    def __post_init__(self) -> None:
        """Bring every field to its annotated type, then let the subclass check values."""
        for name, hint in _hints(type(self)).items():  # type: ignore[arg-type]
            object.__setattr__(self, name, coerce(getattr(self, name), hint, name))
        self.check()

    def check(self) -> None:
        """Raise `BadInput` for values that make no sense; subclasses override this."""


def _register(cls: type[Spec]) -> None:
    """Let a class be found by its tag; only the same class defined anew takes its place."""
    before = _CLASSES.get(cls.spec_tag, cls)
    if _place(before) != _place(cls):
        where = f"{before.__module__}.{before.__qualname__} and {cls.__module__}.{cls.__qualname__}"
        raise ValueError(f"{cls.spec_tag} is the tag of both {where}")
    _CLASSES[cls.spec_tag] = cls


def _place(cls: type) -> tuple[str, str]:
    """Where a class is defined: a cell run again, a reload and a script run as a module agree."""
    file = getattr(sys.modules.get(cls.__module__), "__file__", None)
    return file or cls.__module__, cls.__qualname__


def _tag(cls: type) -> str:
    """`package.Name` for our own classes, `module:Name` for anybody else's."""
    if is_ours(cls):
        return f"{cls.__module__.split('.')[1]}.{cls.__name__}"
    return f"{cls.__module__}:{cls.__qualname__}"


def is_ours(thing: Any) -> bool:
    """Whether a class or a function is part of dynascope."""
    return thing.__module__.startswith("dynascope.")


def class_of(tag: str) -> type[Spec]:
    """The class of a tag; ours are imported, a user's own must have been."""
    check_type(tag, str, "spec")
    package = tag.split(".")[0]
    if tag not in _CLASSES and package in PACKAGES and "." in tag and ":" not in tag:
        importlib.import_module(f"dynascope.{ALL_OF.get(package, package)}")
    if tag not in _CLASSES:
        raise unknown("spec", tag[:80], _CLASSES)
    return _CLASSES[tag]


@cache
def _hints(cls: type) -> dict[str, Any]:
    hints = typing.get_type_hints(cls)
    return {f.name: hints[f.name] for f in dataclasses.fields(cls) if f.init}


def static_field(default: Any) -> Any:
    """A field that is no leaf: changing it compiles anew (a count, a tolerance, a switch)."""
    return dataclasses.field(default=default, metadata={"static": True})


def later_field(default: Any) -> Any:
    """A field that a class got after records of it were stored.

    The plain form has it only where it is set, so that those records are still found.
    """
    return dataclasses.field(default=default, metadata={"later": True})


def is_told(field: dataclasses.Field, value: Any) -> bool:
    """Whether the plain form has this field: always, or where a later one is set."""
    return not (field.metadata.get("later") and value == field.default)
