"""What can be moved in an explorer: each move names a path into the explorer's settings.

Ranges stand here and not in the settings: they are what the explorer answers quickly and what is
worth looking at. A value outside is refused in one line, from the page and from Python alike.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, Literal

from dynascope.core.errors import bad, unknown

LONGEST_WORDS = 20 * 2**20  # letters of an edge list


def name_of(path: str) -> str:
    """How a path is called in Python and in a link: its last part, and the number behind it.

    Example:
        >>> name_of("task.means[0]"), name_of("model.init_scale")
        ('means_0', 'init_scale')
    """
    return re.sub(r"\[(\d+)\]", r"_\1", path).rpartition(".")[2]


@dataclass(frozen=True)
class Slider:
    """A number from `low` to `high`."""

    path: str
    words: str
    low: float
    high: float
    scale: Literal["linear", "log"] = "linear"
    unit: str = ""

    def check(self, value: Any) -> Any:
        """The value, or `BadInput` unless it is a number in the range."""
        fine = isinstance(value, int | float) and not isinstance(value, bool)
        if not (fine and math.isfinite(value) and self.low <= value <= self.high):
            raise bad(name_of(self.path), value, f"a number from {self.low:g} to {self.high:g}")
        return value


@dataclass(frozen=True)
class Choice:
    """One of a few values; others would compile a program of their own."""

    path: str
    words: str
    options: tuple[Any, ...]

    def check(self, value: Any) -> Any:
        """The value, or `UnknownName` with the nearest option."""
        if value not in self.options or isinstance(value, bool):
            raise unknown(name_of(self.path), str(value)[:80], map(str, self.options))
        return self.options[self.options.index(value)]


@dataclass(frozen=True)
class Words:
    """A text: an expression, or an edge list that may come from a file."""

    path: str
    words: str
    longest: int = 500
    file: bool = False

    def check(self, value: Any) -> Any:
        """The value, or `BadInput` unless it is a text that is not too long."""
        if not isinstance(value, str) or len(value) > min(self.longest, LONGEST_WORDS):
            raise bad(name_of(self.path), value, f"a text of at most {self.longest:,} letters")
        return value


@dataclass(frozen=True)
class Drag:
    """A box of a panel, dragged or written: its ends of x and of y, or nothing for the whole."""

    panel: int
    x: str  # path of a pair of numbers
    y: str
    words: tuple[str, str]  # what x and y are
    above: float | None = None  # which x stays, for buttons that enlarge the box

    def check(self, value: Any) -> Any:
        """The value, or `BadInput` unless it is empty or two finite numbers in order."""
        fine = isinstance(value, list | tuple) and len(value) in (0, 2)
        fine = fine and all(isinstance(v, int | float) and math.isfinite(v) for v in value)
        if not fine or (value and not value[0] < value[1]):
            raise bad("box", value, "two numbers, the smaller one first, or none")
        return tuple(map(float, value))


@dataclass(frozen=True)
class Click:
    """A point clicked in a panel: it moves the sliders of these paths."""

    panel: int
    x: str
    y: str


Move = Slider | Choice | Words | Drag | Click
