"""Records: the list, one record as charts, two side by side, as files, and forgotten."""

from __future__ import annotations

import json
import tempfile
import zipfile
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import xarray as xr

from dynascope.core.charts import Chart, Line, Panel, Points
from dynascope.core.choices import FORMS, ORDERS, RECORD_KINDS
from dynascope.core.errors import bad, unknown
from dynascope.core.records import Claim, StudyResult
from dynascope.page.answers.pages import body
from dynascope.page.drawing import drawn
from dynascope.page.record_charts import variable_chart, variables
from dynascope.report import plotly_charts
from dynascope.report.html.claims import badge
from dynascope.report.html.parts import escaped, rows, scrolling
from dynascope.report.library import CARTESIAN
from dynascope.report.settings import setting_rows
from dynascope.report.words import duration, measured_words, size
from dynascope.runner.comparing import compare as compare_records
from dynascope.runner.remake import remake
from dynascope.runner.reporting import forget as forget_record
from dynascope.store import Store, index
from dynascope.store.index import Entry

AT_ONCE = 100
PLACES = 2000  # of the step slider, about
KEPT = 4  # datasets that stay in memory
_loaded: OrderedDict[tuple, Any] = OrderedDict()


def _load(name: str) -> tuple[Entry, Any]:
    """A record's line and content; the last few stay in memory while they are as they were."""
    store = Store()
    found = index.resolve(store.records, name)
    entry = next((e for e in store.runs() if e.id == found), None)
    if entry is None:
        raise unknown("record", name, [])
    key = (entry.id, entry.created, entry.outcome, entry.size)
    if key not in _loaded:
        _loaded[key] = store.load(entry.id)
        while len(_loaded) > KEPT:
            _loaded.popitem(last=False)
    _loaded.move_to_end(key)
    return entry, _loaded[key]


def listing(search: str, kind: str, study: str, sort: str, first: int) -> dict[str, Any]:
    """The list of records: what matches, sorted, a page of it."""
    if kind and kind not in RECORD_KINDS:
        raise unknown("kind", kind, RECORD_KINDS)
    if sort not in ORDERS:
        raise unknown("order", sort, ORDERS)
    everything = Store().runs()
    found = [
        e
        for e in everything
        if (not kind or e.kind == kind)
        and (not study or e.study == study)
        and search.lower() in f"{e.id} {e.label} {e.outcome}".lower()
    ]
    found.sort(key=ORDERS[sort])
    shown = found[first : first + AT_ONCE]
    lines = "\n".join(map(_line, shown))
    table = scrolling(
        '<table class="records"><thead><tr><th></th><th>record</th><th>kind</th><th>label</th>'
        "<th>outcome</th><th>size</th><th>took</th><th>made</th></tr></thead>"
        f"<tbody>{lines}</tbody></table>", "Records",
    )  # fmt: skip
    empty = '<p class="notice">Nothing matches.</p>' if everything else (
        '<p class="notice" id="empty">Nothing is stored yet: '
        '<a href="/studies/swing-by">run a study</a> first.</p>')  # fmt: skip
    asked = {"search": search, "kind": kind, "study": study, "sort": sort}
    steps = [(word, to) for word, to in (("Previous", first - AT_ONCE), ("Next", first + AT_ONCE))
             if 0 <= to < len(found)]  # fmt: skip
    turn = " ".join(f'<a href="?{escaped(urlencode({**asked, "first": to}))}">{word}</a>'
                    for word, to in steps)  # fmt: skip
    html = f"""<h1>Records</h1>
<form class="controls" action="/records" method="get">
<label>search <input type="search" name="search" value="{escaped(search)}"></label>
{_select("kind", ("", *RECORD_KINDS), kind)}
{_select("study", ("", *sorted({e.study for e in everything if e.study})), study)}
{_select("sort", tuple(ORDERS), sort)} <button type="submit">Show</button></form>
<p>{len(found):,} of {len(everything):,} records, {size(sum(e.size for e in found))}.</p>
<form action="/compare" method="get">{table if found else empty}
<p class="controls"><button type="submit"{"" if found else " hidden"}>Compare two</button>
{turn}</p></form>"""
    return body("Records", html, scripts=("forget.js",))


def _select(name: str, options: tuple[str, ...], chosen: str) -> str:
    shown = "".join(
        f'<option value="{escaped(o)}"{" selected" if o == chosen else ""}>{escaped(o or "all")}'
        "</option>"
        for o in options
    )
    return f'<label>{name} <select name="{name}">{shown}</select></label>'


def _line(e: Entry) -> str:
    name = escaped(e.id)
    forget = f'<button type="button" data-forget="{name}">Forget</button>'
    if e.damaged:
        return (f'<tr><td></td><td><code>{name}</code></td><td colspan="5">damaged: '
                f"{escaped(e.damaged)}</td><td>{forget}</td></tr>")  # fmt: skip
    made = escaped(e.created[:16].replace("T", " "))
    return (
        f'<tr><td><input type="checkbox" name="id" value="{name}" aria-label="compare {name}"></td>'
        f'<td><a href="/records/{name}"><code>{name}</code></a></td><td>{escaped(e.kind)}</td>'
        f"<td>{escaped(e.label)}</td><td>{escaped(e.outcome)}</td><td>{size(e.size)}</td>"
        f"<td>{duration(e.seconds)}</td><td>{made} {forget}</td></tr>"
    )


def record(name: str) -> dict[str, Any]:
    """The page of a record: charts with one step slider, settings, how to make it again."""
    entry, content = _load(name)
    store = Store()
    manifest = store.manifest(entry.id)
    if isinstance(content, StudyResult):
        return {"study": content.study, "record": entry.id}
    head = f"""<h1>{escaped(entry.label or entry.id)}</h1>
<p class="source">{escaped(entry.kind)} <code>{escaped(entry.id)}</code> · {escaped(entry.outcome)}
· {size(entry.size)} · {escaped(entry.created[:16].replace("T", " "))}</p>
<p class="controls"><span>Export as {_exports(entry)}</span>
<button type="button" data-forget="{escaped(entry.id)}" data-then="/records">Forget</button></p>"""
    charts = _charts(entry, content) if isinstance(content, xr.Dataset) else _arrays(content)
    again = f"<pre><code>{escaped(remake(store, entry.id, manifest))}</code></pre>"
    settings = rows([r for r in setting_rows(manifest["spec"]) if r[0]], "Settings")
    html = f"""{head}\n{charts}
<section id="settings"><h2>Settings</h2>{settings}</section>
<section id="again"><h2>To make it again</h2>{again}</section>"""
    return body(entry.label or entry.id, html, CARTESIAN, ("record.js", "forget.js"))


def _exports(entry: Entry) -> str:
    address = f"/records/{escaped(entry.id)}/export?form="
    return ", ".join(f'<a href="{address}{form}" download>{form}</a>' for form in FORMS)


def _charts(entry: Entry, run: xr.Dataset) -> str:
    found = variables(run)
    if not found:
        return '<p class="notice">It holds nothing that can be drawn over steps.</p>'
    steps = run["step"].values if "step" in run.coords else np.arange(run.sizes["step"])
    stride = max(1, len(steps) // PLACES)
    shown_steps = [int(s) for s in steps[::stride]]
    about = {
        "record": entry.id,
        "version": f"{entry.created}-{entry.size}",
        "steps": shown_steps,
        "stride": stride,
        "variables": [v.__dict__ for v in found],
    }
    data = json.dumps(about).replace("<", "\\u003c")
    places = "\n".join(
        f'<figure><h3>{escaped(v.words)}</h3><div class="plot" tabindex="0" role="group" '
        f'aria-label="{escaped(v.words)}"><div id="variable-{i}"></div></div>'
        f"<figcaption></figcaption></figure>"
        for i, v in enumerate(found)
    )
    return f"""<p class="controls sticky"><label for="step">step</label>
<input id="step" type="range" min="0" max="{len(shown_steps) - 1}" value="0">
<output for="step">{int(steps[0])}</output></p>
<section id="charts" class="grid">{places}</section>
<script type="application/json" id="about">{data}</script>"""


def _arrays(content: Any) -> str:
    pairs = [(name, f"{array.dtype}, shape {array.shape}") for name, array in content.items()]
    return f'<section id="arrays"><h2>Arrays</h2>{rows(pairs[:500], "Arrays")}</section>'


def chart(name: str, variable: str, step: int, width: int, narrow: bool) -> dict[str, Any]:
    """One variable of a run as a chart."""
    entry, content = _load(name)
    if not isinstance(content, xr.Dataset):
        raise bad("record", entry.id, "a run or a sweep")
    return drawn(variable_chart(content, variable, step, max(100, min(width, 4000))), narrow)


def compare(names: list[str]) -> dict[str, Any]:
    """Two records side by side: what differs, and curves in one chart."""
    two = compare_records(names, Store(), lambda name: _load(name)[1])
    lines: Mapping[str, tuple[str | None, ...]]
    if isinstance(two.contents[0], StudyResult):
        lines = {name: tuple(map(_verdict, pair)) for name, pair in two.claims.items()}
        charts, what = _study_charts(*two.contents), "Verdicts and numbers"
    else:
        lines, charts, what = two.values, _run_charts(*two.contents), "Final values"
    found = _beside(f"{what} that differ", two.heads, lines, "What was found is the same.")
    settings = _beside("Settings that differ", two.heads, two.settings,
                       "The settings are the same.")  # fmt: skip
    both = [{**drawn(c, False), "narrow": plotly_charts.narrow(c)} for c in charts]
    figures = "\n".join(_figure(i, one) for i, one in enumerate(both))
    data = json.dumps(both, allow_nan=False).replace("<", "\\u003c")
    html = f"""<h1>Two records</h1>\n{found}\n{settings}
<section id="charts"><h2>Curves</h2>{figures or "<p>They have no curves in common.</p>"}</section>
<script type="application/json" id="both">{data}</script>"""
    return body("Compare", html, CARTESIAN, ("compare.js",))


def _figure(number: int, chart: dict[str, Any]) -> str:
    """The place of a compared chart, as high as it will be."""
    heights = [part["layout"]["height"] for part in (chart["figure"], chart["narrow"])]
    return f"""<figure><h3>{escaped(chart["title"])}</h3><div class="plot" tabindex="0" role="group"
aria-label="{escaped(chart["title"])}" style="--wide: {heights[0]}px; --narrow: {heights[1]}px">
<div id="both-{number}"></div></div><figcaption>{escaped(chart["caption"])}</figcaption></figure>"""


def _beside(
    title: str, heads: tuple[str, ...], lines: Mapping[str, tuple[str | None, ...]], none: str
) -> str:
    if not lines:
        return f"<section><h2>{title}</h2><p>{none}</p></section>"
    head = "".join(f"<th>{escaped(h)}</th>" for h in ("", *heads))
    inner = "\n".join(
        f"<tr><td><code>{escaped(n)}</code></td>" + "".join(
            f'<td data-head="{escaped(h)}">{c if isinstance(c, _Html) else escaped(c or "-")}</td>'
            for h, c in zip(heads, cells, strict=True)) + "</tr>"
        for n, cells in lines.items()
    )  # fmt: skip
    table = f"<table class='beside'><thead><tr>{head}</tr></thead><tbody>{inner}</tbody></table>"
    return f"<section><h2>{title}</h2>{scrolling(table, title)}</section>"


class _Html(str):
    """Text that is HTML already."""


def _verdict(claim: Claim | None) -> str | None:
    if claim is None:
        return None
    return _Html(f"{badge(claim.verdict)} {escaped(measured_words(claim.measured))}")


def _study_charts(one: StudyResult, other: StudyResult) -> list[Chart]:
    """Charts of one name in one: the first as it is, curves of the second in grey."""
    second = {c.name: c for c in other.charts}
    found = []
    for chart in one.charts:
        same = second.get(chart.name)
        if same and len(same.panels) == len(chart.panels) and _flat(chart):
            panels = tuple(map(_over, chart.panels, same.panels))
            found.append(replace(chart, panels=panels, caption="Grey: the second record."))
    return found


def _flat(chart: Chart) -> bool:
    return any(isinstance(m, Line | Points) for p in chart.panels for m in p.marks)


def _over(panel: Panel, other: Panel) -> Panel:
    extra = tuple(
        replace(m, label=f"second: {m.label}".rstrip(": "), role="control", group=None)
        for m in other.marks
        if isinstance(m, Line | Points) and m.role == "measured"
    )
    return replace(panel, marks=(*panel.marks, *extra))


def _run_charts(*runs: xr.Dataset) -> list[Chart]:
    names = [{v.name for v in variables(r) if v.kind == "curve"} for r in runs]
    found = []
    for name in sorted(names[0] & names[1]):
        one, other = (variable_chart(r, name, 0, 600) for r in runs)
        found.append(replace(one, panels=(_over(one.panels[0], other.panels[0]),),
                             caption="Grey: the second record."))  # fmt: skip
    return found


def export(name: str, form: str) -> str:
    """The path of a new zip archive with the record's tables, which the server sends and removes.

    The folder is made here; nothing of the request is part of its path.
    """
    if form not in FORMS:
        raise unknown("form", form, FORMS)
    store = Store()
    found = index.resolve(store.records, name)
    with tempfile.TemporaryDirectory() as folder:
        paths = store.export(found, folder, form)  # type: ignore[arg-type]
        with tempfile.NamedTemporaryFile(suffix=".zip", delete=False) as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
                for path in paths:
                    archive.write(path, Path(path).name)
            return file.name


def forget(name: str) -> str:
    """Remove a record, which must be named in full."""
    store = Store()
    if name not in index.names(store.records):
        raise unknown("record", name, [])
    return forget_record(name, store)
