"""The gallery as plain files: every study's page, documents, and explorers computed in advance.

The files work from a disk and from any web host: no server, no modules, nothing from elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from dynascope.core.charts import Chart
from dynascope.core.errors import bad
from dynascope.explorers import Explorer, Slider, explorers
from dynascope.explorers.moves import name_of
from dynascope.page.answers.explorers import cards, words
from dynascope.report import plotly_charts
from dynascope.report.captions import caption
from dynascope.report.html.document import document_page
from dynascope.report.html.gallery import gallery, thumbnail
from dynascope.report.html.links import Links
from dynascope.report.html.parts import escaped
from dynascope.report.html.shell import assets, whole_page
from dynascope.report.html.study import study_page
from dynascope.report.library import CARTESIAN
from dynascope.runner.entries import document_entries, study_entries
from dynascope.runtime.progress import Progress
from dynascope.store import Store

FRAMES = 13  # places of an explorer's first slider


def write_gallery(folder: Path, frames: int = FRAMES) -> Path:
    """Write all pages.

    Args:
        folder: Where to; made if needed. Files of the same names are replaced.
        frames: Places of every explorer's first slider that are computed.

    Returns:
        The first page.
    """
    if folder.exists() and not folder.is_dir():
        raise bad("--export", str(folder), "a folder")
    written: list[Chart] = []
    with Progress("gallery", len(explorers) + 1) as bar:
        for name, text, charts in _pages(frames, bar):
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text)
            written += charts
    own = files("dynascope.page").joinpath("assets")
    shared = assets(written) | {n: own.joinpath(n).read_bytes() for n in ("frames.js", "page.css")}
    (folder / "assets").mkdir(parents=True, exist_ok=True)
    for name, data in shared.items():
        (folder / "assets" / name).write_bytes(data)
    return (folder / "index.html").resolve()


def _pages(frames: int, bar: Progress) -> Iterator[tuple[str, bytes, tuple[Chart, ...]]]:
    """Every file but the shared ones: its place, its bytes, the charts in it."""
    entries = study_entries(Store())
    top, inside = Links(), Links("../")

    def page(title: str, body: str, links: Links, charts: Any = ()) -> bytes:
        head = ("Studies", links.page("index")), ("Explorers", links.page("explorers/index"))
        return whole_page(title, body, links, head, charts=charts).encode()

    yield "index.html", page("dynascope", f"<h1>Studies</h1>{gallery(entries, top)}", top), ()
    for entry in entries:
        charts = entry.result.charts if entry.result else ()
        text = page(entry.title, study_page(entry, inside), inside, charts)
        yield f"studies/{entry.name}.html", text, charts
        if entry.result and (picture := thumbnail(entry.result)):
            yield f"thumbnails/{entry.name}.png", picture, ()
    for document in document_entries():
        text = page(document.handle, document_page(document, entries, inside), inside)
        yield f"documents/{document.handle}.html", text, ()
    listing = f"<h1>Explorers</h1>{cards(lambda name: f'{name}.html')}"
    yield "explorers/index.html", page("Explorers", listing, inside), ()
    for number, explorer in enumerate(explorers, 1):
        bar.update(number, explorer.name)
        html, charts = _explorer(explorer, frames, inside)
        whole = page(explorer.title, html, inside)
        yield f"explorers/{explorer.name}.html", _with_frames(whole, inside), charts


def _with_frames(page: bytes, links: Links) -> bytes:
    """The page with what moves its frames."""
    scripts = "".join(
        f'<script src="{links.asset(n)}"></script>\n' for n in (CARTESIAN, "frames.js")
    )
    style = f'<link rel="stylesheet" href="{links.asset("page.css")}">\n</head>'
    return page.replace(b"</head>", style.encode(), 1).replace(
        b"</body>", f"{scripts}</body>".encode(), 1
    )


def _explorer(explorer: Explorer, frames: int, links: Links) -> tuple[str, tuple[Chart, ...]]:
    """The body of an explorer's page, with every frame inside."""
    slider = next(m for m in explorer.moves if isinstance(m, Slider))
    name = name_of(slider.path)
    whole = isinstance(explorer.values()[name], int)
    spaced = np.geomspace if slider.scale == "log" else np.linspace
    values = [float(f"{v:.4g}") for v in spaced(slider.low, slider.high, frames)]
    values = sorted({*(min(max(v, slider.low), slider.high) for v in values),
                     explorer.values()[name]})  # fmt: skip
    if whole:
        values = sorted({round(v) for v in values})
    found = [(value, explorer(**{name: value})) for value in values]
    shown = [{**_frame(x.chart), "value": v, "words": " ".join(x.numbers)} for v, x in found]
    data = json.dumps(shown, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    first = values.index(explorer.values()[name])
    html = f"""{words(explorer, links)}
<p class="small">Computed in advance at {len(values)} values; <code>dynascope page</code> moves
everything.</p>
<p class="controls sticky"><label for="frame">{escaped(slider.words)}</label>
<input id="frame" type="range" min="0" max="{len(values) - 1}" value="{first}">
<output for="frame"></output></p>
<p id="numbers" role="status"></p>
<figure><div class="plot" tabindex="0" role="group" aria-label="{escaped(explorer.title)}"
aria-describedby="numbers caption"><div id="chart"></div></div>
<figcaption id="caption"></figcaption></figure>
<script type="application/json" id="frames">{data}</script>"""
    return html, tuple(x.chart for _, x in found)


def _frame(chart: Chart) -> dict[str, Any]:
    figure = plotly_charts.figure(chart)
    return {"figure": figure, "narrow": plotly_charts.narrow(chart), "name": chart.name,
            "dark": plotly_charts.dark_colours(figure), "config": plotly_charts.CONFIG,
            "caption": caption(chart)}  # fmt: skip
