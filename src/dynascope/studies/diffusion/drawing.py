"""Charts that both studies of diffusion share: paths in the concept plane, error, speed, bound."""

from __future__ import annotations

import numpy as np

from dynascope.core.charts import Line, Mark, Panel, Path, Points
from dynascope.core.run import Run
from dynascope.studies.diffusion.concept_paths import (
    CORNERS,
    Paths,
    errors,
    log_ratios,
    speeds,
)


def mean_path(paths: Paths, label: str, group: int) -> Path:
    """The smoothed path, mean over seeds that can be read to the end."""
    mean = paths.shown().smooth().mean(0)
    return Path(mean[:, 0], mean[:, 1], label=label, group=group)


def clusters() -> tuple[Mark, ...]:
    """The training clusters and the combination that is asked for."""
    return (
        Points(CORNERS[:, 0], CORNERS[:, 1], "training clusters", role="control"),
        Points([1.0], [1.0], "asked for", role="reference"),
    )


def swing_mark(paths: Paths, group: int) -> Points:
    """Where the mean path is farthest ahead in one concept."""
    mean = paths.shown().smooth().mean(0)
    lead = mean[:, 0] - mean[:, 1]
    at = int(np.nan_to_num(np.abs(lead)).argmax())  # NaN where a seed cannot be read
    return Points([mean[at, 0]], [mean[at, 1]], f"lead {abs(lead[at]):.2f}", group=group)


def band(x: np.ndarray, values: np.ndarray, label: str, group: int) -> Line:
    """Mean over seeds with its standard error as a band."""
    mean = values.mean(0)
    error = values.std(0, ddof=1) / len(values) ** 0.5 if len(values) > 1 else 0 * mean
    return Line(x, mean, label, group=group, low=mean - error, high=mean + error)


def error_panel(found: dict[str, Paths]) -> Panel:
    """The concept error against the step, by name."""
    marks = tuple(
        band(paths.steps, errors(paths.shown()), name, i)
        for i, (name, paths) in enumerate(found.items())
    )
    return Panel(marks, "Concept error", "step", "mean of (C - 1)^2", x_scale="log")


def speed_panel(found: dict[str, Paths]) -> Panel:
    """The speed of the mean path against the step, by name."""
    marks = []
    for i, (name, paths) in enumerate(found.items()):
        speed = speeds(paths.shown()).mean(0)
        marks.append(Line(paths.steps, np.where(speed > 1e-6, speed, np.nan), name, group=i))
    return Panel(tuple(marks), "Speed in the plane", "step", "|dC / d step|", y_scale="log")


def bound_panel(run: Run, title: str) -> Panel:
    """The bound's parts on the training samples, mean over seeds."""
    parts = run["bound_parts"].mean("seed")
    steps = run["step"].values
    marks = tuple(
        Line(steps, parts.sel(bound_part=name).values, name, group=i)
        for i, name in enumerate(parts["bound_part"].values.tolist())
    )
    return Panel(marks, title, "step", "bits per dimension", y_scale="log")


def order_points(found: dict[float, Paths]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Strengths, and mean and standard error of the log ratio of the steps of learning at each."""
    ratios = [log_ratios(paths) for paths in found.values()]
    known = [r[np.isfinite(r)] for r in ratios]
    mean = np.array([r.mean() if r.size else np.nan for r in known])
    error = np.array([r.std(ddof=1) / r.size**0.5 if r.size > 1 else np.nan for r in known])
    return np.array(list(found)), mean, error
