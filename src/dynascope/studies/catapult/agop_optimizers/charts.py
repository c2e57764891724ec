"""Alignment against test loss, a colour for each optimiser."""

import numpy as np

from dynascope.core.charts import Chart, Panel, Points
from dynascope.studies.catapult.agop_optimizers import runs
from dynascope.studies.catapult.agop_optimizers.runs import Settings, study
from dynascope.studies.catapult.feature_tables import Table
from dynascope.studies.headlines import headline_chart
from dynascope.studies.nodes import together


@study.chart(runs.tables["rank-2"], headline=True)
def headline(s: Settings, table: Table) -> Chart:
    """Test loss over alignment, optimisers in the order of their alignment."""
    order = table.alignment.mean(axis=1).argsort()
    names = ", ".join(table.names[i] for i in order)
    return headline_chart(
        "Test loss of x1 x2 against the alignment, a point for each optimiser",
        ("AGOP alignment", table.alignment.mean(axis=1)[order]),
        ("test loss", table.test.mean(axis=1)[order]), note=f"from left: {names}",
    )  # fmt: skip


@study.chart(together(**runs.tables))
def optimizers(s: Settings, found: dict[str, Table]) -> Chart:
    """Fig. 4.11: every seed a point."""
    panels = []
    for name, table in found.items():
        marks = tuple(
            Points(a[np.isfinite(t)], t[np.isfinite(t)], optimizer, group=group)
            for group, (optimizer, a, t) in enumerate(
                zip(table.names, table.alignment, table.test, strict=True)
            )
        )
        panels.append(Panel(marks, f"{name} target", "AGOP alignment", "test loss"))
    return Chart(
        "optimizers", "Alignment against test loss over seven optimisers",
        "Every seed a point at its best validation loss. They should lie along a falling line.",
        tuple(panels),
    )  # fmt: skip
