import numpy as np
import pytest

from dynascope.report import text_plot

from .example import TIME, headline, swing
from .marks import INF, NAN
from .test_headline import curve


def dots(text):
    """The heights of a drawn curve, column by column, read back from the picture."""
    rows = [line.split("│", 1)[-1].split("┤", 1)[-1] for line in text.split("\n")]
    rows = [r for line, r in zip(text.split("\n"), rows) if "│" in line or "┤" in line]
    width = max(map(len, rows))
    codes = np.array([[ord(c) for c in row.ljust(width)] for row in rows])
    bits = np.where((codes >= 0x2800) & (codes < 0x2900), codes - 0x2800, 0)
    left, right = (0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80)
    picture = np.zeros((4 * len(rows), 2 * width), dtype=bool)
    for i in range(4):
        picture[i::4, 0::2] = bits & left[i] > 0
        picture[i::4, 1::2] = bits & right[i] > 0
    seen = np.flatnonzero(picture.any(axis=0))
    return np.array([4 * len(rows) - picture[:, c].nonzero()[0].mean() for c in seen])


def letters(text, sign="*"):
    """The same for a picture in ASCII."""
    body = text[: text.index("measured")] if "measured" in text else text
    rows = [line for line in body.split("\n") if "|" in line or "+*" in line or "+ " in line]
    at = {}
    for height, row in enumerate(reversed(rows)):
        for column, letter in enumerate(row):
            if letter == sign:
                at.setdefault(column, []).append(height)
    return np.array([np.mean(at[c]) for c in sorted(at)])


def turns(heights):
    """The falls and rises of a curve, without steps of less than a twelfth of the height."""
    least, ends = np.ptp(heights) / 12, [heights[0]]
    signs = ""
    for value in heights[1:]:
        sign = "+" if value > ends[-1] else "-"
        if signs[-1:] == sign:
            ends[-1] = value
        elif abs(value - ends[-1]) >= least:
            signs, ends = signs + sign, [*ends, value]
    return signs


def alone(y=None):
    y = swing() if y is None else y
    return curve(y, TIME)


@pytest.mark.parametrize(("width", "height"), [(120, 24), (100, 18), (80, 16), (60, 10), (40, 8)])
def test_the_picture_goes_down_up_and_down(width, height):
    assert turns(dots(text_plot(alone(), width, height))) == "-+-"


@pytest.mark.parametrize(("width", "height"), [(100, 18), (80, 12)])
def test_the_picture_in_ascii_goes_down_up_and_down(width, height):
    text = text_plot(alone(), width, height, "ascii")
    assert text.isascii()
    assert turns(letters(text)) == "-+-"


def test_without_a_close_up_the_rise_would_not_be_seen():
    """The control: the same reading of a plain axis finds one fall."""
    plain = np.rint(swing() / swing().max() * 17)
    assert turns(plain) == "-"


def test_the_words_say_what_was_chosen_and_name_everything():
    text = text_plot(headline(), 100, 18)
    assert "test loss (close-up: y from 0 to 0.433" in text and "the curve starts at 2.4" in text
    for word in ("Test loss of the tied", "time", "62 of 64", "measured", "theory", "0.4", "12"):
        assert word in text


def test_theory_has_its_own_sign_and_lies_on_the_curve():
    theory = curve(swing(), TIME, swing())
    text = text_plot(theory, 100, 18)
    picture = text[: text.index("└")]
    assert picture.count("○") > 20
    assert turns(letters(text_plot(theory, 100, 18, "ascii"), "o")) == "-+-"
    assert "theory" not in text_plot(alone(), 100, 18)


@pytest.mark.parametrize("width", [24, 30, 47, 80, 133])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_no_line_is_wider_than_asked(width, encoding):
    text = text_plot(headline(), width, 9, encoding)
    assert max(map(len, text.split("\n"))) <= width
    text.encode(encoding)


def test_a_tiny_terminal_gets_the_smallest_picture():
    assert text_plot(headline(), 3, 1) == text_plot(headline(), 24, 5)


def test_the_curve_of_a_diverged_lane_ends():
    y = np.where(np.arange(241) < 120, np.linspace(1, 0.5, 241), NAN)
    whole, half = (
        dots(text_plot(alone(np.linspace(1, 0.5, 241)), 80, 12)),
        dots(text_plot(curve((NAN, *y), (0.0, *TIME)), 80, 12)),
    )
    assert turns(half) == "-" and len(half) >= len(whole) - 4  # the window follows what is seen


def test_a_gap_is_left_empty():
    y = np.linspace(1, 0, 241)
    y[100:140] = NAN
    text = text_plot(alone(y), 80, 12)
    assert len(dots(text)) < 0.9 * len(dots(text_plot(alone(np.linspace(1, 0, 241)), 80, 12)))


@pytest.mark.parametrize(
    "y", [[5.0] * 9, [0.0] * 9, [3.0], [1.0, INF, 2.0], [1e-299, 1e299], [-1e299, 1e299]]
)
def test_constant_single_and_huge_curves_are_drawn(y):
    heights = dots(text_plot(curve(y), 60, 10))
    assert len(heights) >= 1 and np.isfinite(heights).all()


def test_a_constant_lies_in_the_middle():
    heights = dots(text_plot(curve([5.0] * 9), 60, 10))
    assert np.ptp(heights) == 0 and 15 < heights[0] < 25


@pytest.mark.parametrize("y", [[], [NAN, NAN], [-1e308, 1e308]])
def test_a_curve_without_numbers_says_so(y):
    assert "no finite values" in text_plot(curve(y), 60, 10)


def test_a_log_axis_says_so_and_has_its_ticks():
    y = np.concatenate([np.geomspace(2, 0.01, 50), np.geomspace(0.01, 0.1, 30)])
    y = np.concatenate([y, np.geomspace(0.1, 0.005, 30)])
    text = text_plot(curve(y), 80, 16)
    assert "y (log scale)" in text and "0.01┤" in text and "1┤" in text
    assert turns(dots(text)) == "-+-"
