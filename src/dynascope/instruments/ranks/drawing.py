"""How the spectrum of the change grows along a series of checkpoints, as a chart."""

from __future__ import annotations

import numpy as np

from dynascope.core.charts import Chart, Heat, Line, Mark, Panel, Reference
from dynascope.instruments.ranks.measuring import RankSeries
from dynascope.probes.product_spectra import normalized, stable_rank

TITLES = {"kq": "W_K W_Q^T", "vo": "W_V W_O^T"}
FLOOR = 1e-2  # of the largest singular value; what is below is drawn as this


def growth_chart(series: RankSeries) -> Chart:
    """For each product the spectrum of its change, then stable ranks by layer."""
    many = len(series.names) > 1
    spectrum = _heat if many else _lines
    return Chart(
        "rank-growth", "How the heads' products changed",
        "Left and middle: singular values of the change since the first checkpoint, over the "
        f"largest, mean over all {series.layers * series.heads} heads"
        + (f"; what is below {FLOOR:g} has the darkest colour. " if many else
           ", and of the first checkpoint's own products in grey. ")
        + f"Right: stable ranks of the change at {series.names[-1]}, mean over heads with their "
        "spread; in grey those of the first checkpoint's own products.",
        (*(spectrum(series, name) for name in TITLES), _by_layer(series)),
    )  # fmt: skip


def _heat(series: RankSeries, name: str) -> Panel:
    """Checkpoint by checkpoint, a column for each."""
    shown = _mean(series.change[name], axis=(1, 2))  # (checkpoint, rank)
    steps, ranks = (np.arange(1, size + 1) for size in shown.shape)
    heat = Heat(steps, ranks, np.log10(shown).T, "log10 of singular value / largest")
    return Panel((heat,), f"Change of {TITLES[name]}", "checkpoint", "rank")


def _lines(series: RankSeries, name: str) -> Panel:
    """One change, beside what was there before."""
    change, before = (_mean(s, (0, 1)) for s in (series.change[name][0], series.start[name]))
    marks = (
        Line(np.arange(1, len(change) + 1), change, "change", group=0),
        Line(np.arange(1, len(before) + 1), before, "before", "control"),
    )
    title = f"Change of {TITLES[name]}"
    return Panel(marks, title, "rank", "singular value / largest", y_scale="log")


def _mean(spectra: np.ndarray, axis: tuple[int, ...]) -> np.ndarray:
    """Normalised spectra, mean over those heads that have one, no lower than the floor."""
    return np.clip(_over_heads(np.asarray(normalized(spectra)), axis), FLOOR, None)


def _over_heads(values: np.ndarray, axis: int | tuple[int, ...]) -> np.ndarray:
    """Mean of what is a number; nan where nothing is."""
    known = np.isfinite(values)
    with np.errstate(invalid="ignore"):
        return np.where(known, values, 0).sum(axis) / known.sum(axis)


def _by_layer(series: RankSeries) -> Panel:
    marks: list[Mark] = [Reference("y", 1.0, "rank one")]
    layers = np.arange(series.layers)
    for group, (name, title) in enumerate(TITLES.items()):
        now = np.asarray(stable_rank(series.change[name][-1]), float)  # (layer, head)
        mean = _over_heads(now, 1)
        spread = np.sqrt(_over_heads((now - mean[:, None]) ** 2, 1))
        marks.append(
            Line(layers, mean, f"change of {title}", group=group, low=mean - spread,
                 high=mean + spread)
        )  # fmt: skip
        before = np.asarray(stable_rank(series.start[name]), float).mean(1)
        marks.append(Line(layers, before, f"before, {title}", "control"))
    return Panel(tuple(marks), "Stable ranks", "layer", "stable rank")
