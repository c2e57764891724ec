"""The three regimes, two phase diagrams, and the peak against its closed forms."""

import numpy as np

from dynascope.core.charts import Chart, Heat, Line, Mark, Panel, Points, Reference
from dynascope.studies.catapult.quadratic_map import runs
from dynascope.studies.catapult.quadratic_map.runs import Settings, study
from dynascope.studies.headlines import headline_chart
from dynascope.theories import QuadraticMap
from dynascope.theories.catapult.phases import PhaseDiagram

SHOWN = {1.5: "below 2", 2.5: "between", 3.5: "between", 4.2: "past 4"}  # v


@study.chart(headline=True)
def headline(s: Settings) -> Chart:
    """The peak loss over the learning rate at one width."""
    v, first = np.linspace(0.1, 3.95, 120), 0.7**2 / 2
    seen = QuadraticMap(1.0, 1e4, label=1.0).outcome(s.steps, learning_rate=v)
    peaks = [QuadraticMap(rate, 1e4, label=1.0).predicted_peak()[0] for rate in v[v > 2.01]]
    said = [first] * (len(v) - len(peaks)) + peaks
    return headline_chart(
        "Highest loss on the way, width 10,000, label 1",
        ("learning rate x first kernel", v), ("peak loss", seen.peak_loss),
        ("theory", np.maximum(said, first)), y_scale="log",
        note="theory: the slow limit's closed form; past 4 descent diverges",
    )  # fmt: skip


@study.chart()
def three_regimes(s: Settings) -> Chart:
    """Loss and kernel over time for sub-, super- and over-critical rates."""
    loss, kernel = list[Mark](), list[Mark]()
    for k, (v, where) in enumerate(SHOWN.items()):
        descent, steps = QuadraticMap(v, 1e4, label=1.0), np.arange(41)
        path = descent.trajectory(40)
        seen = np.isfinite(path.loss) & (path.loss < 1e9) & (path.loss > 1e-9)
        low = seen & (path.kernel <= 2)  # a diverging kernel would hide the others
        loss.append(Line(steps[seen], path.loss[seen], f"v = {v}, {where}", group=k))
        kernel.append(Line(steps[low], path.kernel[low], f"v = {v}, {where}", group=k))
        if v in (2.5, 3.5):
            top, when = descent.predicted_peak()
            loss.append(Points([when], [top], "predicted peak" if v == 2.5 else "", "theory", k))
    kernel.append(Reference("y", 1.0, "at the start"))
    return Chart(
        "three-regimes", "One example, three regimes",
        "Width 10,000. Below 2 the loss falls and the kernel stands; between 2 and 4 the loss is "
        "catapulted and comes back with a smaller kernel; past 4 both grow without end.",
        (Panel(tuple(loss), "loss", "step", "loss", y_scale="log"),
         Panel(tuple(kernel), "tangent kernel", "step", "kernel")),
    )  # fmt: skip


def _field(diagram: PhaseDiagram) -> tuple[Mark, ...]:
    """Rise of the loss as a field, grey where descent diverges, with the boundaries over it."""
    # At the lowest rate nothing rises: there the peak is the first loss.
    rise = np.log10(diagram.peak_loss / diagram.peak_loss[:, :1])
    shade = np.where(diagram.regime == 2, np.nan, rise)
    field = Heat(diagram.x, diagram.y, shade, "log10 of peak over first loss")
    return field, Reference("x", 2.0, "critical: 2"), Reference("x", 4.0, "largest: 4")


@study.chart(runs.diagrams, runs.edge)
def phases(s: Settings, diagrams: dict[str, PhaseDiagram], edge: np.ndarray) -> list[Chart]:
    """What happens over learning rate and width, and for a narrow model over rate and label."""
    by_width, by_label = _field(diagrams["width"]), _field(diagrams["label"])
    reached = Line(edge, diagrams["width"].y[::4], "edge of divergence", "theory")
    wide = Chart(
        "phases-by-width", "Phase diagram over learning rate and width, label 1",
        f"{diagrams['width'].regime.size:,} descents of {s.steps} steps; grey diverges. Between "
        "2 and 4 the peak grows with the width; below 2 nothing rises. The edge of divergence "
        "(dashed) reaches 4 as the width grows.",
        (Panel((*by_width, reached), "", "learning rate x first kernel", "width", y_scale="log"),),
    )  # fmt: skip
    narrow = Chart(
        "phases-by-label", f"Phase diagram over learning rate and label, width {s.narrow:g}",
        "Grey diverges. At label 0 the edge is at 4 exactly, and a label moves it inwards. The "
        "first output is 0.3: near that label the first error is small, so it rises most.",
        (Panel(by_label, "", "learning rate x first kernel", "label"),),
    )  # fmt: skip
    return [wide, narrow]


@study.chart()
def peaks(s: Settings) -> Chart:
    """Peak loss and time to peak over the width, with the closed forms."""
    widths, loss, when = np.logspace(3, 8, 26), list[Mark](), list[Mark]()
    for k, v in enumerate((2.2, 2.5, 3.0)):
        seen = QuadraticMap(v, 1.0, label=1.0).outcome(600, width=widths)
        said = zip(*(QuadraticMap(v, m, label=1.0).predicted_peak() for m in widths), strict=True)
        for marks, points in ((loss, seen.peak_loss), (when, seen.peak_step)):
            marks.append(Points(widths, points, f"v = {v}", group=k))
            marks.append(Line(widths, next(said), "closed form" if k == 0 else "", "theory", k))
    return Chart(
        "peaks", "How high and how late: in proportion to the width, and to its logarithm",
        "Points are exact descents, dashed the closed forms of the slow limit.",
        (Panel(tuple(loss), "peak loss", "width", "peak loss", "log", "log"),
         Panel(tuple(when), "step of the peak", "width", "step", "log")),
    )  # fmt: skip
