from dynascope.core.charts import Line
from dynascope.report.captions import caption, undrawn

from .marks import AWKWARD, INF, NAN, chart


def test_the_caption_counts_what_a_log_axis_cannot_show():
    lost = AWKWARD["below zero on log"]
    assert undrawn(lost) == 2
    words = "A caption. Not drawn: 2 values at or below 0 on a logarithmic axis."
    assert caption(lost) == words


def test_gaps_are_not_counted_and_linear_axes_lose_nothing():
    assert caption(chart(Line([1, 2], [NAN, INF]), y_scale="log")) == "A caption."
    assert caption(chart(Line([1, 2], [0, -1]))) == "A caption."
