"""Places in a panel that both renderers share: bars, gaps, arrows, quiet corners."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dynascope.core.charts import Bars, Line, Panel, Path, Points, Reference, Scale, Span
from dynascope.report.frame import Frame, Range, along, back, drawable

ARROW_SPACING = 0.28  # in widths of the panel
MOST_ARROWS = 12


def bar_places(mark: Bars, shape: Frame) -> tuple[np.ndarray, float]:
    """The centres of a mark's bars on the x axis and their width."""
    slot, count = shape.slots[mark], max(shape.slots.values()) + 1
    width = 0.8 / count
    at = np.array([shape.names.index(n) for n in mark.names], dtype=float)
    return at + width * (slot - (count - 1) / 2), width


def share(start: float, end: float, shape: Frame) -> float:
    """The part of the panel's width between two values of x."""
    low, high = along(np.array(shape.x), shape.x_scale)
    left, right = along(np.clip([start, end], *shape.x), shape.x_scale)
    return float((right - left) / (high - low))


def runs(*columns: np.ndarray) -> list[slice]:
    """The stretches in which every column has a number.

    Example:
        >>> runs(np.array([1.0, np.nan, 2.0, 3.0]))
        [slice(0, 1, None), slice(2, 4, None)]
    """
    fine = np.isfinite(np.stack(columns)).all(axis=0).astype(int)
    steps = np.diff(np.concatenate([[0], fine, [0]]))
    return [slice(int(a), int(b)) for a, b in zip(*(np.flatnonzero(steps == s) for s in (1, -1)))]


def lonely(*columns: np.ndarray) -> np.ndarray:
    """The numbers of points without a neighbour, which a line would not show."""
    return np.array([r.start for r in runs(*columns) if r.stop - r.start == 1], dtype=int)


def arrows(path: Path, shape: Frame) -> list[tuple[np.ndarray, np.ndarray]]:
    """Tails and heads of a path's arrows, equally far from each other on the picture.

    Args:
        path: The path, in the plane or in space.
        shape: The window of its panel.

    Returns:
        Pairs of points in data units, each of length 2 or 3.
    """
    if not path.arrows:
        return []
    unit = _to_unit(path, shape)  # (points, 2 or 3), the window is the unit cube
    found = []
    for run in runs(*unit.T):
        places = _spaced(unit[run])
        found += [(_from_unit(a, shape), _from_unit(b, shape)) for a, b in places]
    return found[:: 1 + (len(found) - 1) // MOST_ARROWS] if found else []


def barbs(path: Path, shape: Frame, length: float = 0.035) -> list[np.ndarray]:
    """Arrow heads in space, as short open lines that can be seen from every side."""
    lines = []
    for tail, head in arrows(path, shape):
        a, b = (_unit_point(p, shape) for p in (tail, head))
        along = (b - a) / np.linalg.norm(b - a)
        side = np.cross(along, np.eye(3)[np.argmin(np.abs(along))])
        side /= np.linalg.norm(side)
        for across in (side, np.cross(along, side)):
            feet = [b - length * (along + s * across / 2) for s in (1, -1)]
            lines.append(np.array([_from_unit(p, shape) for p in (feet[0], b, feet[1])]))
    return lines


def _spaced(points: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Pairs (tail, head) at the middles of equal stretches of a line."""
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    length = np.concatenate([[0.0], np.cumsum(steps)])
    if length[-1] < ARROW_SPACING / 4:  # too short to show a direction
        return []
    count = max(1, round(length[-1] / ARROW_SPACING))
    heads = (np.arange(count) + 0.5) * length[-1] / count

    def at(place: np.ndarray) -> np.ndarray:
        return np.stack([np.interp(place, length, c) for c in points.T], axis=1)

    return list(zip(at(heads - min(0.01, heads[0])), at(heads)))


def _axes(shape: Frame) -> list[tuple[Range, Scale]]:
    axes: list[tuple[Range, Scale]] = [(shape.x, shape.x_scale), (shape.y, shape.y_scale)]
    return axes if shape.z is None else [*axes, (shape.z, "linear")]


def _unit_point(point: np.ndarray, shape: Frame) -> np.ndarray:
    ends = [(along(np.array(r), s), s) for r, s in _axes(shape)]
    return np.array([
        (along(p, s) - low) / (high - low) for p, ((low, high), s) in zip(point, ends)
    ])


def _to_unit(path: Path, shape: Frame) -> np.ndarray:
    columns = [path.x, path.y] if shape.z is None else [path.x, path.y, path.z]
    return _unit_point(np.array([drawable(c) for c in columns]), shape).T


def _from_unit(point: np.ndarray, shape: Frame) -> np.ndarray:
    ends = [(along(np.array(r), s), s) for r, s in _axes(shape)]
    return np.array([back(lo + p * (hi - lo), s) for p, ((lo, hi), s) in zip(point, ends)])


def quiet_end(mark: Reference, panel: Panel, shape: Frame) -> int:
    """The end of a reference line (0 or 1) where fewer data stand in the way of its name."""
    unit = [_cloud(m, shape) for m in panel.marks if isinstance(m, Line | Points | Path | Bars)]
    points = np.concatenate([np.zeros((0, 2)), *unit])
    along, beside = (points[:, 1], points[:, 0]) if mark.axis == "x" else points.T
    line = _unit_point(np.array([mark.at, mark.at]), shape)[0 if mark.axis == "x" else 1]
    near = (beside > line - 0.08) & (beside < line) if mark.axis == "x" else None
    if near is None:
        near = (beside > line) & (beside < line + 0.08)
    first, last = (int((near & part).sum()) for part in (along < 0.4, along > 0.6))
    if mark.axis == "x" and any(isinstance(m, Span) for m in panel.marks):
        return 0  # the names of spans stand at the top
    preferred = 0 if mark.axis == "x" else 1
    return preferred if first == last else int(last < first)


def names_nearby(mark: Reference, panel: Panel, shape: Frame) -> int:
    """How many names stand where this one's would: of references before it, and of spans."""
    same = [m for m in panel.marks if isinstance(m, Reference) and m.axis == mark.axis]
    lines = [m.at for m in same[: same.index(mark)]]
    axis = 0 if mark.axis == "x" else 1
    here, *others = (_unit_point(np.array([v, v]), shape)[axis] for v in (mark.at, *lines))
    spans = [m for m in panel.marks if isinstance(m, Span) and m.label and mark.axis == "x"]
    middles = [share(shape.x[0], m.start, shape) + share(m.start, m.end, shape) / 2 for m in spans]
    names = sum(0 < here - middle < 0.09 for middle in middles)
    return sum(abs(other - here) < 0.07 for other in others) + names


def _cloud(mark: Line | Points | Path | Bars, shape: Frame) -> np.ndarray:
    """Points all along a mark, in units of the window, shape (points, 2)."""
    if isinstance(mark, Bars):
        x = bar_places(mark, shape)[0]
        levels = np.linspace(0, 1, 60)
        stacked = [np.stack([np.full(60, a), levels * top], axis=1) for a, top in zip(x, mark.y)]
        places = np.concatenate([np.zeros((0, 2)), *stacked])
    else:
        count = np.linspace(0, max(len(mark.x) - 1, 0), 400)
        columns = [drawable(c) for c in (mark.x, mark.y)]
        ends = [np.interp(count, np.arange(len(c)), c) if len(c) else c for c in columns]
        places = np.stack(ends, axis=1)
    return _unit_point(places.T, replace(shape, z=None)).T


def hatching(
    cells: Any, x: Any, y: Any, x_scale: Scale, y_scale: Scale
) -> tuple[np.ndarray, np.ndarray]:
    """Slanted strokes over the marked cells of a field, with gaps between them.

    Args:
        cells: 1 where a cell is to be hatched, (rows, columns).
        x: Edges of the columns.
        y: Edges of the rows.
        x_scale: Of the axis, along which strokes are straight.
        y_scale: Likewise.

    Returns:
        Both coordinates of one broken line.

    Example:
        >>> across, up = hatching([[0, 1]], [0, 1, 2], [0, 1], "linear", "linear")
        >>> across[:2].tolist(), up[:2].tolist(), len(across)
        ([1.75, 2.0], [0.0, 0.25], 21)
    """
    across: list[float] = []
    up: list[float] = []
    for row, column in np.argwhere(np.asarray(cells, float) == 1):
        for start in np.arange(-0.75, 1.0, 0.25):  # of a cell: where a stroke meets its left side
            low, high = max(0.0, -start), min(1.0, 1.0 - start)
            across += [*_within(x, column, (low, high), x_scale), np.nan]
            up += [*_within(y, row, (low + start, high + start), y_scale), np.nan]
    return np.array(across, float), np.array(up, float)


def _within(ends: Any, cell: int, shares: tuple[float, float], scale: Scale) -> list[float]:
    """Places within a cell, as shares of its side on the axis."""
    low, high = float(ends[cell]), float(ends[cell + 1])
    if scale == "log":
        return [low * (high / low) ** share for share in shares]
    return [low + (high - low) * share for share in shares]
