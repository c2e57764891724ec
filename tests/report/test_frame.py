import numpy as np
import pytest

from dynascope.core.charts import Bars, Heat, Line, Panel, Path, Points, Reference, Span
from dynascope.report.frame import colour_range, drawable, edges, frame

from .marks import AWKWARD, INF, KINDS, NAN, with_kind


@pytest.mark.parametrize("kind", KINDS)
def test_a_window_shows_every_mark(kind):
    window = frame(with_kind(kind))
    assert window.x[0] < window.x[1] and window.y[0] < window.y[1] and not window.empty


@pytest.mark.parametrize("name", AWKWARD)
def test_a_window_is_never_flat_and_never_infinite(name):
    for panel in AWKWARD[name].panels:
        window = frame(panel)
        for low, high in (window.x, window.y):
            assert np.isfinite([low, high]).all() and low < high


def test_bands_error_bars_and_references_are_inside():
    band = frame(Panel((Line([0, 1], [1, 1], low=[-3, 0], high=[5, 2]),)))
    assert band.y[0] < -3 and band.y[1] > 5
    reference = frame(Panel((Points([0], [0]), Reference("x", 9.0), Reference("y", -9.0))))
    assert reference.x[1] > 9 and reference.y[0] < -9


def test_a_log_window_ignores_what_it_cannot_show():
    window = frame(Panel((Line([0, 1, 2], [0.0, 1e-3, 1.0]),), y_scale="log"))
    assert 1e-4 < window.y[0] < 1e-3 and 1 < window.y[1] < 2


def test_gaps_do_not_move_a_window():
    gaps = frame(Panel((Line([0, 1, 2], [1, NAN, INF]), Line([0, 1], [0, 1]))))
    assert gaps == frame(Panel((Line([0, 2], [1, 1]), Line([0, 1], [0, 1]))))


def test_names_of_spans_have_room_above_the_data():
    line = Line([0, 1], [0, 1])
    assert frame(Panel((line, Span(0, 1, "stage")))).y[1] > frame(Panel((line,))).y[1] + 0.05


def test_a_field_fills_its_window():
    window = frame(Panel((Heat([1, 10, 100], [0, 1], np.zeros((2, 3))),), x_scale="log"))
    assert window.x == pytest.approx((10**-0.5, 10**2.5))
    assert window.y == pytest.approx((-0.5, 1.5))


def test_edges_lie_between_the_centres():
    assert edges([0, 1, 3], "linear").tolist() == [-0.5, 0.5, 2, 4]
    assert edges([5], "linear").tolist() == [4.5, 5.5]
    assert edges([], "log").size == 0


def test_a_window_in_space_has_a_third_axis():
    assert frame(Panel((Path([0, 1], [0, 1], [2, 4]),))).z == pytest.approx((1.9, 4.1))


def test_bars_stand_on_zero_and_have_categories_in_order():
    window = frame(Panel((Bars(("b", "a"), [2, 3]), Bars(("a", "c"), [1, 1]))))
    assert window.names == ("b", "a", "c") and window.y[0] < 0 < 3 < window.y[1]


def test_a_diverging_scale_has_zero_in_the_middle():
    assert colour_range([[-1, 5]], True) == (-5, 5) == colour_range([[-5, 1]], True)
    assert colour_range([[-1, 5]], False) == (-1, 5)
    assert colour_range([[0, 0]], True) == (-1, 1)
    low, high = colour_range([NAN, 2.0], False)
    assert low < 2 < high


def test_drawable_keeps_what_an_axis_can_show():
    assert np.isnan(drawable([INF, NAN, 1e301])).all()
    assert drawable([0.0, -1.0]).tolist() == [0, -1]
