"""Text in the letters that an encoding has."""

from __future__ import annotations

import re
import unicodedata

from dynascope.core.printable import printable

_SPELLED = {"✓": "+", "✗": "x", "±": "+/-", "×": "x", "≥": ">=", "≤": "<=", "−": "-", "∞": "inf"}
_SPELLED |= {"–": "-", "—": "-", "…": "...", "‘": "'", "’": "'", "“": '"', "”": '"', "·": "*"}
_RAISED = re.compile("[⁻⁰¹²³⁴-⁹]+")
_LOWERED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def spelled(text: str, encoding: str) -> str:
    """The text in letters that an encoding has; signs and Greek letters are spelled out.

    Example:
        >>> spelled("σ = 0.1 ± 0.02", "ascii")
        'sigma = 0.1 +/- 0.02'
    """
    text = printable(text)
    if not _fits("⁻³", encoding):
        text = _RAISED.sub(lambda m: "^" + m[0].translate(_LOWERED), text)
    return "".join(c if _fits(c, encoding) else _spell(c) for c in text)


def _fits(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _spell(character: str) -> str:
    if character in _SPELLED:
        return _SPELLED[character]
    name = unicodedata.name(character, "").split()
    if name[:1] == ["GREEK"] and "LETTER" in name:
        word = name[name.index("LETTER") + 1].lower().replace("lamda", "lambda")
        return word.capitalize() if name[1] == "CAPITAL" else word
    plain = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    return plain or "?"
