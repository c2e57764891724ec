"""What gamma, width and rate do to the peak and to the last kernel (zhu2024 Fig. B.4).

`general` has axes (gamma, rate, seed), `widths` (width, rate, seed).
"""

from typing import Any

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.sources import zhu2024
from dynascope.probes.slopes import log_slope
from dynascope.studies.catapult.quadratic_general import runs
from dynascope.studies.catapult.quadratic_general.runs import GAMMAS, RATES, Curves, study
from dynascope.studies.comparisons import at_most, in_all_seeds, near
from dynascope.studies.measures import average, share
from dynascope.studies.nodes import case

USUAL, PRINTED = GAMMAS.index(1e-3), RATES.index(2.8)
SMALL = slice(USUAL, None)  # gamma
general, widths = runs.general, runs.widths
planted, planted_widths = runs.planted_general, runs.planted_widths
AT_14, AT_09 = runs.MULTIPLES.index(1.4), runs.MULTIPLES.index(0.9)


def at(*rates: float) -> list[int]:
    """The places of learning rates."""
    return [RATES.index(rate) for rate in rates]


def peak_slope(curves: Curves, rate: float) -> Measured:
    """Slope of the peak loss in gamma, mean over seeds."""
    peaks = curves.peak[:, RATES.index(rate)].T
    return average(np.array([log_slope(GAMMAS, p) for p in peaks]))


def spread(curves: Curves, of: str, where: Any) -> Measured:
    """Largest over smallest along the first axis, less one; mean over seeds."""
    values = getattr(curves, of)[where]
    return average(values.max(axis=0) / values.min(axis=0) - 1)


def grow(curves: Curves, of: str, where: Any, factor: float, axis: int) -> Measured:
    """Share of seeds in which each value is larger than the one before, by the stated factor.

    With a factor below 1: at most that many times. A value that diverged has not grown.
    """
    values = np.moveaxis(getattr(curves, of)[where], axis, 0)
    with np.errstate(invalid="ignore"):
        ratios = values[1:] / values[:-1]
    kept = np.isfinite(ratios) & (ratios >= factor if factor > 1 else ratios <= factor)
    return share(np.asarray(kept.reshape(-1, kept.shape[-1]).all(axis=0)))


def never_rises(curves: Curves, rate: float) -> Measured:
    """Share of seeds whose loss never passes its first value, at every small gamma."""
    return share(np.all(curves.rise[SMALL, RATES.index(rate)] <= 1 + 1e-9, axis=0))


def diverges(curves: Curves, rate: float) -> Measured:
    """Share of seeds that diverge at a rate, at every small gamma."""
    return share(np.isinf(curves.peak[SMALL, RATES.index(rate)]).all(axis=0))


study.claim(
    "peak-by-gamma", "A smaller gamma makes a higher peak: in proportion to 1 / gamma^2.",
    zhu2024("Fig. B.4 a, with the order derived"), peak_slope, near(-2, 0.1, "ours"),
    on=(general, 2.8), fails_on=case("rate 1.9", general, 1.9),
    holds_on=case("peaks like 1 / gamma^2, planted", planted, 2.8),
)  # fmt: skip
KERNELS = (SMALL, PRINTED)
study.claim(
    "kernel-by-gamma", "Gamma has no effect on the last kernel: within 10 % for gamma up to 1e-3.",
    zhu2024("Fig. B.4 a"), spread, at_most(0.1, "ours"), on=(general, "kernel", KERNELS),
    fails_on=case("over rates", general, "kernel", (USUAL, at(2.1, 2.4, 2.8))),
    holds_on=case("kernels that depend on the rate alone, planted", planted, "kernel", KERNELS),
)  # fmt: skip


def _last_kernels(curves: Curves, of: str, where: Any, *_: Any) -> str:
    kernels = curves.kernel[where][:, 0]
    listed = (f"{RATES[r]:g}: {v:.2f}" for r, v in zip(where[1], kernels, strict=True))
    return f"Last kernels of the first seed: {', '.join(listed)}."


BELOW = (USUAL, at(1.5, 1.9))
for _suffix, _where, _rates, _ours in (
    ("", "From 2.1 to 2.8", at(2.1, 2.4, 2.8), False),
    ("-up-to-four", "All the way up to where descent diverges",
     at(2.1, 2.4, 2.8, 3.2, 3.6, 3.9), True),
):  # fmt: skip
    _place = zhu2024("Fig. B.4 a, whose rates are not given")
    study.claim(
        f"peak-by-rate{_suffix}", f"{_where} a larger rate makes a higher peak, by 5 % or more.",
        _place, grow, in_all_seeds("ours"), on=(general, "peak", (USUAL, _rates), 1.05, 0),
        fails_on=case("from 1.5 to 1.9", general, "peak", BELOW, 1.05, 0),
        holds_on=case("peaks like the rate less 2, planted", planted, "peak", (USUAL, _rates),
                      1.05, 0),
        exploratory=_ours,
    )  # fmt: skip
    study.claim(
        f"kernel-by-rate{_suffix}",
        f"{_where} a larger rate makes the kernel fall further, by 1 % or more.",
        _place, grow, in_all_seeds("ours"), on=(general, "kernel", (USUAL, _rates), 0.99, 0),
        fails_on=case("from 1.5 to 1.9", general, "kernel", BELOW, 0.99, 0), note=_last_kernels,
        holds_on=case("kernels that fall with the rate, planted", planted, "kernel",
                      (USUAL, _rates), 0.99, 0),
        exploratory=_ours,
    )  # fmt: skip
study.claim(
    "monotone-below", "At rate 1.9 the loss of a general quadratic model never rises.",
    zhu2024("Fig. B.4 a; lambda is close to 1"), never_rises, in_all_seeds("derived"),
    on=(general, 1.9), fails_on=case("rate 2.4", general, 2.4),
    holds_on=case("a loss that only falls, planted", planted, 1.9),
)  # fmt: skip
study.claim(
    "diverges-past-four", "At rate 4.1 a general quadratic model diverges.",
    zhu2024("section 3.3 and Fig. B.4 a; lambda is close to 1"), diverges,
    in_all_seeds("derived"), on=(general, 4.1), fails_on=case("rate 3.2", general, 3.2),
    holds_on=case("divergence, planted", planted, 4.1),
)  # fmt: skip

EVERY = slice(None)
RISING, CALM = (EVERY, slice(2, None)), (EVERY, slice(2))  # rates past critical, and below
study.claim(
    "network-peak-by-width",
    "A wider network has a higher peak at 1.4 times its critical rate, by 5 % or more.",
    zhu2024("Fig. B.4 b"), grow, in_all_seeds("ours"),
    on=(widths, "rise", (EVERY, AT_14), 1.05, 0),
    fails_on=case("at 0.9", widths, "rise", (EVERY, AT_09), 1.05, 0),
    holds_on=case("peaks like the width, planted", planted_widths, "rise", (EVERY, AT_14), 1.05, 0),
)  # fmt: skip
study.claim(
    "network-peak-by-rate", "A larger rate makes a network's peak higher, by 5 % or more.",
    zhu2024("Fig. B.4 b"), grow, in_all_seeds("ours"), on=(widths, "rise", RISING, 1.05, 1),
    fails_on=case("from 0.5 to 0.9", widths, "rise", CALM, 1.05, 1),
    holds_on=case("peaks that grow, planted", planted_widths, "rise", RISING, 1.05, 1),
)  # fmt: skip
study.claim(
    "network-kernel-by-rate",
    "A larger rate makes a network's kernel fall further, by 5 % or more.",
    zhu2024("Fig. B.4 b"), grow, in_all_seeds("ours"), on=(widths, "left", RISING, 0.95, 1),
    fails_on=case("from 0.5 to 0.9", widths, "left", CALM, 0.95, 1),
    holds_on=case("kernels that fall, planted", planted_widths, "left", RISING, 0.95, 1),
)  # fmt: skip
study.claim(
    "network-kernel-by-width",
    "The width has no effect on how far a network's kernel falls: within 10 %.",
    zhu2024("Fig. B.4 b"), spread, at_most(0.1, "ours"), on=(widths, "left", (EVERY, AT_14)),
    fails_on=case("over rates", widths, "left", (-1, slice(2, None))),
    holds_on=case("kernels that depend on the rate alone, planted", planted_widths, "left",
                  (EVERY, AT_14)),
    note=lambda curves, _, where: "First seed: "
    + ", ".join(f"{left:.3f}" for left in curves.left[where][:, 0]) + ".",
)  # fmt: skip
