from itertools import combinations

import numpy as np
import pytest

from dynascope.core.charts import Bars, Chart, Line, Panel
from dynascope.report import style


def linear(colour):
    rgb = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def contrast(one, two):
    """The contrast ratio of WCAG 2."""
    bright = sorted(float(linear(c) @ [0.2126, 0.7152, 0.0722]) for c in (one, two))
    return (bright[1] + 0.05) / (bright[0] + 0.05)


def lab(rgb):
    """CIE L*a*b* of linear sRGB, white point D65."""
    matrix = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    x, y, z = np.cbrt(np.clip(matrix @ rgb / [0.9505, 1.0, 1.089], 1e-4, None))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


# Full loss of the red or the green cones, after Machado, Oliveira and Fernandes (2009).
PROTANOPIA = [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216]]
PROTANOPIA += [[-0.003882, -0.048116, 1.051998]]
DEUTERANOPIA = [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413]]
DEUTERANOPIA += [[-0.011820, 0.042940, 0.968881]]


@pytest.mark.parametrize("vision", [np.eye(3), np.array(PROTANOPIA), np.array(DEUTERANOPIA)])
def test_colours_of_the_palette_can_be_told_apart_by_everybody(vision):
    seen = [lab(np.clip(vision @ linear(c), 0, 1)) for c in style.PALETTE]
    nearest = min(np.linalg.norm(a - b) for a, b in combinations(seen, 2))
    assert nearest > 10  # 2.3 is a just noticeable difference


def panel(*roles_and_groups):
    return Panel(tuple(Line([0], [0], role=r, group=g) for r, g in roles_and_groups))


def mark_styles(*panels):
    return style.mark_styles(Chart("c", "t", "x", panels))


def test_theory_is_dashed_dark_and_over_its_measurement():
    measured, theory = mark_styles(panel(("measured", 0), ("theory", 0)))[0]
    assert (measured.dash, theory.dash) == ("solid", "dashed")
    assert theory.order > measured.order and theory.width < measured.width
    assert contrast(theory.colour, style.PAPER) > 1.8 * contrast(measured.colour, style.PAPER)


def test_every_role_has_its_look():
    measured, theory, control, reference = mark_styles(
        panel(("measured", None), ("theory", None), ("control", None), ("reference", None))
    )[0]
    assert measured.colour == style.PALETTE[0] and theory.colour == style.INK
    assert control.colour in style.GREYS and reference.dash == "dotted"
    assert reference.width < control.width < measured.width


def test_a_group_keeps_its_colour_in_every_panel():
    one, two = mark_styles(
        panel(("measured", 7), ("measured", 2)),
        panel(*[("measured", None)] * 9, ("measured", 7)),
    )
    assert one[0].colour == two[-1].colour != one[1].colour
    assert len({look.colour for look in two}) == 10


def test_marks_without_a_group_take_colours_that_are_free():
    row = mark_styles(panel(("measured", None), ("measured", 0), ("measured", None)))[0]
    assert len({look.colour for look in row}) == 3


def test_many_lines_of_one_group_become_a_thin_bundle():
    few = mark_styles(panel(*[("measured", 0)] * (style.MANY - 1)))[0]
    many = mark_styles(panel(*[("measured", 0)] * style.MANY))[0]
    assert many[0].width < few[0].width


@pytest.mark.parametrize("count", [1, 6, 7, 9, 20])
def test_all_colours_can_be_seen_on_both_pages(count):
    night = style.for_dark(style.PAPER)
    for colour in (*style.colours(count), style.INK, style.FAINT_INK, *style.GREYS[:2]):
        assert contrast(colour, style.PAPER) > 2
        assert contrast(style.for_dark(colour), night) > 3


def test_theory_stays_lighter_than_its_measurement_at_night():
    chart = Chart(
        "c", "t", "x", (panel(*[(r, g) for g in range(6) for r in ("measured", "theory")]),)
    )
    night = style.for_dark(style.PAPER)
    row = [contrast(style.for_dark(look.colour), night) for look in style.mark_styles(chart)[0]]
    assert all(theory > measured for measured, theory in zip(row[::2], row[1::2]))


def test_a_legend_names_each_label_once():
    marks = (Line([0], [0], "a"), Bars(("n",), [1], "b"), Line([0], [0], "a"), Line([0], [0]))
    assert style.legend(Panel(marks)) == ["a", "b"]


def test_up_to_nine_colours_can_be_told_apart():
    """By at least a tenth of the way from black to white in some channel, pair by pair."""
    for count in range(2, 10):
        found = [style._rgb(c) for c in style.colours(count)]
        gaps = [
            max(abs(a - b) for a, b in zip(one, other))
            for i, one in enumerate(found)
            for other in found[:i]
        ]
        assert len(found) == count and min(gaps) > 0.18, count
