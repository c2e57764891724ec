"""Charts and results inside a notebook: plain HTML with the picture in it, no script."""

from __future__ import annotations

import base64
import io
from html import escape

from dynascope.core.charts import Chart
from dynascope.core.records import Claim, StudyResult
from dynascope.report.headline import with_close_up
from dynascope.report.matplotlib_charts import figure
from dynascope.report.words import (
    VERDICT_SIGNS,
    VERDICT_WORDS,
    expected_words,
    measured_words,
    summary,
)

_COLOURS = {"holds": "#0b6b3a", "fails": "#a4262c", "undecided": "#7a5200"}
_CELL = 'style="text-align:left;vertical-align:top"'


def chart_html(chart: Chart) -> str:
    """A chart as an image inside HTML; every notebook shows it, without a network."""
    file = io.BytesIO()
    figure(chart).savefig(file, format="png", dpi=150)
    data = base64.b64encode(file.getvalue()).decode()
    style = "max-width:100%;background:#fff"
    words = escape(chart.title, quote=True)
    return f'<img alt="{words}" style="{style}" src="data:image/png;base64,{data}">'


def result_html(result: StudyResult) -> str:
    """The headline of a study and a row for every claim."""
    picture = chart_html(with_close_up(result.charts[0])) if result.headline else ""
    heads = "".join(f"<th {_CELL}>{h}</th>" for h in ("verdict", "claim", "measured", "expected"))
    rows = "\n".join(map(_row, result.claims))
    return f"""<h4>{escape(result.title)}</h4>
<p>{escape(result.study)}, scale {escape(result.scale)}: {escape(summary(result.claims))}</p>
{picture}
<table><thead><tr>{heads}</tr></thead><tbody>
{rows}
</tbody></table>"""


def _row(claim: Claim) -> str:
    colour = _COLOURS.get(claim.verdict, "inherit")
    verdict = f"{VERDICT_SIGNS[claim.verdict]} {VERDICT_WORDS[claim.verdict]}"
    cells = (
        f'<b style="color:{colour}">{verdict}</b>',
        f"{escape(claim.statement)}<br><small>{escape(claim.id)}, {escape(claim.source)}</small>",
        f"{escape(measured_words(claim.measured))}<br><small>{escape(claim.quantity)}</small>",
        escape(expected_words(claim.expected)),
    )
    return f"<tr>{''.join(f'<td {_CELL}>{c}</td>' for c in cells)}</tr>"
