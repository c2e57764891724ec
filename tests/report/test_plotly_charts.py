import json
from itertools import pairwise

import numpy as np
import plotly.graph_objects as go
import pytest

from dynascope.core.charts import Bars, Chart, Heat, Line, Panel, Path, Points, Reference
from dynascope.report import plotly_figure, with_close_up
from dynascope.report.plotly_charts import CONFIG, dark_colours
from dynascope.report.plotly_marks import DRAW
from dynascope.report.style import PAPER

from .example import example, headline
from .marks import AWKWARD, KINDS, NAN, chart, hostile, with_kind


def valid(figure):
    """The figure, checked by plotly itself and by a strict JSON writer."""
    go.Figure(figure)
    return json.loads(json.dumps(figure, allow_nan=False))


def test_every_kind_of_mark_has_one_drawing_function():
    assert set(DRAW) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_mark_adds_to_the_figure(kind):
    panel = with_kind(kind)
    mark = next(m for m in panel.marks if isinstance(m, kind))
    made = valid(plotly_figure(Chart("c", "t", "x", (Panel((mark,)),))))
    assert len(made["data"]) + len(made["layout"]["shapes"]) > 0


@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_charts_are_drawn(name):
    valid(plotly_figure(AWKWARD[name]))


@pytest.mark.parametrize(
    "made", [*example().charts[1:], with_close_up(headline())], ids=lambda c: c.name
)
def test_the_example_is_valid_and_its_panels_do_not_overlap(made):
    layout = valid(plotly_figure(made))["layout"]
    boxes = []
    for i in range(1, len(made.panels) + 1):
        tag = "" if i == 1 else str(i)
        scene = layout.get(f"scene{tag}")
        x = scene["domain"]["x"] if scene else layout[f"xaxis{tag}"]["domain"]
        boxes.append(x)
    assert all(0 <= a < b <= 1 for a, b in boxes)
    assert all(one[1] < two[0] for one, two in pairwise(boxes))


def test_a_matrix_has_its_first_row_on_top_and_whole_numbers_at_its_sides():
    heat = Heat(range(1, 31), range(1, 3), np.arange(60.0).reshape(2, 30))
    layout = valid(plotly_figure(chart(heat, matrix=True)))["layout"]
    assert layout["yaxis"]["range"] == [2.5, 0.5] and layout["xaxis"]["range"] == [0.5, 30.5]
    assert [layout[a][t] for a in ("xaxis", "yaxis") for t in ("tick0", "dtick")] == [1, 5, 1, 1]
    assert valid(plotly_figure(chart(heat)))["layout"]["yaxis"]["range"] == [0.5, 2.5]


def test_words_are_escaped_for_plotly():
    made = json.dumps(plotly_figure(hostile()))
    assert "<script" not in made and "<img" not in made and "&lt;img" in made


def trace(*marks, **panel):
    return plotly_figure(chart(*marks, **panel))["data"]


def test_theory_is_drawn_last_and_dashed():
    made = trace(Line([0, 1], [0, 1], role="theory", group=0), Line([0, 1], [0, 1], group=0))
    assert [t["line"]["dash"] for t in made] == ["solid", "6px,4px"]


def test_a_curve_ends_where_its_lane_diverged():
    assert trace(Line([0, 1, 2], [1, 2, NAN]))[0]["y"] == [1, 2, None]


def test_a_band_is_closed_on_each_side_of_a_gap():
    y = [1, 1, NAN, 1, 1]
    band = trace(Line(range(5), y, low=[0, 0, NAN, 0, 0], high=[2, 2, NAN, 2, 2]))[0]
    assert band["fill"] == "toself"
    assert band["x"] == [0, 1, 1, 0, None, 3, 4, 4, 3, None]
    assert band["y"] == [0, 0, 2, 2, None, 0, 0, 2, 2, None]


def test_numbers_keep_seven_digits():
    y = trace(Line([0, 1], [np.pi, 1e-30 / 3]))[0]["y"]
    assert y == pytest.approx([np.pi, 1e-30 / 3], rel=1e-6)


def test_a_small_wiggle_of_a_large_value_stays_smooth():
    y = 1000 + 1e-6 * np.sin(np.linspace(0, 3, 50))
    shown = np.array(trace(Line(range(50), y))[0]["y"])
    assert np.abs(shown - y).max() < 1e-4 * np.ptp(y)


def test_an_error_bar_does_not_leave_a_log_axis():
    made = plotly_figure(chart(Points([1, 2], [1, 10], low=[-5, 1], high=[2, 20]), y_scale="log"))
    bars = made["data"][0]["error_y"]["arrayminus"]
    assert 0 < bars[0] < 1


def test_long_names_of_bars_are_turned_and_get_room():
    short, long = (
        plotly_figure(Chart("c", "t", "x", (Panel((Bars(names, range(6)),)),) * 3))["layout"]
        for names in (tuple("abcdef"), tuple(f"unpronounceable{k}" for k in range(6)))
    )
    assert short["xaxis"]["tickangle"] == 0 and long["xaxis"]["tickangle"] < 0
    assert long["height"] > short["height"]


def test_a_log_axis_has_a_window_of_logarithms():
    layout = plotly_figure(chart(Line([1, 100], [1, 1]), x_scale="log"))["layout"]
    assert layout["xaxis"]["type"] == "log"
    assert layout["xaxis"]["range"] == pytest.approx([-0.04, 2.04])


def test_names_of_lines_stand_at_logarithms_and_lines_at_values():
    marks = (Line([1, 100], [1, 1]), Reference("x", 10.0, "here"))
    layout = plotly_figure(chart(*marks, x_scale="log"))["layout"]
    assert layout["shapes"][0]["x0"] == 10
    assert next(a for a in layout["annotations"] if a["text"] == "here")["x"] == 1


def test_cells_of_a_field_have_borders_and_gaps():
    made = trace(Heat([1, 10], [0, 1], [[1, NAN], [2, 3]], contours=(2,)), x_scale="log")
    assert made[0]["x"] == pytest.approx([10**-0.5, 10**0.5, 10**1.5], rel=1e-6)
    assert made[0]["z"] == [[1, None], [2, 3]]
    assert made[1]["contours"]["start"] == made[1]["contours"]["end"] == 2


def test_a_theory_of_bars_frames_its_measurement():
    measured, theory = trace(Bars(("a",), [2], group=0), Bars(("a",), [3], role="theory", group=0))
    assert measured["x"][0] == pytest.approx((theory["x"][0] + theory["x"][2]) / 2)
    assert theory["y"][:4] == [0, 3, 3, 0] and theory["line"]["dash"] == "6px,4px"


def test_errors_reach_from_low_to_high():
    bars = trace(Points([1], [2], low=[0.5], high=[7]))[0]["error_y"]
    assert (bars["arrayminus"], bars["array"]) == ([1.5], [5])


def test_arrows_turn_with_the_picture():
    made = trace(Path([0, 1], [0, 1]))[-1]
    assert made["marker"]["angleref"] == "previous"
    assert made["marker"]["size"][:3] == [0, 11, 0] and made["x"][2] is None


def test_a_label_is_once_in_the_legend_and_one_click_hides_all_of_it():
    made = trace(Path([0, 1], [0, 1], label="a"), Path([0, 1], [1, 0], label="a"))
    assert sum(t["showlegend"] for t in made) == 1
    assert {t["legendgroup"] for t in made} == {"1/a"}


def test_the_legend_follows_the_order_of_the_marks():
    made = trace(Line([0], [0], "theory", "theory"), Line([0, 1], [0, 1], "measured"))
    ranks = {t["name"]: t["legendrank"] for t in made if t["showlegend"]}
    assert ranks["theory"] < ranks["measured"]


def test_every_colour_has_a_twin_for_the_night():
    made = plotly_figure(example().charts[0])
    twins = dark_colours(made)
    assert made["layout"]["font"]["color"] in twins
    assert all(made_of != twin for made_of, twin in twins.items())
    assert PAPER not in twins.values()


def test_no_button_sends_data_away():
    assert CONFIG["showSendToCloud"] is False and CONFIG["plotlyServerURL"] == ""
    go.Figure().to_html(config=CONFIG)  # plotly knows these settings


def test_both_renderers_draw_the_same_window():
    from dynascope.report import figure

    made = chart(Line([1, 10], [1e-3, 1]), y_scale="log")
    layout, axes = plotly_figure(made)["layout"], figure(made).axes[0]
    assert layout["xaxis"]["range"] == pytest.approx(axes.get_xlim())
    assert layout["yaxis"]["range"] == pytest.approx(np.log10(axes.get_ylim()))
