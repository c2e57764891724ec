"""Which claim is about which numbered item of a document, and why none is.

`python -m dynascope.studies.coverage > docs/items.md` writes the table.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from dynascope.core.choices import SCALES
from dynascope.core.items import items, numbers
from dynascope.core.sources import documents
from dynascope.studies import bibliography, studies
from dynascope.studies.nodes import Function, Node, Together
from dynascope.studies.study import ClaimSpec, Study

HEAD = """\
# Numbered items of the documents

Made by `python -m dynascope.studies.coverage > docs/items.md` from the claims themselves: every
numbered figure, table, theorem, lemma, proposition, corollary and observation, with the claims
that are about it, or the reason why none is. Claims that no scale measures, such as those of data
that were not to be had, stand apart and cover nothing.

Verdicts: `dynascope claims --source HANDLE`.
"""


Claims = dict[tuple[str, str], list[str]]  # ids by document and item


@dataclass(frozen=True)
class Covered:
    """A numbered item with the claims about it, or the reason why there are none."""

    document: str
    item: str
    claims: tuple[str, ...]
    reason: str
    unmeasured: tuple[str, ...] = ()  # claims that no scale measures

    @property
    def open(self) -> bool:
        """Whether a claim is still to come."""
        return not self.claims and (not self.reason or self.reason.startswith("open"))


def coverage(handle: str | None = None) -> list[Covered]:
    """All numbered items of a document, or of all documents."""
    known = tomllib.loads(files("dynascope.studies").joinpath("items.toml").read_text("utf-8"))
    claims = _claims(measured=True), _claims(measured=False)
    return [row for name in known if handle in (None, name) for row in _rows(name, known, *claims)]


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


def _rows(name: str, known: dict[str, Any], claims: Claims, unmeasured: Claims) -> Any:
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
        reason = reason if not found or item in restates else ""
        yield Covered(name, item, tuple(found), reason, tuple(unmeasured.get((name, item), ())))


def _claims(measured: bool) -> Claims:
    """Ids of claims by document and item: of those that some scale measures, or none."""
    found: Claims = {}
    for study, claim in ((s, c) for s in studies for c in s.claims):
        if _is_measured(study, claim) != measured:
            continue
        for source in claim.sources:
            for item in items(source.place) if source.document else ():
                assert source.document is not None
                ids = found.setdefault((source.document.handle, item), [])
                ids += [] if claim.id in ids else [claim.id]
    return found


def _is_measured(study: Study, claim: ClaimSpec) -> bool:
    """Whether some scale leaves nothing out without which the claim's own case is missing."""
    reasons = [why for node in claim.on.nodes for why in _needed(node)]
    return any(not any(why(s) for why in reasons) for s in map(study.at, SCALES))


def _needed(node: Node) -> Iterator[Callable[[Any], str | None]]:
    """By which rules a node may be left out; some of several may be, so these have none."""
    if isinstance(node, Together):
        return
    if isinstance(node, Function) and node.only_if:
        yield node.only_if
    for before in node.inputs:
        yield from _needed(before)


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
    apart = f"not measured: {', '.join(row.unmeasured)}" if row.unmeasured else ""
    return f"| {row.item} | {'; '.join(filter(None, (reason, ', '.join(row.claims), apart)))} |"


if __name__ == "__main__":
    print(page(), end="")
