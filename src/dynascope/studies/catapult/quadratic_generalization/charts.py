"""Best test loss and accuracy over learning rates, for three models."""

import numpy as np

from dynascope.core.charts import Chart, Line, Mark, Panel, Points, Reference, Role
from dynascope.studies.catapult.quadratic_generalization import runs
from dynascope.studies.catapult.quadratic_generalization.runs import Settings, study
from dynascope.studies.catapult.quadratic_generalization.settings import parts
from dynascope.studies.catapult.quadratic_generalization.sweeps import Sweep
from dynascope.studies.headlines import headline_chart

LABELS: dict[str, tuple[str, Role]] = {
    "network": ("network", "measured"),
    "quadratic": ("quadratic model", "theory"),
    "linear": ("linear model", "control"),
}


@study.chart(runs.panels, headline=True)
def headline(s: Settings, found: dict[str, Sweep]) -> Chart:
    """The first panel: the network, with its quadratic model over it."""
    sweep = next(iter(found.values()))
    network, quadratic = (sweep.curves[k].drawn().mean(axis=1) for k in ("network", "quadratic"))
    return headline_chart(
        f"Best test loss on {sweep.title}: network and its quadratic model",
        ("learning rate / critical rate", sweep.ratio.mean(axis=1)), ("best test loss", network),
        ("quadratic model", quadratic), name="network",
        note=f"mean of {len(sweep.critical)} seeds; the linear model diverges past 1",
    )  # fmt: skip


def _panel(sweep: Sweep, part: str, y_label: str) -> Panel:
    marks: list[Mark] = []
    for group, (kind, (label, role)) in enumerate(LABELS.items()):
        values = sweep.curves[kind].drawn(part)
        whole = np.isfinite(values).all(axis=1)
        if not whole.any():
            continue
        y, x = values[whole], sweep.ratio[whole].mean(axis=1)
        if kind == "linear":  # points, since its line would lie on the others
            marks.append(Points(x, y.mean(axis=1), label, role, group))
        else:
            ends = {"low": y.min(axis=1), "high": y.max(axis=1)} if kind == "network" else {}
            marks.append(Line(x, y.mean(axis=1), label, role, group, **ends))
    marks.append(Reference("x", 1.0, "critical rate"))
    return Panel(tuple(marks), sweep.title, "learning rate / critical rate", y_label)


@study.chart(runs.panels)
def by_rate(s: Settings, found: dict[str, Sweep]) -> list[Chart]:
    """Best values over rates: two layers of ReLU, and panels with a change."""
    plain = [sweep for name, sweep in found.items() if not parts(name)[1]]
    others = [sweep for name, sweep in found.items() if parts(name)[1]]
    loss = (
        "Mean over seeds, for the network with their range; rates at which a seed diverges are "
        "left out. Left of the critical rate the three models should agree, right of it the "
        "linear one is gone. Look at whether the other two go on falling there, how far, and "
        "whether they rise again. Every data set is a small subset; the notes say which."
    )
    accuracy = (
        "Mean over seeds, for the network with their range. Look at whether accuracy follows the "
        "loss past the critical rate; on small test sets it moves in coarse steps."
    )
    return [
        Chart(
            f"{prefix}{name}", f"Best test {what} against the learning rate: {title}", caption,
            tuple(_panel(sweep, part, f"best test {what}") for sweep in some),
        )
        for name, what, part, caption in (
            ("losses", "loss", "best", loss), ("accuracies", "accuracy", "accuracy", accuracy)
        )
        for prefix, title, some in (
            ("", "two layers of ReLU", plain), ("other-", "three layers, tanh, swish", others)
        )
        if some
    ]  # fmt: skip
