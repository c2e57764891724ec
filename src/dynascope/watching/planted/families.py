"""For each diagnosis, runs that have it and runs that do not, from several sources.

Whether a run has it is decided by how it was made, or by a definition on its whole record that is
written here: never by the rule that is judged.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dynascope.watching.planted.maps import quadratic, quartic
from dynascope.watching.planted.networks import Recipe, runs

if TYPE_CHECKING:
    import xarray as xr

Records = list["xr.Dataset"]
Source = Callable[[np.ndarray], Records]
TORCH = importlib.util.find_spec("torch") is not None


class Family(NamedTuple):
    """A diagnosis, and where runs come from that have it and that do not."""

    kind: str
    have: tuple[Source, ...]
    have_not: tuple[Source, ...]
    words: str  # what has it; what does not


def _between(seeds: np.ndarray, low: float, high: float) -> np.ndarray:
    return np.array([np.random.default_rng((7, int(s))).uniform(low, high) for s in seeds])


def _single(make: Callable[..., xr.Dataset], *arguments: object) -> Source:
    return lambda seeds: [make(int(seed), *arguments) for seed in seeds]


def _networks(
    low: float, high: float, which: Callable[[xr.Dataset], bool] | None = None, **recipe: object
) -> Source:
    """Ours, at multiples of the critical rate."""

    def source(seeds: np.ndarray) -> Records:
        found = runs(Recipe(**recipe), seeds, _between(seeds, low, high))  # type: ignore[arg-type]
        return [r for r in found if which is None or which(r)]

    return source


def _loops(
    low: float, high: float, which: Callable[[xr.Dataset], bool] | None = None, **recipe: object
) -> Source:
    """Loops of torch, at multiples of the critical rate."""

    def source(seeds: np.ndarray) -> Records:
        multiples = _between(seeds, low, high)
        found = [_trained(int(s), float(m), **recipe) for s, m in zip(seeds, multiples)]
        return [r for r in found if which is None or which(r)]

    return source


@lru_cache(maxsize=2000)  # plain loops are the same for every diagnosis that must not speak
def _trained(seed: int, multiple: float, **recipe: object) -> xr.Dataset:
    from dynascope.watching.planted.loops import Loop, trained

    rate: dict[str, float] = (
        {"rate": multiple} if recipe.get("strengths") else {"multiple": multiple}
    )
    return trained(Loop(**recipe), seed, **rate)  # type: ignore[arg-type]


def _ladder(start: float, strengths: tuple[float, ...], low: float, high: float) -> Source:
    recipe = Recipe(
        outputs=len(strengths), steps=500, linear=True, start=start, strengths=strengths
    )
    return lambda seeds: runs(recipe, seeds, rates=_between(seeds, low, high))


def _torch(name: str, *arguments: object) -> Source:
    def source(seeds: np.ndarray) -> Records:
        from dynascope.watching.planted import loops

        return [getattr(loops, name)(int(seed), *arguments) for seed in seeds]

    return source


def _values(record: xr.Dataset, name: str) -> np.ndarray:
    return record[name].dropna("step").values


def jumps(record: xr.Dataset) -> bool:
    """The loss doubles, comes back below its first value, and the curvature ends lower."""
    loss, sharp = record["loss"].values, _values(record, "sharpness")
    if not np.isfinite(loss).all():
        return False
    return bool(loss.max() > 2 * loss[0] and loss[-1] < loss[0] and sharp[-1] < 0.95 * sharp[0])


def at_the_edge(record: xr.Dataset) -> bool:
    """The mean of the last half of the ratios is within 5 % of 1, and the loss still falls."""
    loss, ratio = record["loss"].values, _values(record, "rate_over_critical")
    late = ratio[len(ratio) // 2 :]
    falls = np.isfinite(loss).all() and loss[-1] < loss[len(loss) // 2]
    return bool(abs(late.mean() - 1) < 0.05 and falls)


def sharpens(record: xr.Dataset) -> bool:
    """Sharpness doubles, mostly by small steps up, and the rate stays below the critical one."""
    sharp, ratio = _values(record, "sharpness"), _values(record, "rate_over_critical")
    up = (np.diff(sharp) > 0).mean()
    return bool(sharp[-1] > 2 * sharp[0] and up > 0.8 and ratio.max() < 1)


def stays_below(record: xr.Dataset) -> bool:
    """The rate is at most nine tenths of the critical one throughout."""
    return bool(_values(record, "rate_over_critical").max() < 0.9)


def _rises(low: float, high: float) -> Callable[[xr.Dataset], bool]:
    return lambda record: low <= record.attrs["rise"] < high


def _of(source: Source, which: Callable[[xr.Dataset], bool]) -> Source:
    return lambda seeds: [record for record in source(seeds) if which(record)]


def _combinations(seeds: np.ndarray) -> Records:
    from dynascope.watching.planted.combinations import combinations

    return combinations(seeds)


def _ours_and_torch(ours: Source, loops: Source) -> tuple[Source, ...]:
    return (ours, loops) if TORCH else (ours,)


SWING, NO_SWING = _rises(0.03, 1.0), _rises(0.0, 0.002)
CALM: dict[str, Any] = {
    "batch": 8,
    "scale": 30.0,
    "every": 12,
}  # batches on a model that is nearly linear
WEAK: dict[str, Any] = {"start": 0.3, "steps": 400, "every": 10}
LADDER: dict[str, Any] = {
    "outputs": 2, "linear": True, "start": 1e-3, "strengths": (2.0, 1.0), "width": 8,
    "steps": 500, "every": 10,
}  # fmt: skip

FAMILIES = (
    Family(
        "catapult",
        _ours_and_torch(
            _networks(1.1, 1.6, jumps, steps=300), _loops(1.1, 1.6, jumps, steps=240, every=8)
        ),
        _ours_and_torch(
            _networks(0.02, 0.4, stays_below),
            _loops(0.05, 0.3, stays_below, bad_batch=True),
        ),
        "tanh networks from above the critical rate; below it, and with one bad batch",
    ),
    Family(
        "edge of stability",
        _ours_and_torch(
            _networks(0.7, 0.95, at_the_edge, steps=1200),
            _loops(0.75, 1.1, at_the_edge, steps=600, every=12),
        ),
        _ours_and_torch(_single(quadratic, 0.3, 0.99), _loops(0.05, 0.3, **CALM)),
        "tanh networks that end there; quadratics just below it, loops with batches",
    ),
    Family(
        "progressive sharpening",
        _ours_and_torch(
            _networks(0.02, 0.2, sharpens, **WEAK), _loops(0.02, 0.2, sharpens, **WEAK)
        ),
        _ours_and_torch(_networks(0.1, 0.9, scale=30.0, width=16), _loops(0.05, 0.3, **CALM)),
        "tanh networks from a small start; with outputs scaled by 30",
    ),
    Family(
        "divergence ahead",
        _ours_and_torch(_single(quadratic, 1.02, 1.2), _torch("regression", 1.03, 1.2)),
        _ours_and_torch(_single(quadratic, 0.3, 0.98), _torch("regression", 0.3, 0.98)),
        "quadratics past the critical rate; below it",
    ),
    Family(
        "oscillation",
        _ours_and_torch(_single(quartic, 1.03, 1.2), _torch("product", 1.03, 1.15)),
        _ours_and_torch(_single(quartic, 0.3, 0.9), _loops(0.05, 0.3, **CALM)),
        "(x^2 - 1)^2 / 4 and a b = 1 past the critical rate; below it, loops with batches",
    ),
    Family(
        "plateau with rank increase",
        _ours_and_torch(_ladder(1e-3, (2.0, 1.0), 0.04, 0.06), _loops(0.04, 0.06, **LADDER)),
        _ours_and_torch(_ladder(1e-3, (2.0,), 0.04, 0.06), _loops(0.05, 0.3, **CALM)),
        "linear networks that learn two directions in turn; one direction, loops with batches",
    ),
    Family(
        "swing-by",
        _ours_and_torch(_of(_combinations, SWING), _of(_torch("held_out", 0.4), SWING)),
        _ours_and_torch(_of(_combinations, NO_SWING), _torch("held_out", 0.1, True)),
        "concepts whose combination is held out; those that do not rise, and overfitting",
    ),
    Family(
        "lazy learning",
        _ours_and_torch(
            _networks(0.3, 0.7, scale=30.0, width=16, every=30),
            _loops(0.3, 0.7, scale=30.0, width=64, every=30, preset="full"),
        ),
        _ours_and_torch(
            _networks(0.3, 0.7, scale=0.3, every=30),
            _loops(0.3, 0.7, scale=0.3, every=30, preset="full"),
        ),
        "output scale 30; output scale 0.3",
    ),
    Family(
        "feature learning",
        _ours_and_torch(
            _networks(0.3, 0.7, scale=0.3, every=30),
            _loops(0.3, 0.7, scale=0.3, every=30, preset="full"),
        ),
        _ours_and_torch(
            _networks(0.3, 0.7, scale=30.0, width=16, every=30),
            _loops(0.3, 0.7, scale=30.0, width=64, every=30, preset="full"),
        ),
        "output scale 0.3; output scale 30",
    ),
    Family(
        "nothing unusual",
        _ours_and_torch(_single(quadratic, 0.1, 0.7), _loops(0.05, 0.3, **CALM)),
        _ours_and_torch(_single(quartic, 1.03, 1.2), _loops(1.1, 1.6, jumps, steps=240, every=8)),
        "quadratics and loops with batches below the critical rate; oscillations and catapults",
    ),
)
