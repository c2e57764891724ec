"""Test loss and alignment by number of catapults and over time; AGOP as heat maps."""

import numpy as np

from dynascope.core.charts import Chart, Heat, Line, Mark, Panel, Points
from dynascope.core.run import Run
from dynascope.studies.catapult.agop_multiple import runs
from dynascope.studies.catapult.agop_multiple.runs import PANELS, Settings, study
from dynascope.studies.catapult.feature_tables import Table
from dynascope.studies.headlines import headline_chart
from dynascope.studies.nodes import together

SHOWN = 10  # rows and columns of a map


@study.chart(runs.tables["rank-2"], headline=True)
def headline(s: Settings, table: Table) -> Chart:
    """Test loss by number of raises."""
    return headline_chart(
        "Test loss of x1 x2 against the number of raises of the rate",
        ("raises", np.arange(len(table.names))), ("test loss", table.test.mean(axis=1)),
        note=f"mean of {table.test.shape[1]} seeds; alignment {table.alignment[0].mean():.2f} "
        f"with none, {table.alignment[-1].mean():.2f} with all",
    )  # fmt: skip


def _bars(table: Table, column: str, label: str, title: str) -> Panel:
    kept = table.trained.any(axis=1)  # rows in which some seed stayed finite
    rows = [v[t] for v, t in zip(getattr(table, column)[kept], table.trained[kept], strict=True)]
    line = Line(np.flatnonzero(kept), np.array([v.mean() for v in rows]), "mean", group=0,
                low=np.array([v.min() for v in rows]),
                high=np.array([v.max() for v in rows]))  # fmt: skip
    return Panel((line,), title, "raises of the rate", label)


def _lost(table: Table) -> str:
    """How many seeds are left out of each row, where any are."""
    lost = (~table.trained).sum(axis=1)
    rows = [f"{n} with {name}" for name, n in zip(table.names, lost, strict=True) if n]
    left = f"Diverged and left out, of {table.trained.shape[1]} seeds: {', '.join(rows)} raises."
    return f" {left}" if rows else ""


@study.chart(together(**runs.tables))
def by_raises(s: Settings, found: dict[str, Table]) -> list[Chart]:
    """Figs. 4.8, C.16, C.17: one chart a panel."""
    return [
        Chart(
            f"{name}-raises", f"Test loss and alignment by number of raises: {PANELS[name][0]}",
            "Mean and range over seeds at the best validation loss. With few directions that "
            f"matter both should improve with every raise; with all of them neither.{_lost(table)}",
            (_bars(table, "test", "test loss", ""),
             _bars(table, "alignment", "AGOP alignment", "")),
        )
        for name, table in found.items()
    ]  # fmt: skip


def _raises(number: str) -> str:
    return f"{number} raise" if number == "1" else f"{number} raises"


@study.chart(together(**runs.raised))
def validation(s: Settings, found: dict[str, dict[str, Run]]) -> Chart:
    """Fig. C.13: validation losses over training, with all raises and with none."""
    panels = []
    for name, by_raises in found.items():
        marks: list[Mark] = []
        for group, (k, run) in enumerate(by_raises.items()):
            values = run["validation_loss"].values[0]
            fine = np.isfinite(values)
            marks.append(Line(run["step"].values[fine], values[fine], _raises(k), group=group))
        panels.append(Panel(tuple(marks), PANELS[name][0], "step", "validation loss",
                            y_scale="log"))  # fmt: skip
    return Chart(
        "validation", "Validation loss over training, seed 0",
        "Each raise is a spike; after it the loss should settle lower than before. A line that "
        "ends early diverged.", tuple(panels),
    )  # fmt: skip


@study.chart(runs.maps)
def heat_maps(s: Settings, found: dict[str, np.ndarray]) -> Chart:
    """Fig. C.15: the AGOP beside the target's; sizes of entries, each map over its largest."""
    shown = dict(found)
    shown["target"] = s.rank_2.task.egop()
    panels = []
    for name, values in shown.items():
        part = values[:SHOWN, :SHOWN]
        axis = np.arange(1, len(part) + 1)
        heat = Heat(axis, axis, np.abs(part) / np.abs(values).max(), "share of the largest")
        title = name if name in ("target", "near zero") else _raises(name)
        panels.append(Panel((heat,), title, "input", "input", equal=True, matrix=True))
    return Chart(
        "agop-maps", "Which inputs the network uses: AGOP of x1 x2, first ten inputs",
        "The target uses the first two inputs alone: everything else should darken with the "
        "number of raises.", tuple(panels),
    )  # fmt: skip


@study.chart(runs.compared)
def compared(s: Settings, table: Table) -> Chart:
    """Fig. C.14 and our schedule: alignment against test loss."""
    marks = tuple(
        Points(a, t, name, group=group)
        for group, (name, a, t) in enumerate(
            zip(table.names, table.alignment, table.test, strict=True)
        )
    )
    return Chart(
        "compared", "Ways to learn x1 x2: alignment against test loss",
        "Every seed a point. 'all' has every raise of the printed rates; the catapult schedule "
        "raises the rate to 1.5 times the critical one that it measures; 'below critical' follows "
        "0.9 of it.",
        (Panel(marks, "", "AGOP alignment", "test loss"),),
    )  # fmt: skip
