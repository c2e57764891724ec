"""Claims about runs: what gamma, width and rate do to the peak and to the last kernel (B.4).

Bound by the study `quadratic-general`. `found.general` has axes (gamma, rate, seed),
`found.widths` (width, rate, seed).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dynascope.studies.base import claim
from dynascope.studies.catapult.variants import variant
from dynascope.studies.comparisons import (
    Evidence,
    at_least,
    at_most,
    average,
    compare,
    near,
    single,
)
from dynascope.studies.slopes import log_slope

GAMMAS = (1e-2, 1e-3, 1e-4, 1e-5)
RATES = (1.5, 1.9, 2.1, 2.4, 2.8, 3.2, 3.6, 3.9, 4.1)
MULTIPLES = (0.5, 0.9, 1.2, 1.4, 1.6)  # of the critical rate, for networks
PRINTED, USUAL = RATES.index(2.8), GAMMAS.index(1e-3)
SMALL = slice(USUAL, None)


def _at(*rates: float) -> list[int]:
    return [RATES.index(rate) for rate in rates]


def _spread(values: np.ndarray) -> float:
    """Largest over smallest along the first axis, less one; the worst seed."""
    return float((values.max(axis=0) / values.min(axis=0) - 1).max())


def _steps(values: np.ndarray) -> np.ndarray:
    """Ratios of successive values along the first axis."""
    return values[1:] / values[:-1]


@claim(
    "peak-by-gamma",
    "A smaller gamma makes a higher peak: in proportion to 1 / gamma^2.",
    "004 Fig. B.4 a, with the order derived",
)
def peak_by_gamma(study: Any, found: Any) -> Evidence:
    """Slope of the peak loss at rate 2.8, mean over seeds; at 1.9 there is no peak."""
    slopes = [
        average(np.array([log_slope(GAMMAS, p) for p in found.general.peak[:, rate].T]))
        for rate in (PRINTED, RATES.index(1.9))
    ]
    return compare(near(-2, 0.1), slopes[0], ("rate 1.9", slopes[1]))


@claim(
    "kernel-by-gamma",
    "Gamma has no effect on the last kernel: within 10 % for gamma up to 1e-3.",
    "004 Fig. B.4 a",
)
def kernel_by_gamma(study: Any, found: Any) -> Evidence:
    """Largest spread over gamma at rate 2.8; over rates it must be larger."""
    kernels = found.general.norm[..., -1]
    gammas = _spread(kernels[SMALL, PRINTED])
    rates = _spread(kernels[USUAL, _at(2.1, 2.4, 2.8)])
    return compare(at_most(0.1), single(gammas), ("over rates", single(rates)))


def _peak_by_rate(study: Any, found: Any, rates: list[int]) -> Evidence:
    """Smallest ratio of successive peaks, over seeds."""
    peaks = found.general.peak[USUAL]
    below = _steps(peaks[_at(1.5, 1.9)]).min()
    least = float(_steps(peaks[rates]).min())
    return compare(at_least(1.05), single(least), ("from 1.5 to 1.9", single(float(below))))


def _kernel_by_rate(study: Any, found: Any, rates: list[int]) -> Evidence:
    """Largest ratio of successive last kernels, over seeds."""
    kernels = found.general.norm[USUAL, ..., -1]
    below = _steps(kernels[_at(1.5, 1.9)]).max()
    most = float(np.nanmax(_steps(kernels[rates])))
    listed = ", ".join(
        f"{RATES[r]:g}: {v:.2f}" for r, v in zip(rates, kernels[rates, 0], strict=True)
    )
    return compare(
        at_most(0.99), single(most), ("from 1.5 to 1.9", single(float(below))),
        f"Last kernels of the first seed: {listed}.",
    )  # fmt: skip


ALL_CATAPULTS, SOME_CATAPULTS = _at(2.1, 2.4, 2.8, 3.2, 3.6, 3.9), _at(2.1, 2.4, 2.8)
peak_by_rate_as_printed = variant(
    "peak-by-rate-as-printed",
    "A larger rate makes a higher peak, up to where descent diverges.",
    "004 Fig. B.4 a",
    _peak_by_rate,
    rates=ALL_CATAPULTS,
)
peak_by_rate = variant(
    "peak-by-rate",
    "A larger rate makes a higher peak from 2.1 to 2.8.",
    "004 Fig. B.4 a, restricted",
    _peak_by_rate,
    rates=SOME_CATAPULTS,
)
kernel_by_rate_as_printed = variant(
    "kernel-by-rate-as-printed",
    "A larger rate makes the kernel fall further, up to where descent diverges.",
    "004 Fig. B.4 a",
    _kernel_by_rate,
    rates=ALL_CATAPULTS,
)
kernel_by_rate = variant(
    "kernel-by-rate",
    "A larger rate makes the kernel fall further from 2.1 to 2.8.",
    "004 Fig. B.4 a, restricted",
    _kernel_by_rate,
    rates=SOME_CATAPULTS,
)


@claim(
    "monotone-below",
    "At rate 1.9 the loss of a general quadratic model never rises.",
    "004 Fig. B.4 a; lambda is close to 1",
)
def monotone_below(study: Any, found: Any) -> Evidence:
    """Largest rise over gamma and seeds; at 2.4 it must rise."""
    below, above = (found.general.rise[SMALL, r] for r in _at(1.9, 2.4))
    return compare(
        at_most(1 + 1e-9), single(float(below.max())), ("rate 2.4", single(float(above.min())))
    )


@claim(
    "diverges-past-four",
    "At rate 4.1 a general quadratic model diverges.",
    "004 section 3.3 and Fig. B.4 a; lambda is close to 1",
)
def diverges(study: Any, found: Any) -> Evidence:
    """Share of gammas and seeds; at 3.2 none may."""
    past, before = (float(np.isinf(found.general.peak[SMALL, r]).mean()) for r in _at(4.1, 3.2))
    return compare(at_least(1), single(past), ("rate 3.2", single(before)))


@claim(
    "network-peak-by-width",
    "A wider network has a higher peak at 1.4 times its critical rate.",
    "004 Fig. B.4 b",
)
def peak_by_width(study: Any, found: Any) -> Evidence:
    """Smallest ratio of successive peaks over widths; below the critical rate there is none."""
    above, below = (_steps(found.widths.rise[:, MULTIPLES.index(m)]) for m in (1.4, 0.9))
    return compare(
        at_least(1.05), single(float(above.min())), ("at 0.9", single(float(below.max())))
    )


@claim(
    "network-peak-by-rate",
    "A larger rate makes a network's peak higher.",
    "004 Fig. B.4 b",
)
def network_peak_by_rate(study: Any, found: Any) -> Evidence:
    """Smallest ratio of successive rises from 1.2 to 1.6; below the critical rate it is 1."""
    rise = found.widths.rise.swapaxes(0, 1)
    control = ("from 0.5 to 0.9", single(float(_steps(rise[:2]).max())))
    return compare(at_least(1.05), single(float(_steps(rise[2:]).min())), control)


@claim(
    "network-kernel-by-rate",
    "A larger rate makes a network's kernel fall further.",
    "004 Fig. B.4 b",
)
def network_kernel_by_rate(study: Any, found: Any) -> Evidence:
    """Largest ratio of successive last kernels from 1.2 to 1.6."""
    left = found.widths.left.swapaxes(0, 1)
    control = ("from 0.5 to 0.9", single(float(_steps(left[:2]).min())))
    return compare(at_most(0.95), single(float(_steps(left[2:]).max())), control)


@claim(
    "network-kernel-by-width",
    "The width has no effect on how far a network's kernel falls: within 10 %.",
    "004 Fig. B.4 b",
)
def network_kernel_by_width(study: Any, found: Any) -> Evidence:
    """Largest spread over widths at 1.4 times the critical rate; over rates it must be larger."""
    left = found.widths.left
    widths = _spread(left[:, MULTIPLES.index(1.4)])
    rates = _spread(left.swapaxes(0, 1)[2:, -1])
    listed = ", ".join(
        f"{m:,}: {v:.3f}"
        for m, v in zip(study.widths, left[:, MULTIPLES.index(1.4), 0], strict=True)
    )
    return compare(
        at_most(0.1), single(widths), ("over rates", single(rates)), f"First seed: {listed}."
    )
