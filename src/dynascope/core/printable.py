"""Text of unknown origin without what would steer a terminal."""

from __future__ import annotations

import re

# C0 without tab and newline, C1, line separators, marks of direction, half characters.
_STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(text: str) -> str:
    r"""The text with everything that would steer a terminal written as its number.

    Control characters move the cursor, set colours or the clipboard; marks of direction let
    a line read other than it is.

    Example:
        >>> printable("red\x1b[31m")
        'red\\x1b[31m'
    """
    return _STEERING.sub(lambda m: ascii(m[0])[1:-1], text)
