"""Alignment, test loss and catapults by batch size; alignment against test loss."""

import numpy as np

from dynascope.core.charts import Chart, Line, Mark, Panel, Points
from dynascope.studies.catapult.agop_batch_size import runs
from dynascope.studies.catapult.agop_batch_size.runs import PANELS, Settings, study
from dynascope.studies.catapult.feature_tables import Table
from dynascope.studies.headlines import headline_chart
from dynascope.studies.nodes import together

PRINTED = {"alignment": (0.81, 0.84, 0.89, 0.95), "test": (0.74, 0.71, 0.59, 0.42)}
BATCHES = (2000, 50, 10, 5)


def _sizes(table: Table) -> np.ndarray:
    return np.array([float(name) for name in table.names])


@study.chart(runs.tables["rank-2"], headline=True)
def headline(s: Settings, table: Table) -> Chart:
    """Test loss over batch sizes."""
    full = s.rank_2.task.train == 2000 and tuple(_sizes(table)) == BATCHES
    return headline_chart(
        "Test loss of x1 x2 against the batch size, at half the critical rate",
        ("batch size", _sizes(table)), ("test loss", table.test.mean(axis=1)),
        ("printed", PRINTED["test"]) if full else None,
        x_scale="log", note=f"mean of {table.test.shape[1]} seeds; alignment "
        f"{table.alignment[0].mean():.2f} in the largest, {table.alignment[-1].mean():.2f} in "
        "the smallest batches",
    )  # fmt: skip


def _against_batch(table: Table, column: str, label: str, full: bool) -> Panel:
    values = getattr(table, column)
    marks: list[Mark] = [
        Line(_sizes(table), values.mean(axis=1), "measured", group=0,
             low=values.min(axis=1), high=values.max(axis=1))
    ]  # fmt: skip
    if full and column in PRINTED:
        marks.append(Points(BATCHES, PRINTED[column], "printed", "theory", group=0))
    return Panel(tuple(marks), "", "batch size", label, x_scale="log")


@study.chart(runs.tables["rank-2"])
def table_4_1(s: Settings, table: Table) -> Chart:
    """Table 4.1: three columns over batch sizes."""
    full = s.rank_2.task.train == 2000
    return Chart(
        "table-4-1", "Alignment, test loss and catapults against the batch size: x1 x2",
        "Mean and range over seeds at the best validation loss; thesis's values as points where "
        "the sizes are the same. Look for all three to move together, and for the left end, where "
        "batches step above their own critical rate.",
        (
            _against_batch(table, "alignment", "AGOP alignment", full),
            _against_batch(table, "test", "test loss", full),
            _against_batch(table, "catapults", "steps above critical", full),
        ),
    )  # fmt: skip


@study.chart(together(**runs.tables))
def alignment_and_test(s: Settings, found: dict[str, Table]) -> Chart:
    """Alignment against test loss, every seed a point."""
    panels, sizes = [], {size for table in found.values() for size in table.names}
    colours = {size: i for i, size in enumerate(sorted(sizes, key=float, reverse=True))}
    for name, table in found.items():
        marks = tuple(
            Points(a, t, f"batches of {size}", group=colours[size])
            for size, a, t in zip(table.names, table.alignment, table.test, strict=True)
        )
        panels.append(Panel(marks, PANELS[name][0], "AGOP alignment", "test loss"))
    return Chart(
        "alignment-and-test", "Alignment against test loss, by batch size",
        "Every seed a point, at its best validation loss. Points should lie on a falling curve "
        "and move down it as batches get smaller; at the small rate they should lie together.",
        tuple(panels),
    )  # fmt: skip
