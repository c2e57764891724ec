"""Pages of a site: gallery, study, document; with results, without, and with hostile words."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from dynascope.report import assets, document_page, gallery, study_page, thumbnail, whole_page
from dynascope.report.html.differences import differences
from dynascope.report.html.document import DocumentEntry, Item
from dynascope.report.html.entry import Stated, StudyEntry, stated
from dynascope.report.html.links import Links

from .example import example
from .marks import HOSTILE
from .test_html import Reader, poisoned

LINKS = Links("../")


def entry(result=None, **changes) -> StudyEntry:
    result = result or example()
    claims = tuple(replace(stated(c), documents=("yang2025",)) for c in result.claims)
    given = StudyEntry(
        result.study, result.title, "swing-by", result.source, ("yang2025",), claims,
        result.notes, result.settings, result, True, "dynascope run x",
    )  # fmt: skip
    return replace(given, **changes)


def not_run() -> StudyEntry:
    claims = tuple(replace(c, judged=None, must_fail="no noise") for c in entry().claims)
    return replace(entry(), name="other", claims=claims, result=None, command="dynascope run other")


def page_of(body: str, charts=()) -> Reader:
    return Reader(whole_page("T", body, LINKS, [("Gallery", "../gallery.html")], charts=charts))


def test_a_study_shows_claims_charts_and_settings():
    reader = page_of(study_page(entry(), LINKS), example().charts)
    assert reader.open == [] and len(reader.ids) == len(set(reader.ids))
    words = reader.words()
    for claim in example().claims:
        assert claim.id in words and claim.statement in words
    assert "0.970 (95 %: 0.930 to 1.000, n = 64)" in words and "task.means 1, 2" in words
    loaded = [a["src"] for a in reader.named("script") if "src" in a]
    assert loaded == ["../assets/plotly-full.js", "../assets/report.js"]
    assert set(name.partition("assets/")[2] for name in loaded) <= set(assets(example().charts))


def test_the_measured_number_says_what_it_is():
    claims = (replace(entry().claims[0], quantity="Share of seeds that swing by."),)
    assert (
        "Share of seeds that swing by." in page_of(study_page(entry(claims=claims), LINKS)).words()
    )


def test_a_study_that_was_not_run_says_so_and_has_no_verdict():
    reader = page_of(study_page(not_run(), LINKS))
    words = reader.words()
    assert "Nothing is stored of this study" in words and "dynascope run other" in words
    assert "✓" not in words and "0.970" not in words and "must fail: no noise" in words
    assert not reader.named("script")
    assert not [a for a in reader.named("span") if a.get("class") == "badge holds"]


def test_an_outdated_result_says_so():
    assert "judged by other words" in study_page(entry(current=False), LINKS)
    assert "judged by other words" not in study_page(entry(), LINKS)
    old = tuple(replace(c, current=False) for c in entry().claims)
    assert "outdated" in study_page(entry(claims=old), LINKS)
    assert "outdated" not in study_page(entry(), LINKS)
    assert "outdated" in gallery([entry(current=False)], LINKS)


def test_the_gallery_has_a_card_for_every_study_with_its_tally():
    reader = page_of(gallery([entry(), not_run()], LINKS))
    cards = [a["href"] for a in reader.named("a") if a.get("class") == "card"]
    assert cards == ["../studies/other.html", f"../studies/{example().study}.html"]
    assert [a["src"] for a in reader.named("img")] == [f"../thumbnails/{example().study}.png"]
    words = reader.words()
    assert "✓ 1 holds" in words and "· 4 not run" in words and "not run yet" in words


def test_a_document_shows_its_items_with_claims_and_verdicts():
    claim = example().claims[0]
    items = (Item("Fig. 1", (claim.id,)), Item("Fig. 2", (), "a drawing"))
    document = DocumentEntry("yang2025", "Title", "Authors: Title. 2025", items)
    other = entry(name="elsewhere", documents=("chen2025",))
    reader = page_of(document_page(document, [entry(), other], LINKS))
    words = reader.words()
    assert f"Fig. 1 {claim.id}" in words and "Fig. 2 a drawing" in words
    assert LINKS.claim(claim.id) in [a["href"] for a in reader.named("a")]
    assert "studies/elsewhere" not in str(reader.named("a"))


def test_a_statement_as_printed_stands_beside_its_correction():
    printed = Stated("a/b-as-printed", "It is 2.", "Thm. 1", partner="a/b")
    corrected = Stated("a/b", "It is 3.", "corrects Thm. 1", how="corrects", partner=printed.id)
    third = Stated("a/c", "It is 4.", "Thm. 1", how="derived", partner=printed.id)
    alone = Stated("a/d", "It is 5.", "Thm. 2")
    found = differences((corrected, printed, third, alone))
    assert [(d.printed.id, [c.id for c in d.ours]) for d in found] == [
        (printed.id, [corrected.id, third.id])
    ]


def test_where_nothing_tells_the_failing_claim_is_the_document_s():
    holds, fails = (stated(c) for c in example().claims[:2])
    assert (holds.verdict, fails.verdict) == ("holds", "fails")
    pair = replace(holds, partner=fails.id), replace(fails, partner=holds.id)
    assert [d.printed.id for d in differences(pair)] == [fails.id]


def test_what_fails_is_a_difference_and_what_holds_is_none():
    found = differences(map(stated, example().claims))
    assert [d.printed.verdict for d in found] == ["fails"]


@pytest.mark.parametrize("render", ["study", "gallery", "document"])
def test_hostile_words_stay_words(render):
    bad = entry(poisoned())
    claims = tuple(replace(c, documents=("h",)) for c in bad.claims)
    bad = replace(bad, phenomenon=HOSTILE, documents=("h",), claims=claims, command=HOSTILE)
    document = DocumentEntry("h", HOSTILE, HOSTILE, (Item(HOSTILE, (HOSTILE,), HOSTILE),))
    body = {
        "study": lambda: study_page(bad, LINKS),
        "gallery": lambda: gallery([bad, replace(bad, result=None)], LINKS),
        "document": lambda: document_page(document, [bad], LINKS),
    }[render]()
    reader = Reader(whole_page(HOSTILE, body, LINKS, [(HOSTILE, "x.html")]))
    assert reader.open == []
    attributes = {name for _, attrs in reader.tags for name in attrs}
    assert not any(name.startswith("on") for name in attributes)
    assert "<script>alert" not in body and not re.search(r"<img src=x", body)


def test_a_thumbnail_is_a_small_picture():
    png = thumbnail(example())
    assert png[:4] == b"\x89PNG" and len(png) < 60_000
    assert thumbnail(replace(example(), charts=(), headline=None)) is None
