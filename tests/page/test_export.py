"""The static gallery: plain files whose links all lead somewhere, in a browser without a server."""

import re
from urllib.parse import unquote

import pytest
from tests.report.browser import open_browser

from dynascope.core.errors import BadInput
from dynascope.page import export

from .served import put_run


@pytest.fixture
def few(monkeypatch, tmp_path):
    """Two explorers that compile nothing, and a small store."""
    monkeypatch.setenv("DYNASCOPE_HOME", str(tmp_path / "home"))
    put_run()
    chosen = [export.explorers.get(name) for name in ("balance", "graph-classes")]
    monkeypatch.setattr(export, "explorers", chosen)
    return tmp_path


@pytest.mark.slow
def test_every_link_leads_to_a_file_and_a_frame_is_drawn_from_the_disk(few):
    index = export.write_gallery(few / "gallery", frames=3)
    pages = list(index.parent.rglob("*.html"))
    assert len(pages) > 50
    broken = [
        (page.name, link)
        for page in pages
        for link in re.findall(r'(?:href|src)="([^"#?]+)', page.read_text(encoding="utf-8"))
        if not link.startswith("data:") and not (page.parent / unquote(link)).exists()
    ]
    # The list of explorers names all of them; two were written.
    assert {link for _, link in broken} <= {f"{n}.html" for n in _all_names()}
    with open_browser() as tab:
        page = tab(900)
        wrong = []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda m: wrong.append(m.text) if m.type == "error" else None)
        page.goto((index.parent / "explorers" / "balance.html").as_uri())
        page.wait_for_function("document.documentElement.dataset.moved === '1'")
        first = page.locator("#numbers").text_content()
        page.locator("#frame").fill("0")
        page.wait_for_function("document.documentElement.dataset.moved === '2'")
        assert page.locator("#numbers").text_content() != first
        assert page.locator("#chart .main-svg").count() > 0 and wrong == []


def _all_names():
    from dynascope.explorers import explorers

    return explorers.names()


def test_a_file_in_the_way_is_said(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(BadInput, match="a folder"):
        export.write_gallery(tmp_path / "taken")
