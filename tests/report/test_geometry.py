import numpy as np
import pytest

from dynascope.core.charts import Bars, Line, Panel, Path, Reference, Span
from dynascope.report.frame import frame
from dynascope.report.geometry import (
    MOST_ARROWS,
    arrows,
    bar_places,
    barbs,
    hatching,
    lonely,
    names_nearby,
    quiet_end,
    runs,
    share,
)

from .marks import NAN


def heads(path, **panel):
    made = Panel((path,), **panel)
    return [(tail, head) for tail, head in arrows(made.marks[0], frame(made))]


def test_arrows_point_along_the_path_at_equal_distances():
    found = heads(Path([0, 1], [0, 1]))
    assert len(found) > 2
    for tail, head in found:
        assert head[0] > tail[0] and head[0] == pytest.approx(head[1])
    steps = np.diff([head[0] for _, head in found])
    assert steps == pytest.approx(steps[0])


def test_arrows_are_equally_far_on_a_log_axis_too():
    found = np.array([h for _, h in heads(Path([1e-4, 1], [0, 1]), x_scale="log")])
    steps = np.diff(np.log10(found[:, 0]))
    assert steps == pytest.approx(steps[0])


def test_dense_points_do_not_attract_arrows():
    slow = np.concatenate([np.linspace(0, 0.1, 1000), [1.0]])  # nearly all points at the start
    found, plain = (
        [head[0] for _, head in heads(path)] for path in (Path(slow, slow), Path([0, 1], [0, 1]))
    )
    assert found == pytest.approx(plain)


def test_no_arrow_lies_in_a_gap():
    found = heads(Path([0, 0.4, NAN, 0.6, 1], [0, 0, NAN, 0, 0]))
    assert found and not any(0.4 < head[0] < 0.6 for _, head in found)


def test_short_long_and_still_paths():
    assert heads(Path([1, 1, 1], [2, 2, 2])) == []
    assert heads(Path([], [])) == []
    assert heads(Path([0, 1], [0, 1], arrows=False)) == []
    zigzag = Path(np.arange(400) / 400, np.arange(400) % 2)
    assert 0 < len(heads(zigzag)) <= MOST_ARROWS


def test_barbs_end_at_the_arrows_and_lie_behind_them():
    panel = Panel((Path([0, 1], [0, 2], [0, 3]),))
    window = frame(panel)
    points = [head for _, head in arrows(panel.marks[0], window)]
    lines = barbs(panel.marks[0], window)
    assert len(lines) == 2 * len(points)
    for line, head in zip(lines[::2], points):
        assert line[1] == pytest.approx(head)
        assert (line[[0, 2]].sum(axis=0) / 2 < head).all()


def test_runs_and_lonely_points():
    values = np.array([NAN, 1.0, NAN, 2.0, 3.0, NAN])
    assert runs(values) == [slice(1, 2), slice(3, 5)]
    assert lonely(values).tolist() == [1]
    assert runs(np.zeros(0)) == []


def test_bars_of_one_group_share_a_place_and_others_do_not():
    bars = [Bars(("a",), [1], group=0), Bars(("a",), [2], role="theory", group=0)]
    panel = Panel((*bars, Bars(("a",), [3], group=1)))
    places = [bar_places(m, frame(panel)) for m in panel.marks]
    assert places[0][0] == places[1][0]
    assert places[2][0] - places[0][0] == pytest.approx(places[0][1])
    assert -0.5 < places[0][0] < places[2][0] < 0.5


def test_the_name_of_a_line_goes_where_there_is_less_data():
    rising = Panel((Line([0, 1], [0.2, 1]), Reference("y", 0.9, "bound")))
    assert quiet_end(rising.marks[1], rising, frame(rising)) == 0
    falling = Panel((Line([0, 1], [1, 0.2]), Reference("y", 0.9, "bound")))
    assert quiet_end(falling.marks[1], falling, frame(falling)) == 1
    low = Panel((Line([0, 0.5, 1], [0, 0, 0]), Line([0], [1]), Reference("x", 0.5, "time")))
    assert quiet_end(low.marks[2], low, frame(low)) == 1


def test_the_share_of_a_stretch_follows_the_axis():
    linear = frame(Panel((Line([0, 1], [0, 1]),)))
    assert share(0, 0.52, linear) == pytest.approx(0.5)
    assert share(-100, 100, linear) == pytest.approx(1)
    log = frame(Panel((Line([1, 100], [1, 1]),), x_scale="log"))
    assert share(1, 10, log) == pytest.approx(share(10, 100, log))


def test_names_that_would_collide_are_counted():
    lines = [Reference("y", v, "n") for v in (0.5, 0.52, 0.9)]
    panel = Panel((Line([0, 1], [0, 1]), *lines))
    assert [names_nearby(m, panel, frame(panel)) for m in lines] == [0, 1, 0]
    upright = [Reference("x", v, "n") for v in (0.55, 0.9)]
    panel = Panel((Line([0, 1], [0, 1]), Span(0, 1, "stage"), *upright))
    assert [names_nearby(m, panel, frame(panel)) for m in upright] == [1, 0]
    assert quiet_end(upright[1], panel, frame(panel)) == 0  # spans have their names at the top


def test_hatching_stays_inside_the_marked_cells_on_both_scales():
    for scale, edges in (("linear", [0.0, 1.0, 2.0]), ("log", [1.0, 10.0, 100.0])):
        x, y = hatching([[0, 1], [0, 0]], edges, edges, scale, scale)
        seen = np.isfinite(x)
        assert seen.any() and np.array_equal(seen, np.isfinite(y))
        assert edges[1] <= x[seen].min() and x[seen].max() <= edges[2] * (1 + 1e-12)
        assert edges[0] <= y[seen].min() and y[seen].max() <= edges[1] * (1 + 1e-12)
