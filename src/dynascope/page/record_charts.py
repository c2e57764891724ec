"""Any recorded dataset as charts: curves over the steps, spectra and matrices at one step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import xarray as xr

from dynascope.core.charts import Chart, Heat, Line, Panel, Scale
from dynascope.core.errors import unknown
from dynascope.page.thinning import thinned

MOST_LINES = 8
LARGEST_SIDE = 200  # of a matrix that is drawn cell by cell


@dataclass(frozen=True)
class Variable:
    """A recorded quantity and how it is drawn."""

    name: str
    kind: Literal["curve", "profile", "matrix"]
    words: str
    unit: str = ""


def variables(run: xr.Dataset) -> list[Variable]:
    """What can be drawn of a dataset, curves first.

    Example:
        >>> run = xr.Dataset({"loss": ("step", [2.0, 1.0]), "w": (("step", "i", "j"),
        ...                   np.zeros((2, 3, 3))), "diverged": ((), False)})
        >>> [(v.name, v.kind) for v in variables(run)]
        [('loss', 'curve'), ('w', 'matrix')]
    """
    found = []
    for name, array in run.data_vars.items():
        if "step" not in array.dims or not np.issubdtype(array.dtype, np.number):
            continue
        own = len(array.dims) - 1 - array.dims.index("step")  # the quantity's own axes come last
        kinds: dict[int, Any] = {0: "curve", 1: "profile", 2: "matrix"}
        if own in kinds and array.sizes["step"]:
            words, unit = (str(array.attrs.get(k, "")) for k in ("long_name", "units"))
            found.append(Variable(str(name), kinds[own], words or str(name), unit))
    return sorted(found, key=lambda v: ("curve", "profile", "matrix").index(v.kind))


def variable_chart(run: xr.Dataset, name: str, step: int, width: int) -> Chart:
    """A variable as a chart.

    Args:
        run: The dataset.
        name: Of the variable.
        step: Place along `step`, for profiles and matrices.
        width: Pixels of the screen: longer curves are thinned to it.

    Returns:
        The chart; its caption says what was averaged, chosen or thinned.
    """
    known = {v.name: v for v in variables(run)}
    if name not in known:
        raise unknown("quantity", name, known)
    variable, array = known[name], run[name]
    place = min(max(step, 0), array.sizes["step"] - 1)
    draw = {"curve": _curve, "profile": _profile, "matrix": _matrix}[variable.kind]
    panel, caption = draw(run, variable, place, width)
    return Chart(_file_name(name), variable.words, caption, (panel,))


def _file_name(name: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in name) or "chart"


def _lines(array: xr.DataArray) -> tuple[list[tuple[str, np.ndarray]], str]:
    """Curves of a variable with their labels, and how they were chosen."""
    axes = [str(d) for d in array.dims if d != "step"]
    flat = array.transpose(*axes, "step").values.reshape(-1, array.sizes["step"]).astype(float)
    names = [""]
    for axis in axes:
        values = array[axis].values if axis in array.coords else np.arange(array.sizes[axis])
        names = [f"{n}, {axis} {_short(v)}".lstrip(", ") for n in names for v in values]
    words = "" if len(flat) <= MOST_LINES else f"The first {MOST_LINES} of {len(flat)} curves. "
    return list(zip(names[:MOST_LINES], flat[:MOST_LINES], strict=False)), words


def _short(value: Any) -> str:
    return f"{value:.4g}" if np.issubdtype(type(value), np.floating) else str(value)[:40]


def _curve(run: xr.Dataset, variable: Variable, step: int, width: int) -> tuple[Panel, str]:
    lines, words = _lines(run[variable.name])
    x = run["step"].values.astype(float) if "step" in run.coords else np.arange(
        run.sizes["step"], dtype=float)  # fmt: skip
    marks, everything = [], []
    for name, y in lines:
        shown = thinned(x, y, width)
        marks.append(Line(*shown, name if len(lines) > 1 else variable.words))
        everything.append(y[np.isfinite(y)])
    if len(x) > 2 * width + 2:
        words += f"{len(x):,} points, thinned to the lowest and highest of every stretch. "
    words += _ends("step", x, np.array([y for _, y in lines]))
    unit = variable.unit if variable.unit not in variable.words else ""
    label = f"{variable.words} ({unit})" if unit else variable.words
    scale = _scale(np.concatenate(everything) if everything else np.zeros(0))
    return Panel(tuple(marks), "", "step", label, y_scale=scale), words


def _ends(word: str, places: np.ndarray, values: np.ndarray) -> str:
    """The lowest and the highest value, for whoever does not see the chart.

    Example:
        >>> _ends("step", np.array([0, 10, 20]), np.array([[3.0, 1.0, 2.0], [5.0, np.nan, 4.0]]))
        'Lowest 1 at step 10, highest 5 at step 0.'
    """
    fine = np.isfinite(values)
    if not fine.any():
        return "No value is finite."
    low = np.unravel_index(np.where(fine, values, np.inf).argmin(), values.shape)
    high = np.unravel_index(np.where(fine, values, -np.inf).argmax(), values.shape)
    return (f"Lowest {values[low]:.4g} at {word} {places[low[-1]]:.0f}, "
            f"highest {values[high]:.4g} at {word} {places[high[-1]]:.0f}.")  # fmt: skip


def _first(array: xr.DataArray, step: int, own: int) -> tuple[np.ndarray, str]:
    """The quantity at a step, of the first seed and the first point of a sweep, and what these are.

    Example:
        >>> swept = xr.DataArray(np.zeros((2, 3, 4)), {"learning_rate": [0.1, 0.2]},
        ...                      ("learning_rate", "step", "rank"))
        >>> _first(swept, 1, 1)[1]
        'At step 1, learning_rate 0.1 (the first of 2).'
    """
    before = [d for d in array.dims[: len(array.dims) - own] if d != "step"]
    shown = array.isel(dict.fromkeys(before, 0)).isel(step=step)
    number = int(shown["step"]) if "step" in array.coords else step
    places = [
        f"{d} {_short(array[d].values[0]) if d in array.coords else 0} (the first of {n})"
        for d in before
        if (n := array.sizes[d]) > 1
    ]
    return shown.values.astype(float), ", ".join([f"At step {number}", *places]) + "."


def _profile(run: xr.Dataset, variable: Variable, step: int, width: int) -> tuple[Panel, str]:
    array = run[variable.name]
    values, words = _first(array, step, 1)
    places = np.arange(1.0, len(values) + 1)
    scale = _scale(array.values[np.isfinite(array.values)])
    line = Line(*thinned(places, values, width), variable.words)
    told = _ends(str(array.dims[-1]), places, values)
    return Panel((line,), "", str(array.dims[-1]), variable.words, y_scale=scale), f"{words} {told}"


def _matrix(run: xr.Dataset, variable: Variable, step: int, width: int) -> tuple[Panel, str]:
    array = run[variable.name]
    values, words = _first(array, step, 2)
    cut = [min(side, LARGEST_SIDE) for side in values.shape]
    if tuple(cut) != values.shape:
        words += f" The first {cut[0]} x {cut[1]} of {values.shape[0]} x {values.shape[1]} entries."
    shown = values[: cut[0], : cut[1]]
    rows, columns = (np.arange(1.0, n + 1) for n in shown.shape)
    fine = shown[np.isfinite(shown)]
    words += f" Entries from {fine.min():.4g} to {fine.max():.4g}." if fine.size else ""
    field = Heat(columns, rows, shown, variable.words, diverging=bool((shown < 0).any()))
    return Panel((field,), "", str(array.dims[-1]), str(array.dims[-2]), matrix=True), words


def _scale(values: np.ndarray) -> Scale:
    """Logarithmic where positive numbers span more than a factor of thirty."""
    spans = values.size > 1 and values.min() > 0 and values.max() > 30 * values.min()
    return "log" if spans else "linear"
