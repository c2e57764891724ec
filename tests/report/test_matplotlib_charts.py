from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from matplotlib.text import Text

from dynascope.core.charts import Bars, Chart, Heat, Line, Panel, Points, Reference
from dynascope.core.errors import UnknownName
from dynascope.report import figure, save, with_close_up
from dynascope.report.matplotlib_marks import DRAW

from .example import example, headline
from .marks import AWKWARD, HOSTILE, KINDS, NAN, chart, hostile, with_kind


@pytest.fixture(scope="module")
def pictures():
    """The example's charts, drawn once for all tests of this file."""
    charts = (*example().charts[1:], with_close_up(headline()))
    return [(made, figure(made)) for made in charts]


def pixels(picture):
    picture.canvas.draw()
    return np.asarray(picture.canvas.buffer_rgba()).astype(int)


def test_every_kind_of_mark_has_one_drawing_function():
    assert set(DRAW) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_mark_leaves_ink(kind):
    panel = with_kind(kind)
    mark = next(m for m in panel.marks if isinstance(m, kind))
    # A line fixes the window, so that only the mark itself can make a difference.
    others = () if getattr(mark, "z", None) and kind.__name__ == "Path" else (Line([0, 1], [0, 1]),)
    alone = replace(panel, marks=(*others, mark))
    with_it, without = (
        figure(Chart("c", "t", "x", (p,))) for p in (alone, replace(alone, marks=others))
    )
    one, two = pixels(with_it), pixels(without)
    assert one.shape != two.shape or (np.abs(one - two).sum(axis=2) > 30).sum() > 50


@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_charts_are_drawn(name):
    assert pixels(figure(AWKWARD[name])).min() < 200


@pytest.mark.parametrize("equal", [True, False])
def test_a_matrix_has_its_first_row_on_top_and_whole_numbers_at_its_sides(equal):
    heat = Heat([1, 2, 3], [1, 2], [[1, 2, 3], [4, 5, 6]])
    axes = figure(chart(heat, matrix=True, equal=equal)).axes[0]
    bottom, top = axes.get_ylim()
    assert top <= 0.5 and bottom >= 2.5
    assert {1.0, 2.0} <= set(axes.get_yticks()) and all(t % 1 == 0 for t in axes.get_yticks())
    across, down = axes.transData.transform([(1, 1), (2, 2)]).T
    assert down[0] > down[1]  # pixels count from below: the first row is the higher one
    assert across[0] < across[1]
    if equal:
        assert across[1] - across[0] == pytest.approx(down[0] - down[1], rel=1e-6)
    low, high = figure(chart(heat, equal=equal)).axes[0].get_ylim()
    assert low < high  # a field that is no matrix has its y axis pointing up


@pytest.mark.parametrize("suffix", ["svg", "pdf", "png"])
def test_the_same_chart_gives_the_same_bytes(suffix, tmp_path):
    marks = (Heat([0, 1], [0, 1], [[1, 2], [3, 4]], contours=(2,)), Line([0, 1], [0, 1], "line"))
    made = chart(*marks, Points([0.5], [0.5], low=[0], high=[1]))
    files = [save(made, tmp_path / f"{i}.{suffix}").read_bytes() for i in (1, 2)]
    assert files[0] == files[1] and len(files[0]) > 5000


def test_an_unknown_suffix_is_refused_with_the_nearest(tmp_path):
    with pytest.raises(UnknownName, match=r"did you mean '.png'"):
        save(chart(), tmp_path / "a.pngg")
    assert not list(tmp_path.iterdir())


def test_hostile_words_are_only_words():
    picture = figure(hostile())
    pixels(picture)  # mathtext would fail on the dollar sign
    texts = {t.get_text().replace("\n", " ") for t in picture.findobj(Text)}
    assert HOSTILE in texts


def boxes(picture):
    """The places of all words that are shown, without those of ticks."""
    picture.canvas.draw()
    ticks = {t for a in picture.axes for x in _axes(a) for t in x.get_ticklabels(which="both")}
    shown = [t for t in picture.findobj(Text) if t.get_text() and t.get_visible()]
    return [(t.get_text(), t.get_window_extent()) for t in shown if t not in ticks]


def _axes(axes):
    return [getattr(axes, n) for n in ("xaxis", "yaxis", "zaxis") if hasattr(axes, n)]


def test_no_words_lie_on_other_words_or_leave_the_picture(pictures):
    for _, picture in pictures:
        found = boxes(picture)
        for (one, a), (two, b) in combinations(found, 2):
            a_box, b_box = a.padded(-1), b.padded(-1)
            assert not a_box.overlaps(b_box), (one, two)
        width, height = picture.canvas.get_width_height()
        for words, box in found:
            assert box.x0 >= -1 and box.y0 >= -1, words
            assert box.x1 <= width + 1 and box.y1 <= height + 1, words


def test_tick_labels_of_an_axis_do_not_touch(pictures):
    for _, picture in pictures:
        picture.canvas.draw()
        for axes in picture.axes:
            if hasattr(axes, "zaxis"):
                continue
            for axis, (low, high) in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
                labels = [
                    tick.label1.get_window_extent().padded(-0.5)
                    for tick in axis.get_major_ticks()
                    if tick.label1.get_visible()
                    and tick.label1.get_text()
                    and low <= tick.get_loc() <= high
                ]
                assert not any(a.overlaps(b) for a, b in combinations(labels, 2))


def test_legends_hide_no_line(pictures):
    for _, picture in pictures:
        for axes in picture.axes:
            if axes.get_legend() is None or hasattr(axes, "zaxis"):
                continue
            box = axes.get_legend().get_window_extent()
            for line in axes.lines:
                path = line.get_transform().transform_path(line.get_path())
                assert not (len(path) and path.intersects_bbox(box, filled=False))


@pytest.mark.parametrize("x", [(0, 0.5, 0.5, 1), (0, 0.45, 0.45, 1), (0, 0.9, 0.9, 1)])
def test_the_name_of_a_reference_avoids_the_data(x):
    step = Line(x, (0, 0, 1, 1))  # close to the line, on it, and far away
    axes = figure(chart(step, Reference("x", 0.52, "learning time"))).axes[0]
    box = axes.texts[-1].get_window_extent()
    path = axes.lines[0].get_transform().transform_path(axes.lines[0].get_path())
    assert axes.texts[-1].get_text() == "learning time"
    assert not path.intersects_bbox(box, filled=False)


def test_panels_stand_in_rows_of_at_most_three():
    picture = figure(Chart("c", "t", "x", (Panel(()),) * 7))
    places = [a.get_subplotspec() for a in picture.axes]
    assert max(p.colspan.stop for p in places) == 3 and max(p.rowspan.stop for p in places) == 3


def test_long_legends_stand_outside_their_panel():
    lines = [Line([0, 1], [0, 0.01 * k], f"line {k}") for k in range(7)]
    picture = figure(chart(*lines, Line([0, 1], [5, 5])))
    picture.canvas.draw()
    axes = picture.axes[0]
    assert axes.get_legend().get_window_extent().y1 <= axes.bbox.y0


def test_a_legend_like_the_one_before_is_not_repeated():
    panel = Panel((Line([0, 1], [0, 1], "a"),))
    picture = figure(Chart("c", "t", "x", (panel, panel)))
    assert [a.get_legend() is None for a in picture.axes] == [False, True]


def test_theory_is_dashed_over_its_solid_measurement():
    marks = (Line([0, 1], [0, 1], role="theory", group=0), Line([0, 1], [0, 1], group=0))
    theory, measured = figure(chart(*marks)).axes[0].lines
    assert theory.get_zorder() > measured.get_zorder()
    assert theory.is_dashed() and not measured.is_dashed()


def test_a_curve_ends_where_its_lane_diverged():
    line = figure(chart(Line([0, 1, 2, 3], [1, 2, NAN, NAN]))).axes[0].lines[0]
    assert np.isnan(line.get_ydata()).tolist() == [False, False, True, True]


def test_a_lonely_point_of_a_curve_is_a_dot():
    many = [NAN, 5, NAN, *range(20)]
    lines = figure(chart(Line(range(23), many))).axes[0].lines
    assert [(line.get_marker(), list(line.get_ydata())) for line in lines][1] == ("o", [5])


def test_a_measured_curve_of_few_points_shows_them():
    few, many = (Line(range(n), range(n)) for n in (5, 50))
    one, other, theory = (
        figure(chart(m)).axes[0].lines[0].get_marker()
        for m in (few, many, Line(range(5), range(5), role="theory"))
    )
    assert (one, other, theory) == ("o", "None", "None")


def test_a_diverging_field_has_zero_in_the_middle():
    mesh = figure(chart(Heat([0, 1], [0, 1], [[-1, 0], [2, 5]], diverging=True))).axes[0]
    assert mesh.collections[0].get_clim() == (-5, 5)


def test_one_unit_is_as_long_on_x_as_on_y():
    axes = figure(chart(Line([0, 10], [0, 1]), equal=True)).axes[0]
    one, two = axes.transData.transform([(0, 0), (1, 1)])
    assert (two - one)[0] == pytest.approx((two - one)[1], rel=0.01)


def test_error_bars_reach_from_low_to_high():
    axes = figure(chart(Points([1], [2], low=[0.5], high=[7]))).axes[0]
    assert axes.collections[0].get_segments()[0].tolist() == [[1, 0.5], [1, 7]]


def test_bars_of_a_log_axis_reach_their_values():
    bars = figure(chart(Bars(("a", "b"), [1e-3, 1e2]), y_scale="log")).axes[0].patches
    assert [b.get_y() + b.get_height() for b in bars] == pytest.approx([1e-3, 1e2])


def test_a_log_axis_over_many_decades_has_few_whole_powers():
    axes = figure(chart(Line([0, 1], [1e-32, 1]), y_scale="log")).axes[0]
    labels = [t.get_text() for t in axes.get_yticklabels() if t.get_text()]
    assert 3 <= len(labels) <= 9 and all(t.startswith("10") for t in labels)


def test_the_caption_is_written_below(pictures):
    for made, picture in pictures:
        assert picture._supxlabel.get_text().replace("\n", " ") == made.caption
