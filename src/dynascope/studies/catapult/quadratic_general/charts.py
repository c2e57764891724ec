"""Loss and kernel over gamma, rate and width; both terms along the top eigenvector."""

import numpy as np

from dynascope.core.charts import Chart, Line, Mark, Panel, Points, Reference
from dynascope.studies.catapult.quadratic_general import networks, runs, trends
from dynascope.studies.catapult.quadratic_general.eigenspace import Tops, tops
from dynascope.studies.catapult.quadratic_general.networks import NAMES, Kind
from dynascope.studies.catapult.quadratic_general.runs import Curves, Settings, study
from dynascope.studies.catapult.quadratic_general.trends import PRINTED, USUAL
from dynascope.studies.headlines import headline_chart

SHOWN = 60  # steps
ZERO = Reference("y", 0)


@study.chart(runs.general, headline=True)
def headline(s: Settings, general: Curves) -> Chart:
    """The loss of the general quadratic model in the printed setting."""
    loss, norm = general.loss[USUAL, PRINTED, 0][:SHOWN], general.norm[USUAL, PRINTED, 0]
    return headline_chart(
        "Loss of the general quadratic model, gamma 0.001, rate 2.8, seed 0",
        ("step", np.arange(float(SHOWN))),
        ("loss", np.where(loss > 1e-12, loss, np.nan)),  # the rest is rounding
        note=f"its tangent kernel falls from {norm[0]:.2f} to {norm[-1]:.2f}",
        y_scale="log",
    )


def _panels(curves: Curves, lanes: dict[str, tuple[int, int]]) -> tuple[Panel, Panel]:
    """Loss and kernel norm of the first seed over time, a line per name."""
    loss, norm = list[Mark](), list[Mark]()
    for k, (name, place) in enumerate(lanes.items()):
        losses, norms = (part[(*place, 0)][:SHOWN] for part in curves)
        steps = np.arange(len(losses))
        seen = np.isfinite(losses) & (losses < 1e12) & (losses > 1e-9)
        small = seen & (norms < 1.5 * norms[0])  # a diverging kernel hides the others
        loss.append(Line(steps[seen], losses[seen], name, group=k))
        norm.append(Line(steps[small], norms[small], group=k))
    return (
        Panel(tuple(loss), "loss", "step", "loss", y_scale="log"),
        Panel(tuple(norm), "tangent kernel", "step", "largest eigenvalue"),
    )


@study.chart(runs.general)
def by_gamma_and_rate(s: Settings, general: Curves) -> list[Chart]:
    """Fig. B.4 a."""
    gammas = {f"gamma {g:g}": (i, PRINTED) for i, g in enumerate(runs.GAMMAS)}
    rates = {f"rate {r:g}": (USUAL, runs.RATES.index(r)) for r in (1.9, 2.4, 2.8, 3.6, 4.1)}
    return [
        Chart(
            "by-gamma", "General quadratic model at rate 2.8: gamma",
            "A smaller gamma gives a higher and later peak; from 0.001 on the last kernel is the "
            "same.",
            _panels(general, gammas),
        ),
        Chart(
            "by-rate", "General quadratic model, gamma 0.001: learning rate",
            "Below 2 the loss falls and the kernel stands; then the kernel falls further with the "
            "rate, but not up to 4; past 4 descent diverges.",
            _panels(general, rates),
        ),
    ]  # fmt: skip


@study.chart(runs.widths)
def by_width_and_rate(s: Settings, widths: Curves) -> list[Chart]:
    """Fig. B.4 b."""
    by_width = {f"width {m:,}": (i, trends.AT_14) for i, m in enumerate(s.widths)}
    by_rate = {f"{m:g} x critical": (len(s.widths) - 1, i) for i, m in enumerate(runs.MULTIPLES)}
    return [
        Chart(
            "by-width", f"Two-layer networks on {s.few.train} pictures at 1.4 x critical",
            f"Data: {s.few.data}. A wider network is catapulted higher; its kernel ends at nearly "
            "the same value.",
            _panels(widths, by_width),
        ),
        Chart(
            "network-by-rate", f"Two-layer network of width {s.widths[-1]:,}: learning rate",
            f"Data: {s.few.data}. Above the critical rate peak and fall of the kernel grow with "
            "the rate.",
            _panels(widths, by_rate),
        ),
    ]  # fmt: skip


def _terms(tops: dict[Kind, Tops], architecture: str, data: str) -> tuple[Panel, ...]:
    """Loss, bend and fall over time, each for the network and its quadratic model."""
    models = (networks.NETWORK, networks.QUADRATIC)
    both = {model: tops[architecture, model][data][0] for model in models}
    # Once the loss is small again R_f is a quotient of two small numbers, and moves nothing.
    end = 2 + max(np.flatnonzero(t.loss > 0.1 * t.loss.max())[-1] for t in both.values())
    loss, bend, fall = list[Mark](), list[Mark]((ZERO,)), list[Mark]((ZERO,))
    for group, (model, top) in enumerate(both.items()):
        steps = np.arange(len(top.bend))[:end]
        loss.append(Line(steps, top.loss[: len(steps)], model, group=group))
        loss.append(Points(steps, top.along[: len(steps)], "its part along p1", group=group))
        bend.append(Line(steps, top.bend[:end], group=group))
        fall.append(Line(steps, top.fall[:end], group=group))
    return (
        Panel(tuple(loss), f"loss, {NAMES[data]}", "step", "loss"),
        Panel(tuple(bend), "p1^T R_f p1", "step", "bend of the residual"),
        Panel(tuple(fall), "p1^T R_K p1", "step", "fall of the kernel"),
    )


@study.chart(tops)
def along_p1(s: Settings, tops: dict[Kind, Tops]) -> list[Chart]:
    """Figs. B.2 and B.3: the loss and both terms along the top eigenvector."""
    shown = {
        networks.DENSE: ("", f"Fully connected network of width {s.width:,}"),
        networks.CONVOLUTION: ("convolution-", f"Convolution of {s.channels:,} channels"),
    }
    return [
        Chart(
            f"{prefix}top-eigenspace", f"{network}: along the top eigenvector",
            f"First seed, at {runs.MULTIPLE} times the critical rate. Dots are the part of the "
            "loss along the top eigenvector p1. Look at the peak: both terms have risen with the "
            "loss, which brings it down. Where a dot drops away after the peak, another "
            "eigenvector has become the first.",
            sum((_terms(tops, kind, data) for data in tops[kind, networks.NETWORK]), ()),
        )
        for kind, (prefix, network) in shown.items()
    ]  # fmt: skip
