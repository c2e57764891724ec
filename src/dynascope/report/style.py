"""One look for both renderers: colours, strokes and the rule that turns a role into them.

Measured marks are solid and coloured, theory is dashed and dark and lies on top, controls
are grey, references thin and dotted. The palette is that of Okabe and Ito without yellow
and black, which readers with any kind of colour vision can tell apart on white.
"""

from __future__ import annotations

import colorsys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from dynascope.core.charts import Bars, Chart, Line, Panel, Path, Points

PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
NINE = (*PALETTE, "#6a3d9a", "#8c4a2f", "#8a8d0f")  # with purple, brown and olive
GREYS = ("#8a9099", "#6b7079", "#b0b5bc")
INK, FAINT_INK, GRID, PAPER = "#1f2328", "#57606a", "#d8dde3", "#ffffff"
SPAN = ("#eef2f6", "#e0e7ee")  # neighbouring stretches alternate
SEQUENTIAL: tuple[str, ...] = ("#440154", "#482878", "#3e4989", "#31688e", "#26828e")
SEQUENTIAL += ("#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725")
DIVERGING = ("#2166ac", "#67a9cf", "#d1e5f0", "#f7f7f7", "#fddbc7", "#ef8a62", "#b2182b")
MISSING = "#c3c8ce"
CLOUD = 80  # so many points are drawn smaller
FEW = 12  # a measured line of at most so many points shows where they are
MANY = 6  # from this many lines of one group on they are drawn as a thin bundle

Dash = Literal["solid", "dashed", "dotted"]
Marker = Literal["circle", "diamond", "square", "cross"]


@dataclass(frozen=True)
class MarkStyle:
    """How a mark is drawn; widths and sizes are in points."""

    colour: str
    dash: Dash = "solid"
    width: float = 2.2
    opacity: float = 1.0
    marker: Marker = "circle"
    filled: bool = True
    order: int = 3  # higher lies on top


def colours(count: int) -> tuple[str, ...]:
    """So many colours that can be told apart; beyond nine, equal steps of a sequential scale.

    Example:
        >>> colours(2)
        ('#0072b2', '#d55e00')
        >>> len(set(colours(20)))
        20
    """
    if count <= len(NINE):
        return NINE[:count]
    # The light end of the scale cannot be seen on white, the dark end looks like theory.
    return tuple(between(SEQUENTIAL, 0.12 + 0.63 * i / (count - 1)) for i in range(count))


def steps(colours_: Sequence[str]) -> list[tuple[float, str]]:
    """A scale of colours from 0 to 1 that does not blend: each stop twice.

    Example:
        >>> steps(("#000000", "#ffffff"))
        [(0.0, '#000000'), (0.5, '#000000'), (0.5, '#ffffff'), (1.0, '#ffffff')]
    """
    count = len(colours_)
    return [((i + side) / count, c) for i, c in enumerate(colours_) for side in (0, 1)]


def between(stops: Sequence[str], place: float) -> str:
    """The colour at a place from 0 to 1 along a scale of colours.

    Example:
        >>> between(("#000000", "#ffffff"), 0.5)
        '#808080'
    """
    at = place * (len(stops) - 1)
    left = min(int(at), len(stops) - 2)
    low, high = _rgb(stops[left]), _rgb(stops[left + 1])
    return _hex(tuple(a + (b - a) * (at - left) for a, b in zip(low, high)))


def faded(colour: str, opacity: float) -> str:
    """The colour with an opacity, as CSS and plotly write it.

    Example:
        >>> faded("#ff0000", 0.2)
        'rgba(255,0,0,0.2)'
    """
    red, green, blue = (round(255 * c) for c in _rgb(colour))
    return f"rgba({red},{green},{blue},{opacity:g})"


def for_dark(colour: str) -> str:
    """The colour's twin on a dark page: greys turn over, dark shades become light ones.

    Example:
        >>> for_dark("#ffffff"), for_dark("rgba(0,0,0,0.5)")
        ('#14171b', 'rgba(235,235,235,0.5)')
    """
    if colour == PAPER:
        return "#14171b"
    if colour.startswith("rgba"):
        *parts, opacity = colour[5:-1].split(",")
        opaque = _hex(tuple(int(p) / 255 for p in parts))
        return faded(for_dark(opaque), float(opacity))
    rgb = _rgb(colour)
    hue, light, saturation = colorsys.rgb_to_hls(*rgb)
    if max(rgb) - min(rgb) < 0.12:  # a grey
        light = 0.92 - 0.8 * light
    else:  # the dark shades of theories lie below 0.30, all other colours above it
        light = 0.8 if light < 0.30 else max(light, 0.55)
    return _hex(colorsys.hls_to_rgb(hue, light, saturation))


def mark_styles(chart: Chart) -> list[list[MarkStyle]]:
    """A look for every mark of every panel; one group has one colour in the whole chart."""
    groups = sorted({g for p in chart.panels for m in p.marks if (g := _group(m)) is not None})
    return [_panel_styles(panel, groups) for panel in chart.panels]


def _panel_styles(panel: Panel, groups: list[int]) -> list[MarkStyle]:
    places = _places(panel, groups)
    palette = colours(1 + max((i for i in places if i is not None), default=0))
    if any(_group(m) is not None for m in panel.marks):  # no panel recolours a group
        palette = colours(len(groups)) + palette[len(groups) :]
    return [_mark_style(m, palette, i, _bundled(panel, m)) for m, i in zip(panel.marks, places)]


def _group(mark: object) -> int | None:
    return getattr(mark, "group", None)


def _places(panel: Panel, groups: list[int]) -> list[int | None]:
    """The palette place of each mark: its group's rank, else the next that is free here."""
    taken = {groups.index(g) for m in panel.marks if (g := _group(m)) is not None}
    free = (i for i in range(len(panel.marks) + len(groups) + 1) if i not in taken)
    row: list[int | None] = []
    for mark in panel.marks:
        if (group := _group(mark)) is not None:
            row.append(groups.index(group))
        else:
            row.append(next(free) if getattr(mark, "role", "") == "measured" else None)
    return row


def _bundled(panel: Panel, mark: object) -> bool:
    kinds = (Line, Path)
    counts = Counter((_group(m), m.role) for m in panel.marks if isinstance(m, kinds))
    if not isinstance(mark, kinds) or mark.group is None:
        return False
    return counts[mark.group, mark.role] >= MANY


def _mark_style(
    mark: object, palette: tuple[str, ...], place: int | None, bundled: bool
) -> MarkStyle:
    role = getattr(mark, "role", "measured")
    width, opacity = (0.9, 0.55) if bundled else (2.2, 1.0)
    if role == "theory":
        # Half-way to black: dark, and still of its group. Alone it is ink.
        colour = INK if place is None else between((palette[place], "#000000"), 0.55)
        return MarkStyle(colour, "dashed", min(width, 1.5), opacity, "diamond", False, order=5)
    if role == "control":
        return MarkStyle(
            GREYS[(place or 0) % 3], "solid", min(width, 1.8), opacity, "square", order=2
        )
    if role == "reference":
        return MarkStyle(FAINT_INK, "dotted", 1.1, 1.0, "cross", order=1)
    return MarkStyle(palette[place or 0], "solid", width, opacity, "circle", order=3)


def legend(panel: Panel) -> list[str]:
    """The labels that a panel's legend shows, each once."""
    kinds = (Line, Points, Path, Bars)
    labels = [m.label for m in panel.marks if isinstance(m, kinds) and m.label]
    return list(dict.fromkeys(labels))


def _rgb(colour: str) -> tuple[float, ...]:
    return tuple(int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))


def _hex(rgb: tuple[float, ...]) -> str:
    return "#" + "".join(f"{int(255 * c + 0.5):02x}" for c in rgb)
