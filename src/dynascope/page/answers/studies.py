"""The gallery, the page of a study, the page of a document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dynascope.core.errors import StoreError, unknown
from dynascope.core.records import StudyResult
from dynascope.page.answers.pages import body
from dynascope.page.answers.running import settings_form
from dynascope.page.links import LiveLinks
from dynascope.report.html.document import document_page
from dynascope.report.html.entry import StudyEntry
from dynascope.report.html.gallery import gallery as gallery_html
from dynascope.report.html.gallery import thumbnail
from dynascope.report.html.parts import escaped
from dynascope.report.html.study import study_page
from dynascope.report.library import bundle
from dynascope.runner.entries import document_entries, study_entry
from dynascope.store import Store
from dynascope.store.index import Entry
from dynascope.studies import studies

EMPTY = """<div class="notice" id="empty"><p>Nothing is stored yet. Begin with
<a href="/explore/swing-by">an explorer</a>, or run your first study:
<a href="/studies/swing-by">swing-by</a> at scale smoke takes about half a minute.</p></div>"""
_entries: dict[str, tuple[str, StudyEntry]] = {}  # by study: version and entry
_pictures: dict[str, tuple[str, bytes | None]] = {}


def _newest(store: Store) -> dict[str, Entry]:
    """By study the newest record of a result."""
    found: dict[str, Entry] = {}
    for entry in store.runs("study"):
        if not entry.damaged:
            found.setdefault(entry.study, entry)
    return found


def _version(entry: Entry | None) -> str:
    return f"{entry.id}-{entry.created}" if entry else ""


def _entry(name: str, newest: Entry | None, store: Store) -> StudyEntry:
    """A study with its newest result, read again only if that is another one."""
    version = _version(newest)
    if name not in _entries or _entries[name][0] != version:
        result = None
        if newest:
            try:
                result = store.load(newest.id)
            except StoreError:  # it has vanished since it was listed
                result = None
        known = result if isinstance(result, StudyResult) else None
        _entries[name] = version, study_entry(studies.get(name), known)
    return _entries[name][1]


def all_entries() -> tuple[list[StudyEntry], LiveLinks]:
    """Every study with its newest result, and addresses."""
    store = Store()
    newest = _newest(store)
    found = [_entry(s.name, newest.get(s.name), store) for s in studies]
    versions = tuple((name, _version(entry)) for name, entry in newest.items())
    return found, LiveLinks(versions=versions)


def gallery() -> dict[str, Any]:
    """All studies by phenomenon."""
    entries, links = all_entries()
    run = sum(e.result is not None for e in entries)
    head = f"<h1>Studies</h1>\n<p>{len(entries)} studies, {run} of them with stored results.</p>"
    return body("dynascope", f"{head}\n{'' if run else EMPTY}\n{gallery_html(entries, links)}")


def study(name: str, record: str = "") -> dict[str, Any]:
    """The page of a study, with its newest result or that of a record."""
    declared, store = studies.get(name), Store()
    own = [e for e in store.runs("study") if e.study == name and not e.damaged]
    if record:
        result = store.load(record)
        if not isinstance(result, StudyResult) or result.study != name:
            raise unknown(f"result of {name}", record, [e.id for e in own])
        entry = study_entry(declared, result)
    else:
        entry = _entry(name, own[0] if own else None, store)
    form = settings_form(name, entry.result.scale if entry.result else "smoke")
    run = f'<section id="run-it"><h2>Run</h2>\n{form}</section>'
    html = study_page(entry, LiveLinks())
    html = html.replace("<section", f"{run}\n<section", 1)
    charts = entry.result.charts if entry.result else ()
    # Charts that grow during a run need the library even where nothing is stored.
    return body(name, html + _records(own, record), bundle(charts), ("filter.js", "run.js"))


def _records(own: list[Entry], shown: str) -> str:
    """The stored results of a study, of which two can be compared."""
    if not own:
        return ""
    here = ' aria-current="page"'
    rows = "\n".join(
        f'<tr><td><label><input type="checkbox" name="id" value="{escaped(e.id)}"> compare'
        f'</label></td><td><a href="?record={escaped(e.id)}"{here if e.id == shown else ""}>'
        f"<code>{escaped(e.id)}</code></a></td><td>{escaped(e.label)}</td>"
        f"<td>{escaped(e.created[:16].replace('T', ' '))}</td></tr>"
        for e in own
    )
    return f"""<section id="stored"><h2>Stored results</h2>
<form action="/compare" method="get"><table>{rows}</table>
<p><button type="submit">Compare two</button></p></form></section>"""


def document(handle: str) -> dict[str, Any]:
    """The page of a document."""
    entries, links = all_entries()
    found = {d.handle: d for d in document_entries()}
    if handle not in found:
        raise unknown("document", handle, found)
    return body(handle, document_page(found[handle], entries, links))


def thumbnail_of(name: str) -> bytes | None:
    """The small picture of a study's newest result."""
    studies.get(name)
    store = Store()
    newest = _newest(store).get(name)
    version = _version(newest)
    if name not in _pictures or _pictures[name][0] != version:
        result = _entry(name, newest, store).result
        _pictures[name] = version, thumbnail(result) if result else None
    return _pictures[name][1]


def warm_up() -> Iterator[None]:
    """Entries and pictures of every study."""
    entries, _ = all_entries()
    yield
    for entry in entries:
        if entry.result:
            thumbnail_of(entry.name)
            yield
