"""Eigenvalues and losses over time, below, between and above the critical rates."""

import numpy as np

from dynascope.core.charts import Chart, Line, Mark, Panel
from dynascope.studies.catapult.quadratic_multi import runs
from dynascope.studies.catapult.quadratic_multi.runs import ABOVE, Settings, Sweep, study
from dynascope.studies.headlines import headline_chart

SHOWN = 81  # steps; later nothing moves
TITLES = ("below both critical rates", "between them", "above both")


@study.chart(runs.sweeps["quadratic model"], headline=True)
def headline(s: Settings, sweeps: list[Sweep]) -> Chart:
    """The largest kernel of the first seed while both directions are catapulted."""
    seen = sweeps[0].kernels[0, ABOVE]
    return headline_chart(
        f"First eigenvalue at 1.2 times the second critical rate, width {s.width}",
        ("step", np.arange(len(seen))), ("eigenvalue", seen),
        ("theory", sweeps[0].start.maps(ABOVE, s.width)[0].trajectory(len(seen) - 1).kernel),
        note="theory: the same descent as a map of two numbers",
    )  # fmt: skip


def _panels(sweep: Sweep, dashed: np.ndarray, words: str) -> tuple[Panel, ...]:
    panels = []
    steps = np.arange(sweep.kernels.shape[-1])[:SHOWN]
    for rate, title in enumerate(TITLES):
        marks: list[Mark] = []
        for k in (0, 1):
            name = f"eigenvalue {k + 1}" if rate == 0 else ""
            marks.append(Line(steps, sweep.kernels[k, rate, :SHOWN], name, group=k))
            said = words if rate == 0 and k == 0 else ""
            marks.append(Line(steps, dashed[k, rate, :SHOWN], said, "theory", k))
        title = f"{title}: rate {sweep.start.rates[rate]:.3f}"
        panels.append(Panel(tuple(marks), title, "step", "eigenvalue"))
    return tuple(panels)


@study.chart(runs.sweeps)
def regimes(s: Settings, sweeps: dict[str, list[Sweep]]) -> list[Chart]:
    """Eigenvalues of the quadratic model over the exact maps (Fig. 3.3), of the network (B.1)."""
    quadratic, network = (found[0] for found in sweeps.values())
    start = quadratic.start
    first, second = start.critical
    maps = zip(*(start.maps(rate, s.width) for rate in range(3)), strict=True)
    said = np.array([[m.trajectory(s.steps).kernel for m in rates] for rates in maps])
    return [Chart(
        "quadratic-regimes", f"Quadratic model, width {s.width:,}: which eigenvalue falls",
        f"Seed {start.seed}; critical rates {first:.3f} and {second:.3f}. Below both nothing "
        "moves, between them only the first eigenvalue falls, above both each falls in its own "
        "catapult.",
        _panels(quadratic, said, "map of two numbers"),
    ), Chart(
        "network-regimes", f"The network itself, width {s.width:,}",
        "The same seed and rates with gates that move; dashed: the quadratic model. Eigenvalues "
        "fall in the same regimes, though not to the same values; between the critical rates the "
        "second moves a little where the model's stands.",
        _panels(network, quadratic.kernels, "quadratic model"),
    )]  # fmt: skip


@study.chart(runs.sweeps)
def losses(s: Settings, sweeps: dict[str, list[Sweep]]) -> Chart:
    """Loss over time at all four rates."""
    names = ("below both", "between", "above both", "2.1 x the first")

    def line(loss: np.ndarray, rate: int, model: str) -> Line:
        seen = np.flatnonzero(np.isfinite(loss) & (loss < 1e6))
        return Line(seen, loss[seen], names[rate] if model == "quadratic model" else "", group=rate)

    return Chart(
        "losses", "Loss below, between, above, and past the largest rate",
        "What is left in the end is the part of the labels outside both directions, which no rate "
        "can reach.",
        tuple(Panel(tuple(line(loss[:SHOWN], rate, model) for rate, loss in enumerate(one.loss)),
                    model, "step", "loss", y_scale="log") for model, (one, *_) in sweeps.items()),
    )  # fmt: skip
