"""The report of a study: one HTML file that needs nothing but a browser, not even a network.

plotly.js is inside the file, compressed (`report/library.py`), and the file's content policy
forbids the browser to load anything from anywhere. Every word of the record is escaped.
"""

from __future__ import annotations

from dynascope.core.records import StudyResult
from dynascope.report.html.claims import claims_table
from dynascope.report.html.entry import stated
from dynascope.report.html.figures import headline, other_charts
from dynascope.report.html.parts import Section, asset, bullets, contents, escaped, rows, section
from dynascope.report.library import library
from dynascope.report.settings import setting_rows
from dynascope.report.words import duration, summary

# plotly.js compiles small functions for scenes in space and paints its own data: images.
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; "
    "img-src data: blob:; font-src data:"
)


def page(result: StudyResult, command: str) -> str:
    """The whole report as the text of an HTML file.

    Args:
        result: What the study found.
        command: The command that makes it again.

    Returns:
        HTML with styles, data and plotly.js inside.
    """
    sections = [
        section("headline", "Headline", headline(result)),
        section("verdicts", "Verdicts", claims_table(map(stated, result.claims))),
        section("charts", "Charts", other_charts(result)),
        section("notes", "Notes", bullets(result.notes)),
        section("settings", "Settings", rows(setting_rows(result.settings), "Settings")),
        section("provenance", "Provenance", provenance(result, command)),
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
        f'<script type="text/plain" id="plotly">{library(result.charts)}</script>',
        f"<script>{asset('report.js')}</script>",
        "</body>\n</html>\n",
    ))


def _head(result: StudyResult) -> str:
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{escaped(POLICY)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="dynascope">
<title>{escaped(result.title)}</title>
<link rel="icon" href="data:,">
<style>{asset("report.css")}</style>
</head>"""


def _header(result: StudyResult, sections: list[Section]) -> str:
    return f"""<header>
<h1>{escaped(result.title)}</h1>
<p class="source">{escaped(result.source)} · study <code>{escaped(result.study)}</code> · scale
<code>{escaped(result.scale)}</code></p>
<p class="summary">{escaped(summary(result.claims))}</p>
{contents(sections)}
</header>"""


def provenance(result: StudyResult, command: str) -> str:
    """The command that makes a result again, and what it was made with."""
    pairs = [("fingerprint", result.fingerprint), ("took", duration(result.seconds))]
    pairs += [("runs", ", ".join(result.runs))] if result.runs else []
    pairs += setting_rows(result.provenance)
    again = f"<p>To make it again:</p>\n<pre><code>{escaped(command)}</code></pre>\n"
    return again + rows(pairs, "Provenance")
