"""Sharpness at 2 / rate, the gradient's direction, and the condition of one dimension."""

from typing import Literal

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.sources import chen2025
from dynascope.studies.comparisons import at_least, at_most, between
from dynascope.studies.measures import average
from dynascope.studies.nodes import Missing, case
from dynascope.studies.oscillation.mnist_edge import known
from dynascope.studies.oscillation.mnist_edge.known import Traces, past_as_printed
from dynascope.studies.oscillation.mnist_edge.runs import NAMES, Trace, study, traces

Cases = tuple[str, ...]
SMALL = ("small rate",)


def averaged(values: list[np.ndarray]) -> Measured | Missing:
    """Average over the seeds of several cases; undecided where no seed is left."""
    if not values:
        return Missing("these depths are left out")
    seeds = np.concatenate(values)
    return average(seeds) if len(seeds) else Measured(None, None, 0)


def chosen(traces: Traces, cases: Cases) -> list[Trace]:
    """Those of some cases that were trained."""
    return [traces[c] for c in cases if c in traces]


def hover(traces: Traces, cases: Cases) -> Measured | Missing:
    """Settled sharpness over 2 / rate, of the networks that are not dead."""
    return averaged([t.settled(t.ratio)[t.alive] for t in chosen(traces, cases)])


def by_seed(traces: Traces, cases: Cases) -> str:
    """The same seed by seed."""
    ratios = np.concatenate([t.settled(t.ratio) for t in chosen(traces, cases)])
    return f"By seed, dead ones too: {', '.join(f'{r:.2f}' for r in ratios)}."


def alignment(traces: Traces, cases: Cases) -> Measured | Missing:
    """Mean cosine of gradient and top eigenvector over settled steps past the edge."""
    return averaged([t.past(t.edge.alignment) for t in chosen(traces, cases)])


def as_printed(traces: Traces, cases: Cases) -> Measured | Missing:
    """Share of steps that are on that side of the edge on which Fig. 3.6 has them, over seeds."""
    return averaged([
        ((t.ratio > 1) == past_as_printed(t.steps))[t.alive][:, t.steps > 0].mean(axis=1)
        for t in chosen(traces, cases)
    ])  # fmt: skip


def positive(traces: Traces, cases: Cases) -> Measured | Missing:
    """Share of settled steps past the edge with 3 f3^2 - f2 f4 > 0, by exact jets."""
    return averaged([t.past(t.edge.criticality > 0) for t in chosen(traces, cases)])


def sharper(
    traces: Traces, one: str, other: str, when: Literal["settled", "last"]
) -> Measured | Missing:
    """Sharpness of one case over that of another, where both are alive."""
    ratios = []
    for t in (traces[one], traces[other]):
        values = t.edge.sharpness
        ratios.append(values[:, -1] if when == "last" else t.settled(values))
    alive = traces[one].alive & traces[other].alive
    return averaged([(ratios[0] / ratios[1])[alive]])


def last_ratio(traces: Traces, case: str) -> Measured | Missing:
    """Sharpness over 2 / rate in the last step, of the networks that are not dead."""
    return averaged([traces[case].ratio[:, -1][traces[case].alive]])


def declare(data: str, how: str) -> None:
    """The claims on one data set."""
    on, found = f"On {NAMES[data]}: ", traces[data]
    small = case("three layers, rate 0.1", found, SMALL)
    for slug, layers, rate, cases, figure in (
        ("", "three layers", "at rate 0.5", ("3 layers",), "Fig. 3.6"),
        ("-deeper", "four and five layers", "at rates 0.4 and 0.35", ("4 layers", "5 layers"),
         "Figs. 3.7, 3.8"),
    ):  # fmt: skip
        study.claim(
            f"{data}-edge{slug}",
            f"{on}{layers} {rate} settle with a sharpness within 15% of 2 / rate.",
            chen2025(f"{figure} (b)", how), hover, between(0.85, 1.15, "ours"),
            on=(found, cases), fails_on=small, note=by_seed,
            holds_on=case("planted at 1.05 times 2 / rate", known.planted, cases),
            exploratory=bool(how),
        )  # fmt: skip
        study.claim(
            f"{data}-aligned{slug}",
            f"{on}past the edge the gradient of {layers} lies along the top eigenvector.",
            chen2025(f"{figure} (c)", how), alignment, at_least(0.9, "ours"), on=(found, cases),
            fails_on=case("rate 0.1, before the edge, every step counted", known.counted[data],
                          SMALL),
            holds_on=case("a planted cosine of 0.97", known.planted, cases),
            note=lambda traces, cases: f"{sum(len(t.past(t.ratio)) for t in chosen(traces, cases))}"
            " seeds have settled steps past the edge.",
            exploratory=bool(how),
        )  # fmt: skip
        study.claim(
            f"{data}-condition{slug}",
            f"{on}past the edge 3 f3^2 - f2 f4 > 0 at the bottom of {layers}' valley.",
            chen2025(f"{figure} (d)", how), positive, at_least(0.95, "ours"), on=(found, cases),
            fails_on=case("stiff valleys of random coefficients", known.valleys["stiff"],
                          ("valley",)),
            holds_on=case("soft valleys of random coefficients", known.valleys["soft"],
                          ("valley",)),
            note="Exact fourth-order jets at fixed signs of the ReLU inputs, at the lowest place "
            "of the step (Def. 5). Methods that difference across kinks give other signs.",
            exploratory=bool(how),
        )  # fmt: skip
    study.claim(
        f"{data}-epochs",
        f"{on}three layers at rate 0.5 are past the edge in epochs 10 to 14 and 21 to 60 and "
        "before it in the others, as far as nine steps in ten go.",
        chen2025("Fig. 3.6 (a, b)", how), as_printed, at_least(0.9, "ours"),
        on=(found, ("3 layers",)), fails_on=small,
        holds_on=case("planted in those epochs", known.planted, ("3 layers",)),
        note="The document's start and images are not given; the epochs are those of one run.",
        exploratory=bool(how),
    )  # fmt: skip
    alike = "planted: equally sharp, but for dead networks"
    study.claim(
        f"{data}-flatter",
        f"{on}the larger rate ends flatter: the small one is at least 1.5 times as sharp.",
        chen2025("Fig. 3.6 (b)", how), sharper, at_least(1.5, "ours"),
        on=(found, "small rate", "3 layers", "settled"),
        fails_on=case(alike, known.planted_alike["flatter"], "small rate", "3 layers", "settled"),
        holds_on=case("planted twice as sharp", known.planted, "small rate", "3 layers",
                      "settled"),
        exploratory=bool(how),
    )  # fmt: skip
    study.claim(
        f"{data}-lowered",
        f"{on}lowered to 0.1 at step 60, the sharpness rises to 2 / rate within 300 steps.",
        chen2025("section 3.3, after Cohen et al.", how),
        last_ratio, between(0.85, 1.15, "ours"), on=(found, "lowered rate"),
        fails_on=case("rate 0.1 from the start, at step 60", found, "small rate"),
        holds_on=case("planted at 2 / rate", known.planted, "lowered rate"),
        note="Two classes are nearly fitted by then; nothing is left that sharpens.",
        exploratory=bool(how),
    )  # fmt: skip
    study.claim(
        f"{data}-kept-flat",
        f"{on}lowered to 0.1 at step 60, the network is flatter 300 steps later than one with 0.1 "
        "from the start is at step 60.",
        chen2025("Obs. 3", how), sharper, at_most(0.8, "ours"),
        on=(found, "lowered rate", "small rate", "last"),
        fails_on=case(alike, known.planted_alike["kept-flat"], "lowered rate", "small rate",
                      "last"),
        holds_on=case("planted half as sharp", known.planted_flat, "lowered rate", "small rate",
                      "last"),
        exploratory=bool(how),
    )  # fmt: skip


declare("blobs", "on other data than")
declare("mnist", "")
