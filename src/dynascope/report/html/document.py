"""The page of a document: what it states, item by item, and what became of each statement."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dynascope.report.html.claims import badge, claims_table, verdict_badge
from dynascope.report.html.differences import difference_sheet
from dynascope.report.html.entry import Stated, StudyEntry, tally
from dynascope.report.html.gallery import cards
from dynascope.report.html.links import Links
from dynascope.report.html.parts import contents, escaped, scrolling, section


@dataclass(frozen=True)
class Item:
    """A numbered figure, table or theorem, and the claims about it or why there are none."""

    name: str
    claims: tuple[str, ...]  # ids
    reason: str = ""


@dataclass(frozen=True)
class DocumentEntry:
    """A document of the bibliography with its numbered items."""

    handle: str
    title: str
    citation: str
    items: tuple[Item, ...] = ()


def document_page(document: DocumentEntry, entries: Iterable[StudyEntry], links: Links) -> str:
    """The body of a document's page.

    Args:
        document: Which one.
        entries: All studies; what is not about the document is left out.
        links: Where other pages are.

    Returns:
        HTML for `shell.whole_page`, without scripts.
    """
    about = [e for e in entries if document.handle in e.documents]
    claims = tuple(c for e in about for c in e.claims if document.handle in c.documents)
    known = {c.id: c for e in entries for c in e.claims}
    sections = [
        section("differences", "What we read differently", difference_sheet(claims, links.claim)),
        section("items", "Item by item", _items(document, known, links)),
        section("studies", "Studies", cards(about, links) if about else ""),
        section("claims", "All claims", claims_table(claims)),
    ]
    shown = [s for s in sections if s]
    badges = " ".join(badge(verdict, n) for verdict, n in tally(claims))
    return "\n".join((
        f"<h1>{escaped(document.title)}</h1>",
        f'<p class="source">{escaped(document.handle)}: {escaped(document.citation)}</p>',
        f'<p class="tally">{badges}</p>',
        "<p>A claim that <em>fails</em> is a statement of the document that the measurement "
        "contradicts. Verdicts come from the results that are stored here.</p>",
        contents(shown),
        *(body for _, _, body in shown),
    ))


def _items(document: DocumentEntry, known: dict[str, Stated], links: Links) -> str:
    if not document.items:
        return ""
    body = "\n".join(
        f'<tr><th scope="row">{escaped(item.name)}</th>'
        f"<td>{'; '.join(filter(None, (escaped(item.reason), _named(item, known, links))))}"
        "</td></tr>"
        for item in document.items
    )
    return scrolling(f'<table class="rows"><tbody>\n{body}\n</tbody></table>', "Numbered items")


def _named(item: Item, known: dict[str, Stated], links: Links) -> str:
    return " ".join(
        f'<a class="claim" href="{escaped(links.claim(c))}"><code>{escaped(c)}</code></a> '
        f"{verdict_badge(known[c]) if c in known else badge('not_run')}"
        for c in item.claims
    )
