"""A chart inside a page: its data, its words, and a place where the script draws it."""

from __future__ import annotations

import json
import shlex

from dynascope.core.charts import Chart
from dynascope.core.records import StudyResult
from dynascope.report import plotly_charts
from dynascope.report.captions import caption
from dynascope.report.headline import with_close_up
from dynascope.report.html.parts import escaped


def headline(result: StudyResult) -> str:
    """The study's signature picture; nothing where it has none."""
    if result.headline is None:
        return ""
    return _figure(with_close_up(result.charts[0]), "chart-0", result)


def other_charts(result: StudyResult) -> str:
    """All charts but the headline."""
    others = result.charts[1:] if result.headline else result.charts
    return "\n".join(_figure(c, f"chart-{i + 1}", result) for i, c in enumerate(others))


def _figure(chart: Chart, place: str, result: StudyResult) -> str:
    figure = plotly_charts.figure(chart)
    dark = plotly_charts.dark_colours(figure)
    narrow = plotly_charts.narrow(chart)
    data = {"figure": figure, "narrow": narrow, "dark": dark, "config": plotly_charts.CONFIG}
    text = json.dumps(data, allow_nan=False, separators=(",", ":"), ensure_ascii=False)
    text = text.replace("<", "\\u003c")  # nothing in the data can close the script
    heights = (figure["layout"]["height"], narrow["layout"]["height"])
    height = "--wide: {}px; --narrow: {}px".format(*heights)  # before the script has drawn it
    export = f"dynascope export {shlex.quote(result.fingerprint)}"
    title = escaped(chart.title)
    return f"""<figure aria-labelledby="{place}-title">
<h3 id="{place}-title">{title}</h3>
<div class="plot" style="{height}" tabindex="0" role="group" aria-label="{title}">
<div id="{place}" data-name="{escaped(chart.name)}"></div></div>
<noscript><p>Charts are drawn by a script, and scripts are off. Pictures of all charts
(PNG, SVG, PDF) come from <code>{escaped(export)}</code>.</p></noscript>
<figcaption>{escaped(caption(chart))}</figcaption>
<script type="application/json" data-chart="{place}">{text}</script>
</figure>"""
