"""Which direction is catapulted, in the quadratic model and in the network."""

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.sources import zhu2024
from dynascope.probes.slopes import log_slope
from dynascope.studies.catapult.quadratic_multi import runs
from dynascope.studies.catapult.quadratic_multi.equations import quadratic, within
from dynascope.studies.catapult.quadratic_multi.runs import (
    ABOVE,
    BELOW,
    BETWEEN,
    PAST,
    Sweep,
    study,
)
from dynascope.studies.comparisons import in_all_seeds
from dynascope.studies.measures import share
from dynascope.studies.nodes import Missing, case

NO_RISE = 1 + 1e-9
CATAPULTED = ((BETWEEN, 0), (ABOVE, 0), (ABOVE, 1))  # rates and directions
FIGURE = 5000  # the figure's width
TOO_NARROW = f"the figure's width is {FIGURE:,}: narrower kernels move more, like 1 / width"


def _of(sweeps: list[Sweep], rate: int) -> list[np.ndarray]:
    """Both eigenvalues over time over their first value, (direction, step), seed by seed."""
    return [sweep.kernels[:, rate] / sweep.kernels[:, rate, :1] for sweep in sweeps]


def stand(sweeps: list[Sweep], rate: int) -> Measured | Missing:
    """Share of seeds whose eigenvalues never move by more than 1 %."""
    if sweeps[0].width < FIGURE:
        return Missing(TOO_NARROW)
    return share(np.array([np.abs(v - 1).max() <= 0.01 for v in _of(sweeps, rate)]))


def first_falls(sweeps: list[Sweep], rate: int) -> Measured | Missing:
    """Share of seeds whose first eigenvalue falls by 3 % and second never moves by over 1 %."""
    if sweeps[0].width < FIGURE:
        return Missing(TOO_NARROW)
    found = _of(sweeps, rate)
    return share(np.array([v[0, -1] <= 0.97 and np.abs(v[1] - 1).max() <= 0.01 for v in found]))


def both_fall(sweeps: list[Sweep], rate: int) -> Measured:
    """Share of seeds whose eigenvalues have both fallen by 20 % in the end."""
    return share(np.array([(v[:, -1] <= 0.8).all() for v in _of(sweeps, rate)]))


def share_diverged(sweeps: list[Sweep], rate: int) -> Measured:
    """Share of seeds that diverge at a rate."""
    return share(np.array([sweep.diverged[rate] for sweep in sweeps]))


def first_falls_most(sweeps: list[Sweep], rate: int) -> Measured:
    """Share of seeds whose first eigenvalue falls three times as far as the second moves."""
    return share(np.array([1 - v[0, -1] >= 3 * abs(1 - v[1, -1]) for v in _of(sweeps, rate)]))


def _falls(sweeps: list[Sweep], rate: int) -> str:
    first, second = (1 - np.array([v[:, -1] for v in _of(sweeps, rate)])).T
    return (
        f"Of {len(sweeps)} seeds the first falls by {first.min():.1%} to {first.max():.1%}, the "
        f"second by {second.min():.1%} to {second.max():.1%}."
    )


for _model, _prefix, _stands, _first, _both, _diverges in (
    ("quadratic model", "", "Fig. 3.3", "Fig. 3.3, Thm. 3.3.6 (1)", "Fig. 3.3, Thm. 3.3.6 (2)",
     "appendix B.11"),
    ("network", "network-", "Fig. B.1", "Fig. B.1, as described", "Fig. B.1",
     "Fig. B.1, with the largest rate of the quadratic model"),
):  # fmt: skip
    _sweeps, _planted = runs.sweeps[_model], runs.planted[_model]
    study.claim(
        f"{_prefix}kernel-stands",
        f"Below both critical rates both eigenvalues of the {_model}'s kernel stand, within 1 %.",
        zhu2024(_stands), stand, in_all_seeds("ours"), on=(_sweeps, BELOW),
        fails_on=case("between the critical rates", _sweeps, BETWEEN),
        holds_on=case("eigenvalues that move by half a percent, planted", _planted, BELOW),
    )  # fmt: skip
    study.claim(
        f"{_prefix}only-the-first-falls",
        f"Between the critical rates the second eigenvalue of the {_model}'s kernel stands within "
        "1 % while the first falls by 3 % or more.",
        zhu2024(_first), first_falls, in_all_seeds("ours"), on=(_sweeps, BETWEEN),
        fails_on=case("above both", _sweeps, ABOVE), note=_falls,
        holds_on=case("a fall of the first alone, planted", _planted, BETWEEN),
        partner="network-first-falls-most" if _prefix else None,
    )  # fmt: skip
    study.claim(
        f"{_prefix}both-fall",
        f"Above both critical rates both eigenvalues of the {_model}'s kernel fall 20 % or more.",
        zhu2024(_both), both_fall, in_all_seeds("ours"), on=(_sweeps, ABOVE),
        fails_on=case("below both", _sweeps, BELOW), note=_falls,
        holds_on=case("falls of 60 %, planted", _planted, ABOVE),
    )  # fmt: skip
    study.claim(
        f"{_prefix}diverges",
        f"At 2.1 times the first critical rate descent of the {_model} diverges.",
        zhu2024(_diverges, how="a reading of" if _prefix else ""), share_diverged,
        in_all_seeds("ours" if _prefix else "derived"), on=(_sweeps, PAST),
        exploratory=bool(_prefix),
        fails_on=case("1.2 times the second critical rate", _sweeps, ABOVE),
        holds_on=case("flags of divergence, planted", _planted, PAST),
    )  # fmt: skip
study.claim(
    "network-first-falls-most",
    "In the network between the critical rates the first eigenvalue falls at least three times as "
    "far as the second moves.",
    zhu2024("Fig. B.1, in a weaker reading"), first_falls_most, in_all_seeds("ours"),
    on=(runs.sweeps["network"], BETWEEN), partner="network-only-the-first-falls",
    fails_on=case("above both", runs.sweeps["network"], ABOVE),
    holds_on=case("a fall of the first alone, planted", runs.planted["network"], BETWEEN),
    note=_falls, exploratory=True,
)  # fmt: skip


def in_proportion(*rises: np.ndarray) -> Measured:
    """Share of seeds whose peaks grow with the width to a power from 0.93 to 1.05."""
    slopes = np.array([[log_slope(runs.WIDTHS, seed) for seed in found] for found in rises])
    return share(((slopes >= 0.93) & (slopes <= 1.05)).all(axis=0))


def _is_above(rate: float, kernel: float, above: bool) -> bool:
    """Whether a rate is above (or not above) 2 / lambda; neither where lambda is no number."""
    return bool(np.isfinite(kernel)) and (rate > 2 / kernel) == above


def above_critical(sweeps: list[Sweep], step: int, at: tuple, above: bool) -> Measured:
    """Share of seeds whose rates are all above (or all below) 2 / lambda of their direction."""
    flags = [
        [_is_above(s.start.half(rate), s.kernels[k, rate, step], above) for rate, k in at]
        for s in sweeps
    ]
    return share(np.array(flags).all(axis=1))


rises = runs.rises
study.claim(
    "theorem-between",
    "Between the critical rates the loss along p1 peaks in proportion to the width.",
    zhu2024("Thm. 3.3.6 (1)", how="derived; sharpens"), in_proportion, in_all_seeds("ours"),
    on=rises[BETWEEN, 0], fails_on=case("below both", rises[BELOW, 0]),
    holds_on=case("a tenth of the width, planted", runs.planted_rises),
    note="In proportion: to a power from 0.93 to 1.05.",
)  # fmt: skip
study.claim(
    "theorem-second-rests",
    "Between the critical rates the loss along p2 never rises, at any width.",
    zhu2024("Thm. 3.3.6 (1)"), within, in_all_seeds("derived"),
    on=(rises[BETWEEN, 1], NO_RISE),
    fails_on=case("along p1", rises[BETWEEN, 0], NO_RISE),
    holds_on=case("along p1 below both", rises[BELOW, 0], NO_RISE),
)  # fmt: skip
study.claim(
    "theorem-above",
    "Above both critical rates the loss along p1 and along p2 peaks in proportion to the width.",
    zhu2024("Thm. 3.3.6 (2)", how="derived; sharpens"), in_proportion, in_all_seeds("ours"),
    on=(rises[ABOVE, 0], rises[ABOVE, 1]),
    fails_on=case("between them", rises[BETWEEN, 0], rises[BETWEEN, 1]),
    holds_on=case("a tenth of the width, planted", runs.planted_rises, runs.planted_rises),
)  # fmt: skip
study.claim(
    "far-apart", "If the second critical rate is past the largest rate, p2 is never catapulted.",
    zhu2024("appendix B.12"), within, in_all_seeds("derived"),
    on=(runs.rises_of_second[0.45], NO_RISE),
    fails_on=case("lambda2 at 0.8", runs.rises_of_second[0.8], NO_RISE),
    holds_on=case("lambda2 at 0.1: v below 0.4", runs.rises_of_second[0.1], NO_RISE),
)  # fmt: skip
study.claim(
    "after-as-printed", "Once a catapult is over the rate is above 2 / lambda of its direction.",
    zhu2024("appendix B.11"), above_critical, in_all_seeds("printed"),
    on=(quadratic, -1, CATAPULTED, True),
    fails_on=case("rates below both", quadratic, -1, ((BELOW, 0),), True),
    holds_on=case("before it begins", quadratic, 0, CATAPULTED, True),
    note="It must read below: that is why descent then converges.", partner="after",
)  # fmt: skip
study.claim(
    "after", "Once a catapult is over the rate is below 2 / lambda of its direction.",
    zhu2024("appendix B.11", how="corrects"), above_critical, in_all_seeds("derived"),
    on=(quadratic, -1, CATAPULTED, False), partner="after-as-printed",
    fails_on=case("before it begins", quadratic, 0, CATAPULTED, False),
    holds_on=case("rates below both", quadratic, 0, ((BELOW, 0), (BELOW, 1)), False),
)  # fmt: skip
