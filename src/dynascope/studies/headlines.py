"""The common shape of a headline: one measured curve, and perhaps another over it."""

from __future__ import annotations

from typing import Any

from dynascope.core.charts import Chart, Line, Panel, Role, Scale


def headline_chart(
    title: str,
    x: tuple[str, Any],
    y: tuple[str, Any],
    over: tuple[str, Any] | None = None,
    *,
    note: str,
    name: str | None = None,
    x_scale: Scale = "linear",
    y_scale: Scale = "linear",
) -> Chart:
    """A chart of one measured curve, called "headline".

    Args:
        title: What it shows.
        x: Label and values of the x axis.
        y: Label and values of the measured curve.
        over: Name and values of a second curve at the same x.
        note: What to look for.
        name: Of the first curve, where the second one is a measurement too. Without it the
            second is a theory, drawn dashed over what was measured.
        x_scale: Of the x axis; "log" for laws that are powers.
        y_scale: Of the y axis; "log" for laws that are powers or exponentials.

    Returns:
        The chart, for a function marked `@study.chart(..., headline=True)`.

    Example:
        >>> chart = headline_chart("Loss", ("step", [0, 1]), ("loss", [2, 1]), note="It falls.")
        >>> chart.panels[0].y_label
        'loss'
    """
    marks = [Line(x[1], y[1], name or "measured", group=0)]
    if over is not None:
        role: Role = "measured" if name else "theory"
        marks.append(Line(x[1], over[1], over[0], role, group=1 if name else 0))
    panel = Panel(tuple(marks), "", x[0], y[0], x_scale, y_scale)
    return Chart("headline", title, note, (panel,))
