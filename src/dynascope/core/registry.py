"""One idiom for everything that is found by name: a registry that lists itself.

The command line, the documentation and the contract tests walk registries; nobody keeps
a list of names by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from dynascope.core.errors import unknown

T = TypeVar("T")


class Registry(Generic[T]):
    """Names to things of one kind, in the order in which they were added.

    Example:
        >>> numbers = Registry("number")
        >>> _ = numbers.add("one", 1)
        >>> numbers.get("one")
        1
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._things: dict[str, T] = {}

    def add(self, name: str, thing: T, replaces: Callable[[T], bool] = lambda other: False) -> T:
        """Add a thing under a name that is free, or whose thing it replaces; returns the thing.

        A class that is defined anew, in a notebook or by a reload, takes its own place.
        """
        other = self._things.get(name)
        new = other is None or other == thing or _origin(other) == _origin(thing)
        if not new and not replaces(other):  # type: ignore[arg-type]
            raise ValueError(f"{self.kind} {name!r} is registered twice")
        self._things[name] = thing
        return thing

    def get(self, name: str) -> T:
        """Return the thing of that name, or raise `UnknownName` with the nearest one."""
        if name not in self._things:
            raise unknown(self.kind, name, self._things)
        return self._things[name]

    def names(self) -> list[str]:
        """Every name, in the order of adding."""
        return list(self._things)

    def __iter__(self) -> Iterator[T]:
        return iter(self._things.values())

    def __contains__(self, name: object) -> bool:
        return name in self._things

    def __len__(self) -> int:
        return len(self._things)


def _origin(thing: object) -> object:
    """Where a class was defined; anything else is itself."""
    return (thing.__module__, thing.__qualname__) if isinstance(thing, type) else id(thing)
