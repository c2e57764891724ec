"""The charts of a sweep: how it ends over its axes, and the curves on the way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from dynascope.core.attributes import as_values
from dynascope.core.charts import Bars, Chart, Heat, Line, Mark, Panel, Scale
from dynascope.core.records import StudyResult
from dynascope.studies.measures import average

MOST_CURVES = 8  # beyond it lines cannot be told apart
Axis = tuple[str, np.ndarray]


KEPT = ("versions", "device", "processor", "seeds", "dtype")  # of a record, in its report


def run_result(run: xr.Dataset, record: str, label: str) -> StudyResult:
    """A stored run in the form of a study without claims, for reports and figures."""
    scale = f"{run.sizes['seed']} seeds"
    return unclaimed(
        label, "your own settings", scale, run_charts(run), record, as_values(run.attrs)
    )


def unclaimed(
    label: str,
    source: str,
    scale: str,
    charts: tuple[Chart, ...],
    record: str,
    about: Mapping[str, Any],
    notes: tuple[str, ...] = (),
) -> StudyResult:
    """What is drawn of a record, in the form of a study without claims.

    Args:
        label: What it is called.
        source: Whose it is, in words.
        scale: How much of it there is, in words.
        charts: Of these the first is the headline.
        record: The id in the store.
        about: Its fingerprint, spec and seconds, and where it was made.
        notes: Paragraphs to stand with it.

    Returns:
        The result, for `report`.
    """
    return StudyResult(
        study=label,
        title=label[:1].upper() + label[1:],
        source=source,
        scale=scale,
        fingerprint=about["fingerprint"],
        settings=about["spec"],
        notes=notes,
        claims=(),
        charts=charts,
        headline=charts[0].name if charts else None,
        runs=(record,),
        seconds=about["seconds"],
        provenance={name: about[name] for name in KEPT if name in about},
    )


def run_charts(run: xr.Dataset) -> tuple[Chart, ...]:
    """A chart for every quantity that is one number: where it ends, and its curves.

    Example:
        >>> losses = [[[4.0, 1.0], [4.0, 2.0]], [[4.0, 3.0], [4.0, 4.0]]]
        >>> run = xr.Dataset({"loss": (("rate", "seed", "step"), losses)}, {"rate": [0.1, 0.2]})
        >>> [chart] = run_charts(run.assign(diverged=(("rate", "seed"), np.zeros((2, 2), bool))))
        >>> chart.panels[0].marks[0].y  # mean over seeds at the end
        (1.5, 3.5)
    """
    axes = [(str(d), run[d].values) for d in run["diverged"].dims if d != "seed"]
    single = [n for n, v in run.data_vars.items() if v.dims[-2:] == ("seed", "step")]
    return tuple(_chart(run, str(name), axes) for name in single)


def _chart(run: xr.Dataset, name: str, axes: list[Axis]) -> Chart:
    words = str(run[name].attrs.get("long_name", name))
    panels = [_end(run, name, axes, words)] if axes else []
    points = int(np.prod([len(v) for _, v in axes])) if axes else 1
    if points <= MOST_CURVES:
        panels.append(_curves(run, name, axes, words))
    lost = int(run["diverged"].sum())
    several = "Mean over seeds" + (
        ", at the end with its 95 % interval." if len(axes) == 1 else "."
    )
    caption = several if run.sizes["seed"] > 1 else "One seed."
    if lost:
        place = "hatched, and grey where all did" if len(axes) == 2 else "left out of the means"
        caption += f" {lost} of {run['diverged'].size} seeds diverged, {place}."
    over = " over " + " and ".join(path for path, _ in axes) if axes else ""
    return Chart(name.replace("_", "-"), f"{words.capitalize()}{over}", caption, tuple(panels))


def _end(run: xr.Dataset, name: str, axes: list[Axis], words: str) -> Panel:
    """Where it ends: bars for names, a curve for numbers, a field for two axes of numbers."""
    final = run[name].isel(step=-1).where(~run["diverged"])
    numeric = [np.issubdtype(v.dtype, np.number) for _, v in axes]
    if len(axes) == 2 and all(numeric):
        (y_path, y), (x_path, x) = axes
        mean = final.mean("seed").values  # NaN, and so grey, where every seed diverged
        lost = run["diverged"].any("seed").values
        scales = _scale(x), _scale(y)
        field = Heat(x, y, mean, f"final {words}", hatched=lost if lost.any() else None)
        return Panel((field,), f"final {words}", x_path, y_path, *scales)
    flat = final.values.reshape(-1, run.sizes["seed"])
    found = [average(row[np.isfinite(row)]) for row in flat]
    value, low, high = (
        [np.nan if (v := getattr(m, part)) is None else v for m in found]
        for part in ("value", "low", "high")
    )
    band: dict[str, Any] = {"low": low, "high": high} if np.isfinite(low).all() else {}
    y_scale = _scale(np.array(value))
    if len(axes) == 1 and numeric[0]:
        path, x = axes[0]
        mark: Mark = Line(x, value, f"final {words}", group=0, **band)
        return Panel((mark,), f"final {words}", path, words, _scale(x), y_scale)
    return Panel((Bars(_names(axes), value, **band),), f"final {words}", "", words, y_scale=y_scale)


def _curves(run: xr.Dataset, name: str, axes: list[Axis], words: str) -> Panel:
    """The mean over seeds at every point of the grid."""
    mean = run[name].mean("seed").values.reshape(-1, run.sizes["step"])
    labels = _names(axes) if axes else (words,)
    lines = tuple(Line(run["step"].values, y, label) for y, label in zip(mean, labels, strict=True))
    return Panel(
        lines, f"{words} on the way", "step", words, y_scale=_scale(mean[np.isfinite(mean)])
    )


def _names(axes: list[Axis]) -> tuple[str, ...]:
    """The points of the grid in words, the last axis fastest."""
    names = [""]
    for path, values in axes:
        short = path.rpartition(".")[2]
        names = [f"{n}, {short} {_text(v)}".lstrip(", ") for n in names for v in values]
    return tuple(names)


def _text(value: Any) -> str:
    return f"{value:.4g}" if np.issubdtype(type(value), np.number) else str(value)


def _scale(values: np.ndarray) -> Scale:
    """Logarithmic where positive numbers span more than a factor of thirty."""
    fine = values[np.isfinite(values)]
    spans = fine.size > 1 and fine.min() > 0 and fine.max() > 30 * fine.min()
    return "log" if spans else "linear"
