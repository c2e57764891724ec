"""The documentation site: every page is made, every link leads somewhere, on the disk alone."""

from __future__ import annotations

import re
import urllib.parse
from pathlib import Path

import pytest

import dynascope
from dynascope.core.errors import BadInput
from dynascope.core.sources import documents
from dynascope.docs_site import api
from dynascope.docs_site.markdown import Text
from dynascope.docs_site.plan import PAGES, PLACES
from dynascope.report.html.links import Links

ROOT = Path(__file__).resolve().parents[2]


def test_every_page_of_the_plan_exists_and_every_page_is_in_the_plan():
    written = {p.relative_to(ROOT).as_posix() for p in ROOT.glob("docs/*.md")}
    planned = {page.source for page in PAGES}
    assert written <= planned
    assert all((ROOT / source).exists() for source in planned)
    assert len({page.place for page in PAGES}) == len(PAGES)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.place)
def test_links_between_written_pages_resolve(page):
    """An unknown file in a link is an error of the build, so a page that renders has none."""
    text = (ROOT / page.source).read_text(encoding="utf-8")
    made = Text(page.source, text, Links()).html()
    assert made.startswith("<h1")
    anchors = {}
    for href in re.findall(r'href="([^"#:]*)#([^"]+)"', made):
        source = next(s for s, place in PLACES.items() if f"{place}.html" == href[0])
        other = (ROOT / source).read_text(encoding="utf-8")
        anchors[href] = f'id="{href[1]}"' in Text(source, other, Links()).html()
    assert all(anchors.values()), anchors


def test_a_link_to_no_page_is_refused():
    with pytest.raises(BadInput, match="no-such-page"):
        Text("docs/a.md", "[x](no-such-page.md)", Links()).html()


def test_cells_know_the_heads_of_their_columns():
    """Narrow screens put the cells of a row below each other, each after its head."""
    table = "| a | `b` |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n"
    html = Text("docs/a.md", table, Links("")).html()
    assert html.count('<td data-head="b">') == 2 and html.count('<td data-head="">') == 2


def test_names_of_studies_become_links_but_not_inside_links():
    links = Links("../")
    made = Text("docs/a.md", "`polyak` [`polyak`](json.md) `other`", links, {"polyak"}).html()
    assert made.count('href="../studies/polyak.html"') == 1
    assert "<code>other</code>" in made


@pytest.mark.parametrize("name", api.packages())
def test_the_api_has_every_public_name_with_its_words(name):
    text = api.page(name)
    names = getattr(getattr(dynascope, name, None), "__all__", None) or ()
    missing = [n for n in names if f"### {n}\n" not in text]
    assert not missing
    assert " at 0x" not in text  # an address would differ from build to build
    assert "ForwardRef" not in text


def hrefs(page: Path) -> list[str]:
    found = re.findall(r'(?:href|src)="([^"]*)"', page.read_text(encoding="utf-8"))
    return [h.replace("&amp;", "&") for h in found if not re.match("data:|https://", h)]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The whole site, with one stored result of a study that takes a second."""
    from dynascope.docs_site.build import build
    from dynascope.runner import run
    from dynascope.store import Store

    folder = tmp_path_factory.mktemp("site")
    store = Store(folder / "home")
    run("graph-pairs", "smoke", store=store, progress=False)
    build(ROOT, folder / "built", store)
    return folder / "built"


@pytest.mark.slow
def test_every_link_leads_to_a_file_and_an_anchor_of_the_site(site):
    pages = sorted(site.rglob("*.html"))
    ids = {p: set(re.findall(r'id="([^"]+)"', p.read_text(encoding="utf-8"))) for p in pages}
    assert len(pages) > 90
    broken = []
    for page in pages:
        for href in hrefs(page):
            file, _, place = href.partition("#")
            target = (page.parent / urllib.parse.unquote(file)).resolve() if file else page
            if not target.is_file() or (place and place not in ids[target]):
                broken.append(f"{page.relative_to(site)}: {href}")
    assert not broken, broken[:20]


@pytest.mark.slow
def test_every_study_and_document_has_its_page_and_says_what_is_not_run(site):
    from dynascope.studies import studies

    for name in studies.names():
        text = (site / "studies" / f"{name}.html").read_text(encoding="utf-8")
        assert ("Nothing is stored of this study" in text) == (name != "graph-pairs")
        assert all(claim.id in text for claim in studies.get(name).claims)
    for handle in documents.names():
        assert (site / "documents" / f"{handle}.html").exists()
    assert (site / "thumbnails" / "graph-pairs.png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.slow
def test_only_its_own_folder_is_written_anew(site, tmp_path):
    from dynascope.docs_site.__main__ import main

    (tmp_path / "mine.txt").write_text("mine")
    assert main(["--root", str(ROOT), "--out", str(tmp_path)]) == 2
    assert (tmp_path / "mine.txt").read_text() == "mine"


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1300])
@pytest.mark.parametrize(
    "page", ["index", "gallery", "studies/graph-pairs", "documents/chen2025", "api/probes"]
)
def test_a_page_fits_its_window_and_draws(site, page, width):
    from tests.report.browser import open_browser

    with open_browser() as tab:
        opened = tab(width)
        errors: list[str] = []
        opened.on("pageerror", lambda e: errors.append(str(e)))
        opened.goto((site / f"{page}.html").as_uri())
        opened.wait_for_timeout(500)
        assert opened.evaluate("document.documentElement.scrollWidth") <= width
        if page.startswith("studies/"):
            opened.wait_for_selector(".js-plotly-plot .trace")
        assert errors == []
