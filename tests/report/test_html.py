import base64
import gzip
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from dynascope.core.charts import Chart, Panel, Path
from dynascope.core.records import (
    Claim,
    Control,
    Measured,
    StudyResult,
    result_from_plain,
    result_to_plain,
)
from dynascope.report import page
from dynascope.report.html.claims import LEFT_OUT, claims_table
from dynascope.report.html.entry import stated

from .example import example, headline
from .marks import HOSTILE, hostile

COMMAND = "dynascope run swing-by --scale laptop --set 'task.means=[1, 2]'"

VOID = {"meta", "link", "br", "img", "hr", "input"}


class Reader(HTMLParser):
    """Reads a page: its tags with attributes, its text by tag, and whether tags balance."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.text, self.ids = [], [], {}, []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.ids += [v for k, v in attrs if k == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f"{tag} closes nothing"

    def handle_data(self, data):
        for tag in set(self.open):
            self.text.setdefault(tag, []).append(data)

    def words(self, tag="body"):
        return " ".join(" ".join(self.text.get(tag, [])).split())

    def named(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


def without_plotly(text):
    """The page without the library, which is somebody else's text."""
    packed = re.search(r'<script type="text/plain" id="plotly">([A-Za-z0-9+/=]+)</script>', text)
    assert b"plotly.js" in gzip.decompress(base64.b64decode(packed[1]))[:100]
    return text.replace(packed[1], "")


@pytest.fixture(scope="module")
def text():
    return without_plotly(page(example(), COMMAND))


@pytest.fixture(scope="module")
def reader(text):
    return Reader(text)


def poisoned() -> StudyResult:
    """A result in which every text is hostile."""
    claim = Claim(
        HOSTILE,
        HOSTILE,
        HOSTILE,
        Measured(1.0),
        HOSTILE,
        "holds",
        Control(HOSTILE, Measured(1.0), "fails"),
        HOSTILE,
    )
    words = {n: HOSTILE for n in ("study", "title", "source", "scale", "fingerprint")}
    panel = replace(headline().panels[0], x_label=HOSTILE, y_label=HOSTILE)
    head = replace(headline(), title=HOSTILE, caption=HOSTILE, panels=(panel,))
    lists = {
        "notes": (HOSTILE,),
        "runs": (HOSTILE,),
        "claims": (claim,),
        "charts": (head, hostile()),
    }
    maps = {"settings": {HOSTILE: HOSTILE}, "provenance": {HOSTILE: {HOSTILE: HOSTILE}}}
    return replace(example(), **words, **lists, **maps)


def test_tags_balance_and_ids_are_unique(reader):
    assert reader.open == []
    assert len(reader.ids) == len(set(reader.ids))
    targets = [a["href"][1:] for a in reader.named("a")]
    assert targets and set(targets) <= set(reader.ids)


def test_nothing_is_loaded_from_anywhere(text):
    for pattern in (r'src\s*=\s*["\']?\s*[^"\'\s]', r"@import", r"url\(", r"https?://", r"//cdn"):
        assert not re.search(pattern, text), pattern
    assert set(re.findall(r'href="([^"]*)"', text)) - {"data:,"} <= {
        f"#{i}" for i in Reader(text).ids
    }


def test_the_browser_is_forbidden_to_load_anything(reader):
    policy = next(a for a in reader.named("meta") if a.get("http-equiv"))["content"]
    assert policy.startswith("default-src 'none'")
    assert "http" not in policy and "*" not in policy and "connect-src" not in policy


def test_charts_are_data_without_nan_and_no_button_sends_them_away(reader, text):
    scripts = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', text, re.S)
    assert len(scripts) == len(example().charts)

    def refuse(word):
        raise AssertionError(word)

    for script in scripts:
        assert "<" not in script  # nothing in the data can close its script
        data = json.loads(script, parse_constant=refuse)
        assert data["config"]["showSendToCloud"] is False
        assert data["figure"]["data"] and data["dark"]
    places = [a["data-chart"] for a in reader.named("script") if "data-chart" in a]
    assert set(places) <= set(reader.ids)


def test_every_chart_has_words_for_readers_without_scripts(reader):
    assert len(reader.named("noscript")) == len(example().charts)
    assert "dynascope export 0123456789abcdef" in reader.words("noscript")


def test_everything_of_the_record_is_on_the_page(reader):
    words = reader.words()
    result = example()
    for claim in result.claims:
        assert claim.id in words and claim.statement in words and claim.source in words
        assert claim.note in words
    for chart in result.charts:
        assert chart.title in words and chart.caption in words
    for note in (*result.notes, *result.runs, result.fingerprint):
        assert note in words
    for text in ("✓ holds", "✗ fails", "? undecided", "– not applicable"):
        assert text in words
    for text in ("0.970 (95 %: 0.930 to 1.000, n = 64)",):
        assert text in words
    for text in ("task.means 1, 2", "versions.jax 0.10.2", "seed 0", "1 min 13 s", "no control"):
        assert text in words
    assert COMMAND in words
    assert "4 claims: 1 holds, 1 fails, 1 undecided, 1 not applicable." in words


def test_verdicts_are_told_by_colour_and_word(reader):
    badges = [a["class"] for a in reader.named("span") if a.get("class", "").startswith("badge")]
    assert badges == ["badge holds", "badge fails", "badge undecided", "badge not_applicable"]


def test_the_page_can_be_used_by_keyboard(reader):
    regions = [a for a in reader.named("div") if a.get("class") in ("scroll", "plot")]
    assert regions and all(a["tabindex"] == "0" and a["aria-label"] for a in regions)
    assert reader.named("html")[0]["lang"] == "en"
    assert all(a.get("scope") for a in reader.named("th"))


def test_hostile_words_stay_words():
    text = without_plotly(page(poisoned(), HOSTILE))
    clean = without_plotly(page(example(), COMMAND))
    reader = Reader(text)
    assert reader.open == []
    assert not reader.named("img")
    kinds = {tag for tag, _ in Reader(clean).tags}
    assert {tag for tag, _ in reader.tags} <= kinds
    scripts = len(poisoned().charts) + 2  # charts, plotly.js, our own
    assert len(reader.named("script")) == scripts
    attributes = {name for _, attrs in reader.tags for name in attrs}
    assert not any(name.startswith("on") for name in attributes)
    assert " ".join(HOSTILE.split()) in reader.words("h1")


def test_an_empty_result_is_a_page_too():
    nothing = {"notes": (), "claims": (), "charts": (), "headline": None, "runs": ()}
    result = replace(example(), **nothing, settings={}, provenance={})
    reader = Reader(without_plotly(page(result, COMMAND)))
    assert reader.open == [] and "No claims." in reader.words()
    assert [a["href"] for a in reader.named("a")] == ["#main", "#provenance"]


def test_a_result_from_the_store_gives_the_same_page():
    plain = json.loads(json.dumps(result_to_plain(example())))
    assert page(result_from_plain(plain), COMMAND) == page(example(), COMMAND)


def test_both_pages_have_their_colours(text):
    assert "prefers-color-scheme: dark" in text and "@media print" in text


def test_only_charts_in_space_bring_the_whole_library():
    """The page of a flat chart is a megabyte smaller."""
    flat, space = (
        Chart("a", "A", "", (Panel((Path([0, 1], [0, 1], z),)),)) for z in (None, [0, 1])
    )
    sizes = [
        len(page(replace(example(), charts=(c,), headline=None), COMMAND)) for c in (flat, space)
    ]
    assert sizes[0] < 0.8e6 and 1e6 < sizes[1] - sizes[0] < 2e6


def test_claims_that_were_not_measured_come_last_with_their_reason_alone():
    first = replace(example().claims[0], note="what the first one tells")
    left = replace(
        first, id="swing-by/left-out", verdict="not_applicable", note="its data are not here"
    )
    table = claims_table(map(stated, (left, first)))
    rows = table.partition("</tbody>")[0].split("<tr ")[1:]
    assert ["swing-by/left-out" in row for row in rows] == [False, True]
    assert "0.970" in rows[0] and "what the first one tells" in rows[0]
    assert "0.970" not in rows[1] and 'colspan="3"' in rows[1] and "must fail" not in rows[1]
    assert rows[1].count("its data are not here") == 1
    assert LEFT_OUT in table and LEFT_OUT not in claims_table([stated(first)])
