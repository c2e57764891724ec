"""What `--set path=value` and `--over path=values` mean."""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Iterable
from typing import Any

from dynascope.core.errors import BadInput, bad

MOST_POINTS = 100_000  # of one axis
DIGITS = 12  # of the numbers in a range, so that 0.1:0.3:3 has 0.2 in it


def value(text: str) -> Any:
    """A value as it is written on the command line: JSON, else a Python literal, else text.

    Example:
        >>> [value(t) for t in ("1e-3", "[1, 2]", "(1, 2)", "null", "None", "relu")]
        [0.001, [1, 2], (1, 2), None, None, 'relu']
    """
    try:
        found = json.loads(text)
    except ValueError:
        try:
            found = ast.literal_eval(text.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return text
    named = any(word in text.lower() for word in ("inf", "nan"))  # whoever writes it means it
    if not named and not _finite(found):
        raise bad("value", text, "finite numbers; the largest is about 1.8e308")
    return found


def _finite(found: Any) -> bool:
    """Whether all numbers inside are; 1e400 is read as infinite, and nothing would ever end."""
    if isinstance(found, list | tuple):
        return all(map(_finite, found))
    return not isinstance(found, float) or math.isfinite(found)


def changes(pairs: Iterable[str] | None, **others: Any) -> dict[str, Any]:
    """Values by path, from `path=value` texts and from options that are short for one.

    Example:
        >>> changes(["task.means=[1, 2]"], seeds=8, steps=None)
        {'seeds': 8, 'task.means': [1, 2]}
    """
    found = {name: given for name, given in others.items() if given is not None}
    for path, text in _split(pairs, "--set", "path=value"):
        if path in found:
            raise BadInput(f"{path} is given twice; give it once")
        found[path] = value(text)
    return found


def axes(pairs: Iterable[str] | None) -> dict[str, list[Any]]:
    """Values of every sweep axis, from `path=values` texts.

    Example:
        >>> axes(["model.width=2,3", "task.means[0]=0:1:3"])
        {'model.width': [2, 3], 'task.means[0]': [0, 0.5, 1]}
        >>> axes(["model.init_scale=log:0.001:0.1:3"])
        {'model.init_scale': [0.001, 0.01, 0.1]}
    """
    found: dict[str, list[Any]] = {}
    for path, text in _split(pairs, "--over", "path=value,value,... or path=first:last:count"):
        if path in found:
            raise BadInput(f"--over {path} is given twice; give it once, with all values")
        found[path] = _range(path, text) if ":" in text and text[0] not in "[({'\"" else _list(text)
    return found


def _split(pairs: Iterable[str] | None, option: str, form: str) -> list[tuple[str, str]]:
    found = []
    for pair in pairs or ():
        path, equals, text = pair.partition("=")
        if not (path.strip() and equals and text.strip()):
            raise bad(option, pair, form)
        found.append((path.strip(), text.strip()))
    return found


def _list(text: str) -> list[Any]:
    """Values between commas; commas inside brackets belong to a value."""
    whole = value(f"[{text}]")
    return whole if isinstance(whole, list) else [value(part) for part in text.split(",")]


def _range(path: str, text: str) -> list[Any]:
    """`first:last:count` in equal steps, `log:first:last:count` in equal factors."""
    log = text.startswith("log:")
    numbers = [value(part) for part in text.removeprefix("log:").split(":")]
    numeric = len(numbers) == 3 and all(type(n) in (int, float) for n in numbers)
    if not numeric or type(numbers[2]) is not int or numbers[2] < 2:
        raise bad(f"--over {path}", text, "first:last:count or log:first:last:count, count above 1")
    a, b, count = numbers
    if count > MOST_POINTS or not all(abs(n) <= 1e300 for n in (a, b)):
        raise bad(f"--over {path}", text, f"at most {MOST_POINTS:,} points between finite ends")
    if log and not (a > 0 and b > 0):
        raise bad(f"--over {path}", text, "ends above 0 for a log range")
    places = [i / (count - 1) for i in range(1, count - 1)]
    inner = [a * (b / a) ** p if log else a + (b - a) * p for p in places]
    return [a, *(float(f"{v:.{DIGITS}g}") for v in inner), b]
