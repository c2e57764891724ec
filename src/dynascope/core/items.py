"""Numbered items in a place of a document: "Figs. 2c, 3, Lemmas D.1 to D.3" names five."""

from __future__ import annotations

import re

KINDS = {
    "fig": "Figure", "figure": "Figure", "table": "Table", "thm": "Theorem", "theorem": "Theorem",
    "lemma": "Lemma", "prop": "Proposition", "proposition": "Proposition", "cor": "Corollary",
    "corollary": "Corollary", "corollaries": "Corollary", "obs": "Observation",
    "observation": "Observation", "claim": "Claim", "algorithm": "Algorithm",
    "alg": "Algorithm",
}  # fmt: skip
_NUMBER = r"(?:[A-Z]\.)?\d+(?:\.\d+)*"
_PART = r"(?:[a-f]\b|\s?\([^)]*\)|\s[a-f]\b)?"  # panel "2c", "B.4 b", "3.5 (d)"
_ITEM = _NUMBER + _PART
_LIST = re.compile(
    rf"\b({'|'.join(sorted(KINDS, key=len, reverse=True))})s?\.?\s+"
    rf"({_ITEM}(?:(?:,|-|\s+to|\s+and|,\s+and)\s*{_ITEM})*)",
    re.IGNORECASE,
)


def items(place: str) -> list[str]:
    """The numbered items that a place names, in order, panels left out.

    Args:
        place: As a source has it.

    Returns:
        Names such as "Figure 2" and "Lemma D.1"; ranges are written out.

    Example:
        >>> items("Figs. 2c, 3, section 4.2, lemmas D.1 to D.3")
        ['Figure 2', 'Figure 3', 'Lemma D.1', 'Lemma D.2', 'Lemma D.3']
        >>> items("Figs. B.5-B.7; Thm. 3.3.6 (1), Props. 3, 5 and 6"), items("section 3.2")
        (['Figure B.5', 'Figure B.6', 'Figure B.7', 'Theorem 3.3.6', 'Proposition 3', \
'Proposition 5', 'Proposition 6'], [])
    """
    found: list[str] = []
    for match in _LIST.finditer(place):
        kind = KINDS[match[1].lower()]
        before = ""
        for joint, number in re.findall(rf"(,|-|to|and)?\s*({_NUMBER}){_PART}", match[2]):
            numbers = _between(before, number) if joint in ("to", "-") and before else [number]
            found += [f"{kind} {n}" for n in numbers]
            before = number
    return list(dict.fromkeys(found))


def numbers(ranges: str) -> list[str]:
    """A list of numbers and ranges written out.

    Example:
        >>> numbers("1-3, A.9-A.11, 4.1")
        ['1', '2', '3', 'A.9', 'A.10', 'A.11', '4.1']
    """
    found: list[str] = []
    for part in ranges.replace(" ", "").split(","):
        first, _, last = part.partition("-")
        found += [first, *(_between(first, last) if last else ())]
    return found


def _between(first: str, last: str) -> list[str]:
    """What comes after the first number, up to the last: they differ in the last place only."""
    stem, _, start = first.rpartition(".")
    other, _, end = last.rpartition(".")
    if stem != other:
        raise ValueError(f"{first} to {last} is not a range")
    return [f"{stem}.{n}".lstrip(".") for n in range(int(start) + 1, int(end) + 1)]
