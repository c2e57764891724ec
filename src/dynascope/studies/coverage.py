"""Which claim is about which numbered item of a document, and why none is.

`python -m dynascope.studies.coverage > docs/items.md` writes the table.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from dynascope.core.items import items, numbers
from dynascope.core.sources import documents
from dynascope.studies import bibliography, studies

HEAD = """\
# Numbered items of the documents

Made by `python -m dynascope.studies.coverage > docs/items.md` from the claims themselves: every
numbered figure, table, theorem, lemma, proposition, corollary and observation, with the claims
that are about it, or the reason why none is. Verdicts: `dynascope claims --source HANDLE`.
"""


Claims = dict[tuple[str, str], list[str]]  # ids by document and item


@dataclass(frozen=True)
class Covered:
    """A numbered item with the claims about it, or the reason why there are none."""

    document: str
    item: str
    claims: tuple[str, ...]
    reason: str

    @property
    def open(self) -> bool:
        """Whether a claim is still to come."""
        return not self.claims and (not self.reason or self.reason.startswith("open"))


def coverage(handle: str | None = None) -> list[Covered]:
    """All numbered items of a document, or of all documents."""
    known = tomllib.loads(files("dynascope.studies").joinpath("items.toml").read_text("utf-8"))
    claims = _claims()
    return [row for name in known if handle in (None, name) for row in _rows(name, known, claims)]


def named(about: dict[str, Any]) -> list[str]:
    """The items that a document's table in `items.toml` lists."""
    kinds = {k: v for k, v in about.items() if isinstance(v, str)}
    return [f"{kind} {number}" for kind, ranges in kinds.items() for number in numbers(ranges)]


def _stated(handle: str, item: str, known: dict[str, Any], claims: Claims) -> list[str]:
    """The claims about an item that another one restates, or about what that one restates."""
    first, _, rest = item.partition(" ")
    handle, item = (first, rest) if first in documents else (handle, item)
    further = known[handle].get("restates", {}).get(item)
    found = claims.get((handle, item), [])
    return [*found, *_stated(handle, further, known, claims)] if further else found


def _rows(name: str, known: dict[str, Any], claims: Claims) -> Any:
    about = known[name]
    restates = about.get("restates", {})
    without = {i: why for place, why in about.get("without", {}).items() for i in items(place)}
    for item in named(about):
        reason = without.get(item, "")
        found = claims.get((name, item), [])
        if item in restates:
            other = restates[item]
            found = [*found, *(c for c in _stated(name, other, known, claims) if c not in found)]
            reason = f"restates {other}" if found else f"open: as {other}"
        yield Covered(name, item, tuple(found), reason if not found or item in restates else "")


def _claims() -> Claims:
    """Ids of claims by document and item."""
    found: Claims = {}
    for claim in (c for study in studies for c in study.claims):
        for source in claim.sources:
            for item in items(source.place) if source.document else ():
                assert source.document is not None
                ids = found.setdefault((source.document.handle, item), [])
                ids += [] if claim.id in ids else [claim.id]
    return found


def page() -> str:
    """The table as Markdown."""
    parts = [HEAD]
    for document in bibliography():
        rows = coverage(document.handle)
        if rows:
            about = sum(bool(r.claims) for r in rows)
            parts += [f"## {document.handle}\n", f"{document}. {about} of {len(rows)} items.\n"]
            parts += ["| item | claims |", "|---|---|", *map(_line, rows), ""]
    return "\n".join(parts)


def _line(row: Covered) -> str:
    reason = "open" if row.open and not row.reason else row.reason
    return f"| {row.item} | {'; '.join(filter(None, (reason, ', '.join(row.claims))))} |"


if __name__ == "__main__":
    print(page(), end="")
