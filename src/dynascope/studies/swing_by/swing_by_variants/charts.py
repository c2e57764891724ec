"""Who swings by, and the curves of the seeds that rise most."""

import numpy as np

from dynascope.core.charts import Bars, Chart, Panel
from dynascope.core.run import Run
from dynascope.probes import bump
from dynascope.studies.headlines import headline_chart
from dynascope.studies.swing_by.drawing import curve, loss_panel, shares_as
from dynascope.studies.swing_by.events import CLEAR_RISE, SMALL_RISE, swings
from dynascope.studies.swing_by.swing_by_variants import runs
from dynascope.studies.swing_by.swing_by_variants.claims import more_positive
from dynascope.studies.swing_by.swing_by_variants.runs import Settings, study


def largest_rise(run: Run) -> int:
    """The seed whose test loss rises most."""
    return int(np.argmax(bump(run["test_loss"].values)))


@study.chart(runs.networks, headline=True)
def headline(s: Settings, networks: dict[str, Run]) -> Chart:
    """The seed with the largest rise at the caption's means."""
    run = networks["low dimension"]
    seed = largest_rise(run)
    return headline_chart(
        f"Test loss of a network at means (1, 2), seed {seed} (largest rise)",
        ("gradient-flow time", run["time"].values), ("test loss", run["test_loss"].values[seed]),
        note=f"{swings(run, CLEAR_RISE).value:.0%} of {s.network_seeds} seeds swing by (rise above "
        f"{CLEAR_RISE:.0%})",
    )  # fmt: skip


@study.chart(runs.networks, runs.concepts)
def shares(s: Settings, networks: dict[str, Run], concepts: dict[str, Run]) -> Chart:
    """Share of seeds that swing by: networks, and starts with two and four concepts."""

    def bars(found: dict[str, Run], least: float, title: str) -> Panel:
        shown = shares_as(
            Bars, tuple(found), [swings(run, least) for run in found.values()], group=0
        )
        return Panel((shown,), f"{title}: rises above {least:.1%}", "", "share of seeds")

    fewer = more_positive(concepts["two"], concepts["four"])
    return Chart(
        "shares", "Who swings by",
        "Share of seeds whose test loss rises by more than so much of its first value, with 95 % "
        "intervals. Left: narrow networks do at the caption's means and on rotated points, wide "
        "ones and single layers do not. Right: four concepts swing by more often than two, "
        f"although starts with all entries positive are rarer by {fewer.value:.0%} of all starts.",
        (bars(networks, CLEAR_RISE, "Networks"), bars(concepts, SMALL_RISE, "Concepts")),
    )  # fmt: skip


@study.chart(runs.networks)
def largest_rises(s: Settings, networks: dict[str, Run]) -> Chart:
    """The seed with the largest rise of each kind of network (Figs. 3, 13, 14)."""
    panels = []
    for name in ("low dimension", "rotated", "three layers", "high dimension"):
        seed = largest_rise(networks[name])
        line = curve(networks[name]["test_loss"][seed], f"seed {seed}")
        panels.append(loss_panel([line], name, y_scale="log"))
    wide = bump(networks["high dimension"]["test_loss"].values).max()
    return Chart(
        "largest-rises", "Narrow networks swing by, wide ones slow down",
        "The seed with the largest rise of each kind, on a log scale: narrow networks rise after "
        f"their first minimum, the wide one in 64 dimensions by {wide:.1%} of its first loss.",
        tuple(panels),
    )  # fmt: skip
