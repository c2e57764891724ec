"""Width, not dimension; a critical correlation; small starts; depth; Gaussian entries."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.run import Run
from dynascope.core.sources import derived, yang2025
from dynascope.models import TiedLinear
from dynascope.probes import bump
from dynascope.studies.comparisons import at_least, at_most, between, near
from dynascope.studies.extremes import largest_distance, smallest
from dynascope.studies.measures import average, exact, minus
from dynascope.studies.nodes import Missing, case
from dynascope.studies.swing_by.starts import signal
from dynascope.studies.swing_by.swing_by_width import runs
from dynascope.studies.swing_by.swing_by_width.runs import CORRELATIONS, SIZES, gaussian, study
from dynascope.tasks import IdentityMapping
from dynascope.theories.swing_by.stages import crossing_times

low, high = runs.by_start[2], runs.by_start[64]
default, smaller = runs.by_depth[1.0], runs.by_depth[0.3]
planted = runs.planted_depths


def gap_to_law(shares: dict[TiedLinear, Measured], odds: dict[TiedLinear, float]) -> Measured:
    """Largest gap of the shares to the odds, over starts."""
    return largest_distance((m, odds[model]) for model, m in shares.items())


def share_of(shares: dict[Any, Measured], kind: Any) -> Measured | Missing:
    """Share of the starts of one kind that swing by."""
    return shares.get(kind) or Missing(f"these settings leave out {kind}")


def listed(what: str, form: str, *columns: Iterable) -> str:
    """What was found, row by row."""
    return f"{what} {', '.join(form.format(*row) for row in zip(*columns))}."


study.claim(
    "width-law",
    "In two dimensions the share of Gaussian starts that swing by is the chance that two "
    "random directions in as many dimensions as the width have a cosine above the critical "
    "one, within 0.06 at every width.",
    yang2025("Fig. 3, section 4.2, E.1", how="this project's law for"), gap_to_law,
    at_most(0.06, "ours"), on=(low, runs.odds["width"]),
    fails_on=case("the dimension, 2, in place of the width", low, runs.odds["dimension"]),
    holds_on=case("planted curves with the shares of the law", runs.planted_starts[2],
                  runs.odds["width"]),
    note=lambda found, _: listed("Measured", "{.width}: {.value:.3f}", found, found.values()),
)  # fmt: skip
study.claim(
    "wide-does-not-swing",
    "At width 64, in two dimensions, at most one start in twenty swings by.",
    yang2025("Fig. 3 reads this as high dimension"), share_of, at_most(0.05, "ours"),
    on=(low, gaussian(64)), fails_on=case("width 2", low, gaussian(2)),
    holds_on=case("planted curves with the share of the law", runs.planted_starts[2], gaussian(64)),
    partner="low-dimension-decides",
)  # fmt: skip
study.claim(
    "high-dimension-still-swings",
    "In 64 dimensions, at width 2, at least 10 % of small starts still swing by.",
    yang2025("Figs. 2c, 3: high dimension alone does not remove it", how="against"), share_of,
    at_least(0.1, "ours"), on=(high, gaussian(2, 1e-4)),
    fails_on=case("width 64 in 64 dimensions", high, gaussian(64)),
    holds_on=case("planted curves with the share of the law at width 2", runs.planted_starts[2],
                  gaussian(2)),
    note=lambda shares, _: f"From the larger start, 0.005, {shares[gaussian(2)].value:.1%} do.",
)  # fmt: skip
study.claim(
    "low-dimension-decides",
    "As the figures suggest: in two dimensions at least 10 % of starts swing by, whatever the "
    "width.",
    yang2025("Figs. 2c, 3, taken as being about dimension"), share_of, at_least(0.1, "ours"),
    on=(low, gaussian(64)), fails_on=case("dimension 64, width 64", high, gaussian(64)),
    holds_on=case("width 2", low, gaussian(2)), partner="wide-does-not-swing",
)  # fmt: skip


def rises(run: Run) -> np.ndarray:
    """Rise of the test loss, (size, correlation)."""
    return bump(run["test_loss"].values[:, 0]).reshape(-1, len(CORRELATIONS))


def critical(run: Run, sizes: slice) -> list[float]:
    """The correlation at which starts of some of SIZES begin to swing by."""
    return [float(crossing_times(r, CORRELATIONS, runs.SMALL_RISE)) for r in rises(run)[sizes]]


def from_critical(run: Run, sizes: slice) -> Measured:
    """Largest distance of these correlations from 0.53."""
    return exact(np.max([abs(c - 0.53) for c in critical(run, sizes)]))


def from_flow(others: dict[str, Run], flow: list[float]) -> Measured:
    """Largest distance of the critical correlations of some settings from given ones."""
    found = [critical(run, slice(1))[0] for run in others.values()]
    return exact(np.max([abs(c - other) for c, other in zip(found, flow, strict=True)]))


def rise_from(run: Run, size: float) -> Measured:
    """Rise of the test loss from a start of this size at correlation 0.98."""
    return exact(rises(run)[SIZES.index(size), -1])


def peaks(run: Run) -> np.ndarray:
    """Peak of w_12 at correlation 0.98, for each of SIZES."""
    minor = np.abs(run["input_jacobian"].values[:, 0, :, 0, 1]).max(axis=1)
    return minor.reshape(len(SIZES), -1)[:, -1]


def slope_of_peak(run: Run, interval: int) -> Measured:
    """Power of the start with which the peak falls, from one of SIZES to the next."""
    return exact((np.diff(np.log(peaks(run))) / np.diff(np.log(SIZES)))[interval])


def exponent(task: IdentityMapping) -> float:
    """The power (1 - a_1 / a_2) / 2 that the flow gives for small starts."""
    weak, strong = signal(task)
    return float(1 - weak / strong) / 2


study.claim(
    "critical-correlation",
    "For means (1, 2) a start swings by when its two rows are correlated above 0.53, within "
    "0.06, for sizes from 1e-1 to 1e-4.",
    (derived("this project's measurement"), yang2025("section 4.2")), from_critical,
    at_most(0.06, "ours"), on=(runs.starts, slice(4)),
    fails_on=case("a start of 1e-6", runs.starts, slice(4, 5)),
    holds_on=case("planted rises that begin to count at 0.53", runs.planted_grid["critical"],
                  slice(4)),
    note=lambda run, sizes: listed("Critical:", "{:.3f} at {:g}", critical(run, sizes), SIZES),
)  # fmt: skip
study.claim(
    "critical-correlation-elsewhere",
    "Other means, spreads and sizes have other critical correlations, those of the exact flow "
    "within 0.02.",
    (derived("this project's measurement"), yang2025("section 4.2")), from_flow,
    at_most(0.02, "ours"), on=(runs.others, runs.critical_by_flow["own"]),
    fails_on=case("one critical correlation for all", runs.others,
                  runs.critical_by_flow["means (1, 2)"]),
    holds_on=case("planted rises that begin to count where the flow says", runs.planted_others,
                  runs.critical_by_flow["own"]),
    note=lambda others, flow: listed(
        "Found and by the flow:", "{:.3f} and {:.3f} for {}",
        [critical(run, slice(1))[0] for run in others.values()], flow, others,
    ),
)  # fmt: skip
study.claim(
    "smaller-starts-rise-less",
    "The rise shrinks with the start: at size 1e-6 and correlation 0.98 it is below 0.2 % of "
    "the first loss, while the theorem needs starts below 1e-66.",
    yang2025("appendix D, assumptions D.1 to D.5, against Fig. 5"), rise_from,
    at_most(runs.SMALL_RISE, "ours"), on=(runs.starts, 1e-6),
    fails_on=case("a start of 0.01", runs.starts, 1e-2),
    holds_on=case("a planted loss that only falls", runs.planted_grid["no rise"], 1e-6),
    note=lambda run, _: listed("Rises:", "{:.4f} at {:g}", rises(run)[:, -1], SIZES),
)  # fmt: skip
study.claim(
    "peak-of-the-minor-entry",
    "The peak of w_12 falls as the start to the power (1 - a_1/a_2) / 2 for small starts.",
    yang2025("(4.3)", how="derivation from"), slope_of_peak,
    lambda run, _: near(exponent(run.experiment.task), 0.01, "derived"), on=(runs.starts, -1),
    fails_on=case("between the two largest starts", runs.starts, 0),
    holds_on=case("planted peaks with this power", runs.planted_grid["peaks"], -1),
)  # fmt: skip


def least_growth(shares: dict[int, Measured]) -> Measured:
    """Smallest growth of the share from one depth to the next, up to 4."""
    steps = pairwise([m for depth, m in shares.items() if depth <= 4])
    return smallest(minus(b, a) for a, b in steps)


def gap_to_flow(shares: dict[int, Measured], odds: dict[int, Measured]) -> Measured:
    """Largest gap to the odds of the flow, over the depths that have some."""
    return largest_distance((minus(shares[d], m), 0.0) for d, m in odds.items())


study.claim(
    "depth-law",
    "The share of default starts that swing by grows with every further depth, by at least "
    "0.03 each time up to depth 4.",
    (yang2025("Figs. 2c, 3, 13, 14"), derived("measured here")), least_growth,
    at_least(0.03, "ours"), on=default,
    fails_on=case("planted curves of which none rises, at any depth", planted["none"]),
    holds_on=case("planted curves of which more rise at every depth", planted["more"]),
    note=lambda found: listed("Share by depth", "{}: {.value:.2f}", found, found.values()),
)  # fmt: skip
study.claim(
    "depth-odds",
    "At every depth the share of default starts that swing by is that of other draws whose "
    "exact flow turns back, within 0.06.",
    derived("derived here: the start decides, descent follows the flow"), gap_to_flow,
    at_most(0.06, "ours"), on=(default, runs.flow_shares["own"]),
    fails_on=case("the next depth's odds", default, runs.flow_shares["next"]),
    holds_on=case("planted curves with the shares of the flow", planted["flow"],
                  runs.flow_shares["own"]),
    note=lambda _, odds: listed("Odds", "{}: {.value:.2f}", odds, odds.values()),
)  # fmt: skip
study.claim(
    "two-layers", "With two layers 15 to 32 % of default starts swing by.",
    derived("measured here"), share_of, between(0.15, 0.32, "ours"), on=(default, 2),
    fails_on=case("one layer", default, 1),
    holds_on=case("planted curves with the share of the flow", planted["flow"], 2),
)  # fmt: skip
study.claim(
    "four-layers", "With four layers 38 to 60 % of default starts swing by.",
    (yang2025("Fig. 3"), derived("measured here")), share_of, between(0.38, 0.60, "ours"),
    on=(default, 4), fails_on=case("two layers", default, 2),
    holds_on=case("planted curves with the share of the flow", planted["flow"], 4),
)  # fmt: skip
study.claim(
    "one-layer-small-start",
    "One layer from 0.3 of the default start does not swing by: at most 1 %.",
    yang2025("Theorem 4.1"), share_of, at_most(0.01, "ours"), on=(smaller, 1),
    fails_on=case("two layers, same start", smaller, 2),
    holds_on=case("planted curves of which none rises", planted["none"], 1),
)  # fmt: skip


def entries(rows: np.ndarray) -> dict[str, np.ndarray]:
    """Entries of W at width 8 over width x variance, where U has variance 1."""
    start = rows[..., :8] @ rows[..., :8].transpose(0, 2, 1) / 8
    return {"major": np.diagonal(start, axis1=1, axis2=2), "minor": start[:, 0, 1]}


def mean_entry(rows: np.ndarray, kind: str) -> Measured:
    """Mean of one kind of entry over draws."""
    return average(entries(rows)[kind])


signs = runs.planted_rows
study.claim(
    "gaussian-major-entries",
    "For Gaussian U the major entries of W start at width x variance on average, within 2 %.",
    yang2025("E.1"), mean_entry, near(1.0, 0.02, "derived"), on=(runs.rows["gaussian"], "major"),
    fails_on=case("the minor entries", runs.rows["gaussian"], "minor"),
    holds_on=case("planted orthogonal rows of signs", signs, "major"),
)  # fmt: skip
study.claim(
    "gaussian-minor-entries",
    "For Gaussian U the minor entries of W start at zero on average, within 2 % of width x "
    "variance.",
    yang2025("E.1"), mean_entry, near(0.0, 0.02, "derived"), on=(runs.rows["gaussian"], "minor"),
    fails_on=case("uniform positive starts", runs.rows["uniform"], "minor"),
    holds_on=case("planted orthogonal rows of signs", signs, "minor"),
    note=lambda rows, _: "Their variance is {minor:.3f}, that of major entries {major:.3f}, in "
    "units of (width x variance)^2; derived: 1/8 and 2/8 at width 8.".format(
        **{kind: x.var() for kind, x in entries(rows).items()}
    ),
)  # fmt: skip
