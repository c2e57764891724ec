"""Descent along the kernel's top eigenvector p1(t), on pictures (zhu2024 Figs. B.2, B.3).

A step is <p1, r'> = (1 - eta lambda1 + a) <p1, r> and p1^T K' p1 = lambda1 - b: `bend` is a,
`fall` is b. The loss is large where it is above its first value; a run in which it never is says
nothing about a catapult, and is not counted.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from dynascope.core.records import Measured
from dynascope.core.run import Run
from dynascope.core.sources import zhu2024
from dynascope.data import absence
from dynascope.probes.slopes import log_slope
from dynascope.studies.catapult.quadratic_general.networks import KINDS, NAMES, Kind
from dynascope.studies.catapult.quadratic_general.runs import RATE, Settings, on_pictures, study
from dynascope.studies.comparisons import at_least, in_all_seeds, near
from dynascope.studies.measures import average, farthest, share
from dynascope.studies.nodes import Missing, case
from dynascope.theories import QuadraticMap

TERMS = ("bend", "fall")


class Top(NamedTuple):
    """Descent confined to the kernel's top eigenvector p1(t), one seed; arrays are (step,).

    If descent diverges they end with the last finite kernel.
    """

    loss: np.ndarray  # mean of squares
    along: np.ndarray  # its part along p1(t)
    second: np.ndarray  # its part along p2(t)
    value: np.ndarray  # lambda1(t)
    bend: np.ndarray  # p1^T R_f p1, one shorter
    fall: np.ndarray  # p1^T R_K p1, one shorter

    @property
    def large(self) -> np.ndarray:
        """Whether the loss is above its first value."""
        return self.loss[:-1] > self.loss[0]

    @property
    def peak(self) -> int:
        """The step of the highest loss."""
        return int(self.loss.argmax())

    @property
    def positive(self) -> np.ndarray:
        """Whether both terms are."""
        return (self.bend > 0) & (self.fall > 0)


Tops = dict[str, list[Top]]  # by data set and seed


def top_eigenspace(run: Any, labels: np.ndarray) -> Top:
    """The terms of (B.13), (B.14) along p1(t), for the mean of squares at one rate and seed.

    R_f is defined only through what it does: <p1, r'> = (1 - eta lambda1 + p1^T R_f p1) <p1, r>.
    """
    run = run.isel({RATE: 0, "seed": 0})
    kernels, r = run["tangent_kernel"].values, run["training_output"].values - labels
    fine = np.isfinite(kernels).all(axis=(1, 2))
    kernels, r = kernels[fine], r[fine]
    values, vectors = np.linalg.eigh(kernels)
    first, second, n = vectors[..., -1], vectors[..., -2], r.shape[-1]
    eta = 2 * float(run[RATE]) / n
    now = np.einsum("ti,ti->t", first[:-1], r[:-1])
    after = np.einsum("ti,ti->t", first[:-1], r[1:])
    seen = np.einsum("ti,tij,tj->t", first[:-1], kernels[1:], first[:-1])
    return Top(
        np.mean(r**2, axis=-1), np.einsum("ti,ti->t", first, r) ** 2 / n,
        np.einsum("ti,ti->t", second, r) ** 2 / n, values[:, -1],
        after / now - 1 + eta * values[:-1, -1], values[:-1, -1] - seen,
    )  # fmt: skip


@study.finding(on_pictures)
def tops(s: Settings, runs: dict[str, dict[str, Run]]) -> dict[Kind, Tops] | Missing:
    """By architecture and model, on every data set that is there."""
    if not runs:
        return Missing("; ".join(map(absence, s.pictures)))
    found: dict[Kind, Tops] = {kind: {data: [] for data in runs} for kind in KINDS}
    kinds = [kind for kind in KINDS for _ in range(s.picture_seeds)]
    for data, own in runs.items():
        for kind, run in zip(kinds, own.values(), strict=True):
            labels = np.asarray(run.experiment.task.arrays()[1], float).ravel()
            found[kind][data].append(top_eigenspace(run.dataset, labels))
    return found


@study.finding(tops)
def planted_tops(s: Settings, tops: dict[Kind, Tops]) -> dict[Kind, Tops]:
    """Runs that are catapulted along one sample, by the map of two numbers; the rest stands.

    With label 0 its terms are u and u (4 - v) / eta: positive, and in proportion to the loss.
    """
    n, steps, eta = 4, 30, 2.5
    axes = (RATE, "seed", "step")
    found = []
    for seed in range(s.picture_seeds):
        path = QuadraticMap(eta, 1e4, output=0.3 + 0.01 * seed).trajectory(steps)
        outputs = np.full((steps + 1, n), 0.01)
        outputs[:, 0] = path.residual
        kernels = np.broadcast_to(0.1 * np.eye(n), (steps + 1, n, n)).copy()
        kernels[:, 0, 0] = path.kernel
        run = xr.Dataset(
            {
                "tangent_kernel": ((*axes, "i", "j"), kernels[None, None]),
                "training_output": ((*axes, "i"), outputs[None, None]),
            },
            {RATE: [eta * n / 2]},
        )
        found.append(top_eigenspace(run, np.zeros(n)))
    return {kind: {data: found for data in by_data} for kind, by_data in tops.items()}


def in_seeds(tops: Tops, number: Callable[[Top], float], worst: Callable = np.min) -> np.ndarray:
    """A number for every seed: the worst over data sets; without seeds in which it is NaN."""
    found = [[number(top) for top in seed] for seed in zip(*tops.values(), strict=True)]
    return np.array([worst(seed) for seed in found if not np.isnan(seed).any()])


def _listed(tops: Tops, measure: Callable[[Top], float]) -> str:
    """A number by data set: the median over seeds, and the smallest."""
    found = ((data, [measure(top) for top in own]) for data, own in tops.items())
    return "Median (smallest): " + "; ".join(
        f"{NAMES[data]} {np.nanmedian(v):.3f} ({np.nanmin(v):.3f})" for data, v in found
    ) + "."  # fmt: skip


def _positive(top: Top, late: bool) -> float:
    """Share of steps with a large loss (or small, after the peak) at which both terms are."""
    after = np.arange(len(top.bend)) > top.peak
    chosen = after & ~top.large if late else top.large
    return float(top.positive[chosen].mean()) if chosen.any() else float("nan")


def stay_positive(tops: Tops, late: bool) -> Measured:
    """Share of seeds with both terms positive at every step with a large loss.

    If `late`, at every step with a small loss after the peak.
    """
    return share(in_seeds(tops, lambda top: _positive(top, late)) == 1)


def _exceptions(tops: Tops, late: bool) -> str:
    every = [top for own in tops.values() for top in own]
    worst = max(t.loss[:-1][~t.positive].max(initial=0) / t.loss.max() for t in every)
    shares = _listed(tops, lambda top: _positive(top, late))
    return f"{shares} Exceptions have losses of up to {worst:.0%} of the peak."


def _slope(top: Top, term: str) -> float:
    """Slope of a term in the loss while it is large and rises: later lambda1 is smaller.

    NaN for fewer than two such steps, or if the term is not positive at one of them.
    """
    chosen = top.large & (np.arange(len(top.bend)) <= top.peak)
    return log_slope(top.loss[:-1][chosen], getattr(top, term)[: len(chosen)][chosen])


def _farthest(slopes: list[float]) -> float:
    """The slope farthest from 1."""
    return farthest(slopes, 1)


def slope(tops: Tops, terms: tuple[str, ...]) -> Measured:
    """Slope of terms in the loss: the one farthest from 1 over terms and data, mean over seeds."""

    def own(top: Top) -> float:
        slopes = [_slope(top, term) for term in terms]
        return float("nan") if np.isnan(slopes).any() else _farthest(slopes)

    return average(in_seeds(tops, own, _farthest))


def _slopes(tops: Tops, terms: tuple[str, ...]) -> str:
    seeds = max(map(len, tops.values()))
    lost = seeds - slope(tops, terms).n
    none = f" {lost} of {seeds} seeds have none: a term is not positive somewhere." if lost else ""
    listed = (f"{t}: {_listed(tops, lambda top, t=t: _slope(top, t))}" for t in terms)  # type: ignore[misc]
    return " ".join(listed) + none


def _at_peak(top: Top, part: str) -> float:
    """Share of the highest loss along p1 (or p2)."""
    return float(getattr(top, part)[top.peak] / top.loss[top.peak])


def share_at_peak(tops: Tops, part: str) -> Measured:
    """Share of the highest loss along p1 (or p2): the smallest over data, mean over seeds."""
    return average(in_seeds(tops, lambda top: _at_peak(top, part)))


SUBJECTS = (  # in the order of KINDS
    ("", "the quadratic model", "Fig. B.2"),
    ("network-", "the network", "Fig. B.3"),
    ("convolution-", "the convolution's quadratic model", "Fig. B.2"),
    ("convolution-network-", "the convolutional network", "Fig. B.3"),
)
for _kind, (_prefix, _who, _figure) in zip(KINDS, SUBJECTS, strict=True):
    _tops, _planted = tops[_kind], planted_tops[_kind]
    # Convolutions stand in for the thesis's at all scales but its own.
    _small = _prefix.startswith("convolution")
    _shown = zhu2024(_figure, how="at sizes up to those of" if _small else "")
    study.claim(
        f"{_prefix}terms-positive",
        f"While the loss of {_who} is large, p1^T R_f p1 and p1^T R_K p1 are positive.",
        _shown, stay_positive, in_all_seeds("ours" if _small else "printed"), on=(_tops, False),
        exploratory=_small,
        fails_on=case("after the catapult, with a small loss", _tops, True),
        holds_on=case("the map of two numbers, planted", _planted, False), note=_exceptions,
    )  # fmt: skip
    study.claim(
        f"{_prefix}terms-scale-with-loss",
        f"While the loss of {_who} rises, both terms grow like it, to a power from 0.75 to 1.25.",
        _shown, slope, near(1, 0.25, "ours"), on=(_tops, TERMS), note=_slopes, exploratory=_small,
        fails_on=case("lambda1 itself", _tops, ("value",)),
        holds_on=case("the map of two numbers, planted", _planted, TERMS),
    )  # fmt: skip
    study.claim(
        f"{_prefix}spike-along-p1",
        f"At least nine tenths of the highest loss of {_who} lie along p1.",
        _shown, share_at_peak, at_least(0.9, "ours"), on=(_tops, "along"), exploratory=_small,
        fails_on=case("along the second eigenvector", _tops, "second"),
        holds_on=case("the map of two numbers, planted", _planted, "along"),
        note=lambda tops, part: _listed(tops, lambda top: _at_peak(top, part)),
    )  # fmt: skip


def _correlation(top: Top, term: str) -> float:
    """Of the loss and a term, from the start to the step at the peak."""
    count = min(top.peak + 1, len(top.bend))
    both = top.loss[:count], getattr(top, term)[:count]
    # Two points always lie on a line, whatever they are.
    return float(np.corrcoef(*both)[0, 1]) if count > 2 else float("nan")


def correlation(tops: dict[Kind, Tops], terms: tuple[str, ...]) -> Measured:
    """Correlation of terms with the loss up to the peak: the smallest of a seed, mean over them."""
    every: Any = {(k, d): own for k, by_data in tops.items() for d, own in by_data.items()}
    return average(in_seeds(every, lambda top: np.min([_correlation(top, t) for t in terms])))


def _follows_least(tops: dict[Kind, Tops], terms: tuple[str, ...]) -> str:
    found = {
        (kind, data): min(_correlation(top, term) for top in own for term in terms)
        for kind, by_data in tops.items() for data, own in by_data.items()
    }  # fmt: skip
    (kind, data), least = min(found.items(), key=lambda item: item[1])
    return f"Smallest: {least:.3f}, {kind[0]} {kind[1]}, {NAMES[data]}."


study.claim(
    "climb-terms-follow-loss",
    "Up to the peak both terms follow the loss with a correlation of at least 0.9, in both "
    "architectures, both models and on all pictures.",
    zhu2024("Figs. B.2, B.3, in a weaker reading"), correlation, at_least(0.9, "ours"),
    on=(tops, TERMS), fails_on=case("lambda1 itself", tops, ("value",)),
    holds_on=case("the map of two numbers, planted", planted_tops, TERMS), note=_follows_least,
    exploratory=True,
)  # fmt: skip
