"""Overlap by hardness, and the GCN operator beside Table A.2."""

import numpy as np

from dynascope.core.charts import Bars, Chart, Line, Mark, Panel, Reference
from dynascope.graphs.communities import HARDNESSES, chance_overlap, signal_to_noise
from dynascope.studies.expressiveness.community_detection import runs
from dynascope.studies.expressiveness.community_detection.runs import Settings, study
from dynascope.studies.headlines import headline_chart

SIGNALS = tuple(signal_to_noise(*degrees) for degrees in HARDNESSES)
Overlaps = dict[str, np.ndarray]  # name -> (ranks, seeds), of spectral answers test graphs


def _over_seeds(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean over seeds, and two standard errors below and above."""
    mean, error = values.mean(axis=1), 2 * values.std(axis=1, ddof=1) / values.shape[1] ** 0.5
    return mean, mean - error, mean + error


@study.chart(runs.found, runs.spectral, headline=True)
def headline(s: Settings, found: Overlaps, spectral: Overlaps) -> Chart:
    """The Bethe operator's overlap over the strength of the signal."""
    spectral_mean = spectral["Bethe Hessian"].mean(axis=1)
    return headline_chart(
        "How well two communities are told", ("signal-to-noise ratio", SIGNALS),
        ("overlap", found["GA-MLP-H"].mean(axis=1)), ("Bethe Hessian, spectral", spectral_mean),
        name="GA-MLP-H",
        note=f"guessing gives {chance_overlap(s.task.nodes):.3f} at {s.task.nodes} nodes",
    )  # fmt: skip


@study.chart(runs.found, runs.spectral)
def by_hardness(s: Settings, found: Overlaps, spectral: Overlaps) -> Chart:
    """Overlap over the strength of the signal, learned and spectral."""
    marks: list[Mark] = []
    for group, (name, values) in enumerate(found.items()):
        mean, low, high = _over_seeds(values)
        marks.append(Line(SIGNALS, mean, name, group=group, low=low, high=high))
    for group, name in ((1, "Bethe Hessian"), (0, "adjacency")):
        mean = spectral[name].mean(axis=1)
        marks.append(Line(SIGNALS, mean, f"{name}, spectral", role="theory", group=group))
    marks.append(Reference("y", chance_overlap(s.task.nodes), "chance"))
    marks.append(Reference("x", 1.0, "detectable above"))
    return Chart(
        "by-hardness", "Overlap by hardness",
        "Share of communities found above one half, mean over seeds with two standard "
        "errors; dashed, the second eigenvector's sign on the same graphs. Look at H against A "
        "above the dotted line, and at the GCN operator where the communities are separate.",
        (Panel(tuple(marks), x_label="signal-to-noise ratio", y_label="overlap"),),
    )  # fmt: skip


@study.chart(runs.found)
def beside_the_table(s: Settings, found: Overlaps) -> Chart:
    """The GCN operator beside Table A.2."""
    names = tuple(f"rank {k}" for k in range(1, 6))
    mean, low, high = _over_seeds(found["GA-MLP-GCN"])
    bars = (
        Bars(names, mean, "measured", low=low, high=high),
        Bars(names, runs.TABLE_A_2, "as printed", role="theory", group=0),
    )
    return Chart(
        "beside-the-table", "GA-MLP on the GCN operator, beside Table A.2",
        "Rank 1 is the hardest. Look at the drop at rank 5: powers of the GCN operator are "
        "averages within a component, and two components of equal kind look alike.",
        (Panel(bars, y_label="overlap"),),
    )  # fmt: skip
