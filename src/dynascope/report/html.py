"""The report of a study: one HTML file that needs nothing but a browser, not even a network.

plotly.js is inside the file, and its content policy forbids the browser to load anything
from anywhere. Every word of the record is escaped by `_e`.
"""

from __future__ import annotations

import json
import shlex
from html import escape
from importlib.resources import files
from typing import Any

from dynascope.core.charts import Chart
from dynascope.core.records import Claim, Control, StudyResult
from dynascope.report import plotly_charts
from dynascope.report.captions import caption
from dynascope.report.headline import headline_chart
from dynascope.report.settings import setting_rows
from dynascope.report.words import (
    VERDICT_SIGNS,
    VERDICT_WORDS,
    control_words,
    duration,
    expected_words,
    measured_words,
    summary,
)

# plotly.js compiles small functions for scenes in space and paints its own data: images.
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; "
    "img-src data: blob:; font-src data:"
)
NARROWEST = (20, 20, 44, 60)  # rem, by panels in a row; below it a chart scrolls sideways


def page(result: StudyResult) -> str:
    """The whole report as the text of an HTML file.

    Args:
        result: What the study found.

    Returns:
        HTML with styles, data and plotly.js inside; about five megabytes.
    """
    from plotly.offline import get_plotlyjs

    sections = [
        _section("headline", "Headline", _headline(result)),
        _section("verdicts", "Verdicts", _verdicts(result)),
        _section("charts", "Charts", _charts(result)),
        _section("notes", "Notes", _notes(result)),
        _section("settings", "Settings", _rows(setting_rows(result.settings), "Settings")),
        _section("provenance", "Provenance", _provenance(result)),
    ]
    shown = [s for s in sections if s]
    return "\n".join((
        _head(result),
        "<body>",
        '<a class="skip" href="#main">Skip to the report</a>',
        _header(result, shown),
        '<main id="main">',
        *(body for _, _, body in shown),
        "</main>",
        f"<script>{get_plotlyjs()}</script>",
        f"<script>{_asset('report.js')}</script>",
        "</body>\n</html>\n",
    ))


def _e(value: Any) -> str:
    return escape(str(value), quote=True)


def _asset(name: str) -> str:
    return files("dynascope.report").joinpath("assets", name).read_text(encoding="utf-8")


def _head(result: StudyResult) -> str:
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_e(POLICY)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="dynascope">
<title>{_e(result.title)}</title>
<link rel="icon" href="data:,">
<style>{_asset("report.css")}</style>
</head>"""


def _section(name: str, title: str, body: str) -> tuple[str, str, str] | None:
    """A section with its anchor, or None where there is nothing to show."""
    if not body:
        return None
    html = f'<section id="{name}" aria-labelledby="{name}-title">\n'
    return name, title, f'{html}<h2 id="{name}-title">{title}</h2>\n{body}\n</section>'


def _header(result: StudyResult, sections: list[tuple[str, str, str]]) -> str:
    links = "".join(f'<li><a href="#{n}">{t}</a></li>' for n, t, _ in sections)
    return f"""<header>
<h1>{_e(result.title)}</h1>
<p class="source">{_e(result.source)} · study <code>{_e(result.study)}</code> · scale
<code>{_e(result.scale)}</code></p>
<p class="summary">{_e(summary(result.claims))}</p>
<nav aria-label="Sections"><ul>{links}</ul></nav>
</header>"""


def _headline(result: StudyResult) -> str:
    if result.headline is None:
        return ""
    return _figure(headline_chart(result.headline), "chart-0", result)


def _charts(result: StudyResult) -> str:
    return "\n".join(_figure(c, f"chart-{i + 1}", result) for i, c in enumerate(result.charts))


def _figure(chart: Chart, place: str, result: StudyResult) -> str:
    figure = plotly_charts.figure(chart)
    dark = plotly_charts.dark_colours(figure)
    data = {"figure": figure, "dark": dark, "config": plotly_charts.CONFIG}
    text = json.dumps(data, allow_nan=False, separators=(",", ":"), ensure_ascii=False)
    text = text.replace("<", "\\u003c")  # nothing in the data can close the script
    panels = min(len(chart.panels), plotly_charts.PANELS_IN_ROW)
    width = f"--narrowest: {NARROWEST[panels]}rem"
    height = f"min-height: {figure['layout']['height']}px"
    export = f"dynascope export {shlex.quote(result.fingerprint)}"
    return f"""<figure aria-labelledby="{place}-title">
<h3 id="{place}-title">{_e(chart.title)}</h3>
<div class="plot" style="{width}" tabindex="0" role="group" aria-label="{_e(chart.title)}">
<div id="{place}" data-name="{_e(chart.name)}" style="{height}"></div></div>
<noscript><p>Charts are drawn by a script, and scripts are off. Pictures of all charts
(PNG, SVG, PDF) come from <code>{_e(export)}</code>.</p></noscript>
<figcaption>{_e(caption(chart))}</figcaption>
<script type="application/json" data-chart="{place}">{text}</script>
</figure>"""


def _verdicts(result: StudyResult) -> str:
    if not result.claims:
        return ""
    rows = "\n".join(_claim(c) for c in result.claims)
    return f"""<div class="scroll" tabindex="0" role="region" aria-label="Verdicts">
<table class="claims">
<thead><tr><th scope="col">Claim</th><th scope="col">Verdict</th>
<th scope="col">Measured</th><th scope="col">Expected</th><th scope="col">Control</th></tr></thead>
<tbody>
{rows}
</tbody></table></div>
<p class="small">Measured: value ± standard deviation over n seeds. A control is a case in which
the claim must fail; a claim whose control holds as well tells nothing.</p>"""


def _claim(claim: Claim) -> str:
    verdict = f"{VERDICT_SIGNS[claim.verdict]} {VERDICT_WORDS[claim.verdict]}"
    note = f'<span class="small">{_e(claim.note)}</span>' if claim.note else ""
    return f"""<tr><th scope="row"><code class="id">{_e(claim.id)}</code>{_e(claim.statement)}
<span class="small">{_e(claim.source)}</span>{note}</th>
<td><span class="badge {claim.verdict}">{_e(verdict)}</span></td>
<td class="number">{_e(measured_words(claim.measured))}</td>
<td>{_e(expected_words(claim.expected))}</td>
<td>{_control(claim.control)}</td></tr>"""


def _control(control: Control | None) -> str:
    if control is None:
        return '<span class="small">no control</span>'
    tone = {"fails": "holds", "holds": "fails"}.get(control.verdict, control.verdict)
    return f"""{_e(control.statement)}
<span class="small number">{_e(measured_words(control.measured))}</span>
<span class="tone {tone}">{_e(control_words(control))}</span>"""


def _notes(result: StudyResult) -> str:
    if not result.notes:
        return ""
    return "<ul>\n" + "\n".join(f"<li>{_e(n)}</li>" for n in result.notes) + "\n</ul>"


def _rows(rows: list[tuple[str, str]], label: str) -> str:
    if not rows:
        return ""
    body = "\n".join(
        f'<tr><th scope="row"><code>{_e(name)}</code></th><td>{_e(value)}</td></tr>'
        for name, value in rows
    )
    scroll = f'<div class="scroll" tabindex="0" role="region" aria-label="{label}">'
    return f'{scroll}\n<table class="rows"><tbody>\n{body}\n</tbody></table></div>'


def _provenance(result: StudyResult) -> str:
    rows = [("fingerprint", result.fingerprint), ("took", duration(result.seconds))]
    rows += [("runs", ", ".join(result.runs))] if result.runs else []
    rows += setting_rows(result.provenance)
    changes = result.provenance.get("changes", {})
    settings = [w for path, value in changes.items() for w in ("--set", f"{path}={value}")]
    again = shlex.join(["dynascope", "run", result.study, "--scale", result.scale, *settings])
    return f"<p>To make it again:</p>\n<pre><code>{_e(again)}</code></pre>\n" + _rows(
        rows, "Provenance"
    )
