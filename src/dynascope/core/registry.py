"""One idiom for everything that is found by name: a registry that lists itself.

The command line, the documentation and the contract tests walk registries; nobody keeps
a list of names by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
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

    def add(self, name: str, thing: T) -> T:
        """Add a thing under a name that is still free; returns the thing."""
        if name in self._things and self._things[name] is not thing:
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
