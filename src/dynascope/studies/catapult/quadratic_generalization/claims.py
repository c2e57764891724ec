"""Agreement below the critical rate, divergence of the linear model, gains past it.

Gains are of equal training progress: rates past the critical one learn faster, and a run that
has not converged gains by that alone.
"""

from typing import Any

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.sources import zhu2024
from dynascope.studies.catapult.quadratic_generalization import runs
from dynascope.studies.catapult.quadratic_generalization.progress import best_until
from dynascope.studies.catapult.quadratic_generalization.runs import study
from dynascope.studies.catapult.quadratic_generalization.settings import (
    ACCURACY,
    OTHER_DATA,
    PANELS,
    parts,
)
from dynascope.studies.catapult.quadratic_generalization.starts import Curve
from dynascope.studies.catapult.quadratic_generalization.sweeps import Sweep
from dynascope.studies.comparisons import at_least, at_most, in_all_seeds
from dynascope.studies.extremes import largest, smallest
from dynascope.studies.measures import average, share
from dynascope.studies.nodes import Missing, case

EDGE = 0.05  # rates so near to critical take longer than a run to show what they do
RANGE = 1.5  # in units of the critical rate
TRAINED = ("network", "quadratic")
SLOWER = 0.7  # rates below count as small for the linear model
NO_COMMON_RATES = "the seeds' critical rates differ too much for common rates: widen the network"
NOT_CONVERGED = "best test losses still fall in the second half: train for more steps"
Found = dict[str, Sweep]


def _differences(found: Found, change: str) -> dict[str, Measured]:
    """Spread of the three best losses over their smallest by panel, mean over seeds.

    The largest over rates below the critical one.
    """
    differences = {}
    for name, sweep in found.items():
        below, past = sweep.ratio.max(axis=1) < 1, sweep.ratio.min(axis=1) > 1
        if parts(name)[1] == change and below.any() and past.any():
            best = np.array([c.best[below] for c in sweep.curves.values()])
            spread = (best.max(axis=0) - best.min(axis=0)) / best.min(axis=0)
            label = f"{sweep.title}, width {sweep.setting.width:,}"
            differences[label] = average(spread.max(axis=0))
    return differences


def difference(found: Found, change: str) -> Measured | Missing:
    """The difference of the three models on the panel with one change where it is largest."""
    if change not in (parts(name)[1] for name in found):
        return Missing("no panel of this kind is among the panels")
    differences = _differences(found, change)
    return largest(differences.values()) if differences else Missing(NO_COMMON_RATES)


def _listed(found: Found, change: str) -> str:
    below = _differences(found, change)
    return "; ".join(f"{title} {gap.value:.2%}" for title, gap in below.items()) + "."


for _change, _slug, _where, _place in (
    ("", "", "Below", "section 3.4, Fig. 3.4"),
    ("deep", "-deep", "In three layers below", "Figs. B.8, B.9"),
    ("tanh", "-tanh", "With tanh below", "Figs. B.10-B.13"),
    ("swish", "-swish", "With swish below", "Figs. B.10-B.13"),
):
    study.claim(
        f"same-below{_slug}",
        f"{_where} the critical rate the best test losses of network, linear and quadratic "
        "model agree within 3 %, on every panel.",
        zhu2024(_place), difference, at_most(0.03, "ours"), on=(runs.panels, _change),
        note=_listed,
        fails_on=case("one model worse just below the critical rate, planted", runs.parted_panels,
                      _change),
        holds_on=case("linear networks on digits, trained step by step and solved",
                      runs.known_same, ""),
    )  # fmt: skip


def trains_below(found: Found, kind: str) -> Measured | Missing:
    """Share of seeds on all samples that train if and only if their rate is below critical."""
    whole = [sweep for sweep in found.values() if sweep.setting.batch_size is None]
    if not whole:
        return Missing("every panel trains on batches: add one to panels")
    agree = [
        np.isfinite(p.ratio)
        & ((p.curves[kind].trained == (p.ratio < 1)) | (np.abs(p.ratio - 1) <= EDGE))
        for p in whole
    ]
    return share(np.concatenate([flags.all(axis=0) for flags in agree]))


study.claim(
    "linear-diverges",
    "On all samples at once the linear model trains exactly if the rate is below critical.",
    zhu2024("(3.7), Fig. 3.1"), trains_below, in_all_seeds("derived"),
    on=(runs.panels, "linear"), fails_on=case("the network", runs.panels, "network"),
    holds_on=case("divergence past the critical rate, planted", runs.planted_panels, "linear"),
    note=f"Rates within {EDGE:.0%} of the critical one are left out: growth is slow there.",
)  # fmt: skip


def _at(curve: Curve, rates: np.ndarray) -> Curve:
    return Curve(*(part[rates] for part in curve))


def _gains(before: Curve, after: Curve, part: str, equal: bool) -> np.ndarray:
    """(seeds,) what a rate gains over the best of others: of the loss a share, of accuracy points.

    At equal training loss, or over all of training.
    """
    # The lowest training loss that the fastest rate of both comes down to.
    level = np.maximum(before.lowest, after.lowest) if equal else -np.inf * after.lowest
    old, new = best_until(before, level), best_until(after, level)
    if part == "loss":
        return 1 - new[0][0] / old[0].min(axis=0)
    return new[1][0] - old[1].max(axis=0)


def _chosen_by_others(gains: np.ndarray) -> np.ndarray:
    """(seeds,) each seed's gain at the rate that is best for the others; gains (rates, seeds)."""
    others = gains.sum(axis=1, keepdims=True) - gains
    return np.take_along_axis(gains, others.argmax(axis=0)[None], axis=0)[0]


def gain(
    sweep: Sweep, kinds: tuple[str, ...], edge: float, end: float, part: str, equal: bool
) -> Measured | Missing:
    """Gain of the larger rates over the smaller ones, for the model that gains least.

    Rates from `edge` to `end` count as larger. At equal training loss; or over all of training,
    if it has converged.
    """
    below, above = sweep.ratio.max(axis=1) < 1, sweep.ratio.min(axis=1) > 1
    if not (below.any() and above.any()):
        return Missing(NO_COMMON_RATES)
    low = sweep.ratio.max(axis=1) < edge
    past = (sweep.ratio.min(axis=1) > edge) & (sweep.ratio.max(axis=1) <= end)
    found = []
    for kind in kinds:
        curve = sweep.curves[kind]
        chosen = np.flatnonzero(past & curve.trained.all(axis=1))
        if not low.any() or not len(chosen):
            return Missing(f"no rate from {edge:g} to {end:g} at which every seed trains")
        before = _at(curve, low)
        if not (equal or (before.settled and _at(curve, chosen).settled)):
            return Missing(NOT_CONVERGED)
        rows = [_gains(before, _at(curve, np.array([i])), part, equal) for i in chosen]
        found.append(average(_chosen_by_others(np.array(rows))))
    return smallest(found)


def table(sweep: Sweep, *_: Any) -> str:
    """Best test losses of the three models at every rate."""

    def cell(kind: str, row: int) -> str:
        curve = sweep.curves[kind]
        return f"{curve.best[row].mean():.3f}" if curve.trained[row].all() else "diverges"

    kinds, ratios = ("linear", "quadratic", "network"), sweep.ratio.mean(axis=1)
    rows = [f"{r:.2f}: {' / '.join(cell(k, i) for k in kinds)}" for i, r in enumerate(ratios)]
    head = f"Best test loss ({' / '.join(kinds)}) by rate over critical rate, all of training: "
    return head + "; ".join(rows) + f". Critical rate {sweep.critical.mean():.3g}."


for _panel, (_where, _place) in PANELS.items():
    for _equal, _suffix, _when in ((True, "", "at equal training loss"),
                                   (False, "-converged", "at convergence")):  # fmt: skip
        for _part, _slug, _words, _least in (
            ("loss", "gain", "lowers the best test loss of both by 2 %", 0.02),
            ("accuracy", "accuracy", "raises the best test accuracy of both by one point", 0.01),
        ):  # fmt: skip
            if _part == "accuracy" and _panel not in ACCURACY:
                continue
            _seen, _planted = runs.sweeps[_panel], runs.planted_sweeps[_panel]
            _past = (1.0, RANGE, _part, _equal)
            study.claim(
                f"{_slug}-{_panel.replace('_', '-')}{_suffix}",
                f"{_where}, network and quadratic model: some rate from 1 to 1.5 times the "
                f"critical one {_words} or more, {_when}.",
                zhu2024(_place, how="on other data than" if _panel in OTHER_DATA else ""), gain,
                at_least(_least, "ours"), on=(_seen, TRAINED, *_past), note=table,
                exploratory=_panel in OTHER_DATA,
                fails_on=case(
                    "the linear model at its largest rate below critical against smaller ones",
                    _seen, ("linear",), SLOWER, 1.0, _part, _equal,
                ),
                holds_on=case("lower test losses past the critical rate, planted", _planted,
                              TRAINED, *_past),
            )  # fmt: skip
