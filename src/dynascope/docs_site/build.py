"""Builds the site: writes every page, picture and shared file into a folder."""

from __future__ import annotations

import shutil
from pathlib import Path

from dynascope.docs_site import api
from dynascope.docs_site.markdown import Text, code_styles
from dynascope.docs_site.plan import GROUPS, NAVIGATION, PAGES
from dynascope.report.html.claims import badge
from dynascope.report.html.document import DocumentEntry, document_page
from dynascope.report.html.entry import StudyEntry, tally
from dynascope.report.html.gallery import gallery, thumbnail
from dynascope.report.html.links import Links
from dynascope.report.html.parts import escaped
from dynascope.report.html.shell import assets, whole_page
from dynascope.report.html.study import study_page
from dynascope.runner import document_entries, study_entries
from dynascope.store import Store

MADE = "made-by-dynascope"  # only a folder with this file is cleared


class Site:
    """A site that is being written.

    Args:
        root: The repository: where `docs` and the README are.
        out: The folder to write into.
        studies: What is known of every study.
    """

    def __init__(self, root: Path, out: Path, studies: list[StudyEntry]) -> None:
        self.root, self.out, self.studies = root, out, studies
        self.names = {entry.name for entry in studies}

    def write(self, place: str, content: str | bytes) -> None:
        """Write a file of the site."""
        path = self.out / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def page(self, place: str, title: str, body: str, aside: str = "", charts: tuple = ()) -> None:
        """Write a page with the site's head."""
        links = links_from(place)
        heads = [(words, links.page(to)) for words, to in NAVIGATION]
        whole = whole_page(f"{title} · dynascope", body, links, heads, charts=charts, aside=aside)
        self.write(f"{place}.html", whole)

    def text(self, place: str, title: str, source: str, text: str, aside: str) -> None:
        """Write a page from Markdown, and copy the pictures that it shows."""
        made = Text(source, text, links_from(place), self.names)
        self.page(place, title, made.html(), aside)
        for picture in made.pictures:
            self.write(f"pictures/{Path(picture).name}", (self.root / picture).read_bytes())


def links_from(place: str) -> Links:
    """Addresses as seen from a page."""
    return Links("../" * place.count("/"))


def build(root: Path, out: Path, store: Store | None = None) -> list[Path]:
    """Build the whole site; nothing is run.

    Args:
        root: The repository.
        out: The folder; what an earlier build left there is removed.
        store: Where results are; the results folder by default.

    Returns:
        The HTML files.
    """
    if out.exists() and any(out.iterdir()) and not (out / MADE).exists():
        raise FileExistsError(17, "it has other files in it; name an empty folder", str(out))
    shutil.rmtree(out, ignore_errors=True)
    site = Site(root, out, study_entries(store or Store()))
    site.write(MADE, "This folder is written anew by make docs.\n")
    for page in PAGES:
        text = (root / page.source).read_text(encoding="utf-8")
        site.text(page.place, page.title, page.source, text, _aside(page.place))
    _write_studies(site)
    _write_documents(site, document_entries())
    _write_api(site)
    for name, content in assets(
        c for e in site.studies if e.result for c in e.result.charts
    ).items():
        more = code_styles().encode() if name == "site.css" else b""
        site.write(f"assets/{name}", content + more)
    return sorted(out.rglob("*.html"))


def _aside(place: str) -> str:
    """The list of all written pages, with this one marked."""
    return _list({g: [(p.title, p.place) for p in pages] for g, pages in GROUPS.items()}, place)


def _list(groups: dict[str, list[tuple[str, str]]], here: str) -> str:
    links = links_from(here)

    def item(title: str, place: str) -> str:
        current = ' aria-current="page"' if place == here else ""
        return f'<li><a href="{links.page(place)}"{current}>{escaped(title)}</a></li>'

    return "\n".join(
        f"<strong>{escaped(group)}</strong><ul>{''.join(item(*p) for p in pages)}</ul>"
        for group, pages in groups.items()
    )


def _write_studies(site: Site) -> None:
    run = [e for e in site.studies if e.result]
    total = sum(len(e.claims) for e in site.studies)
    words = (
        f"<p>{len(site.studies)} studies with {total} claims, by phenomenon. "
        f"{len(run)} of them have a stored result here; the others show their claims "
        "without verdicts. A claim that <em>fails</em> is a statement of a document that the "
        "measurement contradicts.</p>"
    )
    body = f"<h1>Gallery</h1>\n{words}\n{gallery(site.studies, links_from('gallery'))}"
    site.page("gallery", "Gallery", body)
    for entry in site.studies:
        place = f"studies/{entry.name}"
        charts = entry.result.charts if entry.result else ()
        site.page(place, entry.title, study_page(entry, links_from(place)), charts=charts)
        picture = thumbnail(entry.result) if entry.result else None
        if picture:
            site.write(f"thumbnails/{entry.name}.png", picture)


def _write_documents(site: Site, documents: list[DocumentEntry]) -> None:
    links, parts = links_from("documents"), ["<h1>Documents</h1>"]
    for each in documents:
        place = f"documents/{each.handle}"
        site.page(place, each.title, document_page(each, site.studies, links_from(place)))
        claims = tuple(c for e in site.studies for c in e.claims if each.handle in c.documents)
        badges = " ".join(badge(verdict, n) for verdict, n in tally(claims))
        parts.append(
            f'<h2><a href="{links.document(each.handle)}">{escaped(each.title)}</a></h2>\n'
            f'<p class="source">{escaped(each.handle)}: {escaped(each.citation)}</p>\n'
            f'<p class="tally">{badges}</p>'
        )
    site.page("documents", "Documents", "\n".join(parts))


def _write_api(site: Site) -> None:
    pages = api.packages()
    groups = {"API": [("All packages", "api"), *((name, f"api/{name}") for name in pages)]}
    rows = "\n".join(
        f'<tr><th scope="row"><a href="api/{name}.html"><code>{name}</code></a></th>'
        f"<td>{escaped(words)}</td></tr>"
        for name, words in pages.items()
    )
    body = "<h1>API</h1>\n<p>Made from docstrings. The package is imported as "
    body += f"<code>import dynascope as ds</code>.</p>\n<table><tbody>{rows}</tbody></table>"
    site.page("api", "API", body, _list(groups, "api"))
    for name in pages:
        place = f"api/{name}"
        site.text(place, f"ds.{name}", "docs/api", api.page(name), _list(groups, place))
