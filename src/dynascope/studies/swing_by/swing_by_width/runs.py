"""Widths, 64 dimensions, a grid of starts, and depths; yang2025 Fig. 3, section 4.2, E.1.

The laws are this project's own; the documents speak of dimension.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.run import Run
from dynascope.core.sources import derived, yang2025
from dynascope.core.spec import Spec
from dynascope.dynamics import GradientDescent
from dynascope.engine import Experiment
from dynascope.engine.record import Every
from dynascope.models import MLP, TiedLinear
from dynascope.probes import InputJacobian, TestLoss, bump
from dynascope.studies.measures import share
from dynascope.studies.study import Study
from dynascope.studies.swing_by.events import (
    CLEAR_RISE,
    SMALL_RISE,
    first_share,
    planted_curve,
)
from dynascope.studies.swing_by.starts import correlated
from dynascope.tasks import IdentityMapping
from dynascope.theories.base import initial_params
from dynascope.theories.swing_by.start_odds import swing_by_share
from dynascope.theories.swing_by.width_odds import (
    critical_correlation,
    initial_correlation,
    probability_of_swing_by,
)

CORRELATIONS = tuple(np.linspace(0.1, 0.98, 45).round(2).tolist())
SIZES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-12)  # of w_11 and w_22 at the start
OTHERS = (  # means, spread of both clusters, size of the start
    ((1.0, 1.5), 0.05, 1e-2),
    ((1.0, 3.0), 0.05, 1e-2),
    ((1.0, 2.0), 0.5, 1e-2),
    ((1.0, 2.0), 0.05, 1e-5),
)
FACTORS = (1.0, 0.3)  # on the default start of deep networks
DEEP = MLP(2, 2, "linear", bias=False)  # hidden width 2, as many inputs, no offsets


@dataclass(frozen=True)
class Settings(Spec, tag="studies.swing-by-width"):
    """What is trained, and on how many seeds."""

    task: IdentityMapping = IdentityMapping((1.0, 2.0), (0.05, 0.05))
    widths: tuple[int, ...] = (2, 3, 4, 8, 16)
    depths: tuple[int, ...] = (1, 2, 3, 4, 6)
    seeds: int = 2000
    wide_seeds: int = 100  # at width 64
    high_seeds: int = 160  # in 64 dimensions
    full_seeds: int = 40  # in 64 dimensions at width 64


study = Study(
    "swing-by-width", title="Who swings by: width, depth and the start, not dimension",
    sources=(yang2025("Figs. 3, 5, section 4.2, appendix E.1"), derived("laws measured here")),
    settings=Settings,
    scales={
        "smoke": {"widths": (2, 4, 8), "depths": (1, 2, 4), "seeds": 600, "wide_seeds": 100,
                  "high_seeds": 60, "full_seeds": 40},
        "laptop": {},
        "paper": {"seeds": 8000, "wide_seeds": 1000, "high_seeds": 400, "full_seeds": 60},
    },
    notes=(
        "The documents contrast low and high dimension; their program changes the hidden width "
        "with it, from 4 to 64. Here the two are varied separately.",
        f"Swing-by in the tied model is a rise of the test loss by {SMALL_RISE:.1%} of its "
        f"first value, in deep networks by {CLEAR_RISE:.0%}.",
        "Gaussian starts have width x variance = 0.005 at every width. The critical correlation "
        "is read off the exact flow; it is another for other means, spreads and sizes.",
        "In 64 dimensions the rows of the other inputs disturb the two concepts: the share at "
        "width 2 reaches the prediction only from small starts.",
        "Deep networks follow the text: two clusters, deviations, no offsets; two inputs and "
        "hidden width 2, default start. The program's reading gives nearly the same shares.",
    ),
)  # fmt: skip


def gaussian(width: int, size: float = 0.005) -> TiedLinear:
    """U with width x variance = size, the mean of w_11 at the start."""
    return TiedLinear(width, (size / width) ** 0.5)


@study.run
def gaussian_starts(s: Settings) -> dict[str, Experiment]:
    """Tied layers of several widths in two dimensions and in 64."""
    high = replace(s.task, dimension=64)
    kinds = {  # 0.005 is half the program's rate, which is in paper time
        "width": (s.task, tuple(gaussian(w) for w in s.widths), s.seeds, 0.005),
        "width 64": (s.task, (gaussian(64),), s.wide_seeds, 0.005),
        "dimension 64": (high, (gaussian(2), gaussian(2, 1e-4)), s.high_seeds, 0.01),
        "both 64": (high, (gaussian(64),), s.full_seeds, 0.01),
    }
    return {
        name: Experiment(
            task, models[0], GradientDescent(rate), (TestLoss(),), steps=round(6 / rate),
            record=Every(round(0.02 / rate)), seeds=tuple(range(n)), over=(("model", models),),
        )
        for name, (task, models, n, rate) in kinds.items()
    }  # fmt: skip


@study.run
def starts(s: Settings) -> Experiment:
    """Two rows of every size and correlation."""
    matrices = tuple(correlated(size, c) for size in SIZES for c in CORRELATIONS)
    return Experiment(
        s.task, TiedLinear(2, initial_jacobian=matrices[0]), GradientDescent(0.002),
        (TestLoss(), InputJacobian()), steps=8000, record=Every(10), dtype="float64",
        over=(("model.initial_jacobian", matrices),),
    )  # fmt: skip


@study.run
def networks(s: Settings) -> Experiment:
    """Networks of every depth, from the default start and a smaller one."""
    over = (("model.depth", s.depths), ("model.init_scale", FACTORS))
    return Experiment(s.task, DEEP, GradientDescent(0.02), (TestLoss(),), steps=4000,
                      record=Every(5), seeds=tuple(range(s.seeds)), over=over)  # fmt: skip


@study.compute(each=lambda s: s.depths, reads=("task", "depths", "seeds"),
               seconds=lambda s: sum(1 + s.seeds * d / 1500 for d in s.depths))  # fmt: skip
def flow_odds(s: Settings, depth: int) -> float:
    """By depth: share of other draws whose exact flow turns back."""
    return swing_by_share(s.task, replace(DEEP, depth=depth), CLEAR_RISE, s.seeds)


@study.compute(each=lambda s: ("gaussian", "uniform"), reads=(), seconds=lambda s: 4.0)
def rows(s: Settings, law: Literal["gaussian", "uniform"]) -> np.ndarray:
    """U of 10,000 starts with entries of mean square 1, (draw, 2, 64); narrower ones are in it."""
    scale = 1.0 if law == "gaussian" else 3.0**0.5  # a uniform number has mean square 1/3
    task = IdentityMapping((1.0, 1.0), (0.0, 0.0))
    return initial_params(task, TiedLinear(64, scale, law), np.arange(10_000))


def law(task: IdentityMapping, width: int) -> float:
    """The odds of two random directions in `width` dimensions, at the size of the starts."""
    (m1, m2), (s1, s2) = task.means, task.scales
    return probability_of_swing_by(width, (m1, m2), (s1, s2), 0.005)


def shares_of(found: dict[str, Run]) -> dict[int, dict[TiedLinear, Measured]]:
    """Share of seeds that swing by: by dimension, by start."""
    shares: dict[int, dict[TiedLinear, Measured]] = {2: {}, 64: {}}
    for run in found.values():
        rises = bump(run["test_loss"].values)  # (start, seed)
        for model, rise in zip(run.experiment.over[0][1], rises, strict=True):
            shares[run.experiment.task.input_size][model] = share(rise > SMALL_RISE)
    return shares


@study.finding(gaussian_starts)
def by_start(s: Settings, found: dict[str, Run]) -> dict[int, dict[TiedLinear, Measured]]:
    """Share of seeds that swing by: by dimension, by start."""
    return shares_of(found)


@study.finding(gaussian_starts, rows["gaussian"])
def planted_starts(
    s: Settings, found: dict[str, Run], rows: np.ndarray
) -> dict[int, dict[TiedLinear, Measured]]:
    """The same of planted curves: as many rise as drawn rows have a cosine above the critical."""
    critical, planted = critical_correlation(s.task.means, s.task.scales, 0.005), {}
    for name in ("width", "width 64"):
        run, swing = found[name], []
        for model in run.experiment.over[0][1]:
            start = rows[..., : model.width] @ rows[..., : model.width].transpose(0, 2, 1)
            cosines = initial_correlation(start)[:, 0, 1]
            swing.append(first_share(run.sizes["seed"], (cosines > critical).mean()))
        planted[name] = planted_curve(run, np.where(swing, 0.1, 0.0))
    return shares_of(planted)


@study.finding(by_start)
def odds(s: Settings, shares: dict[int, dict]) -> dict[str, dict[TiedLinear, float]]:
    """What the law says of every start in two dimensions, by width, and by dimension."""
    models = list(shares[2])
    return {"width": {m: law(s.task, m.width) for m in models},
            "dimension": {m: law(s.task, 2) for m in models}}  # fmt: skip


@study.run
def others(s: Settings) -> dict[str, Experiment]:
    """Two rows of every correlation, for other means, spreads and sizes."""

    def experiment(means: tuple, spread: float, size: float) -> Experiment:
        matrices = tuple(correlated(size, c) for c in CORRELATIONS)
        return Experiment(
            replace(s.task, means=means, scales=(spread, spread)),
            TiedLinear(2, initial_jacobian=matrices[0]), GradientDescent(0.002), (TestLoss(),),
            steps=8000, record=Every(10), dtype="float64",
            over=(("model.initial_jacobian", matrices),),
        )  # fmt: skip

    return {f"means {m}, spread {spread}, size {size}": experiment(m, spread, size)
            for m, spread, size in OTHERS}  # fmt: skip


@study.finding(others)
def critical_by_flow(s: Settings, others: dict[str, Run]) -> dict[str, list[float]]:
    """Critical correlations by the exact flow: each setting's own, and that of means (1, 2)."""
    own = [critical_correlation(m, (spread, spread), size) for m, spread, size in OTHERS]
    plain = critical_correlation(s.task.means, s.task.scales, 1e-2)
    return {"own": own, "means (1, 2)": [plain] * len(own)}


@study.finding(others, critical_by_flow)
def planted_others(s: Settings, others: dict[str, Run], flow: dict[str, list]) -> dict[str, Run]:
    """Curves whose rise passes 0.2 % at the correlation of the flow."""
    return {
        name: planted_curve(run, passing(c)[:, None])
        for (name, run), c in zip(others.items(), flow["own"], strict=True)
    }


@study.finding(starts)
def planted_grid(s: Settings, run: Run) -> dict[str, Run]:
    """For each of SIZES: rises that pass 0.2 % at 0.53, none, and peaks of w_12 by the law."""
    weak, strong = np.asarray(s.task.means) ** 2 / 2 + np.square(s.task.scales)
    power = (1 - weak / strong) / 2
    peak = np.repeat(np.power(SIZES, power), len(CORRELATIONS))
    w = np.zeros(run["input_jacobian"].shape)
    w[..., 0, 1] = peak[:, None, None] * np.sin(np.linspace(0, np.pi, w.shape[2]))
    rise = np.tile(passing(0.53), len(SIZES))[:, None]
    return {
        "critical": planted_curve(run, rise),
        "no rise": planted_curve(run, 0.0),
        "peaks": run.planted(input_jacobian=w),
    }


def passing(critical: float) -> np.ndarray:
    """Rises at CORRELATIONS that pass 0.2 % at the critical one, 0 well below it."""
    return np.maximum(0.0, SMALL_RISE + 0.1 * (np.array(CORRELATIONS) - critical))


@study.finding(networks)
def by_depth(s: Settings, run: Run) -> dict[float, dict[int, Measured]]:
    """Share of seeds that swing by: by factor on the default start, by depth."""
    return {f: shares_by_depth(s, run.isel(**{"model.init_scale": k}))
            for k, f in enumerate(FACTORS)}  # fmt: skip


def shares_by_depth(s: Settings, run: Run) -> dict[int, Measured]:
    """Share of seeds that swing by, by depth."""
    swings = bump(run["test_loss"].values) > CLEAR_RISE  # (depth, seed)
    return {d: share(x) for d, x in zip(s.depths, swings, strict=True)}


@study.finding(flow_odds)
def flow_shares(s: Settings, odds: dict[int, float]) -> dict[str, dict[int, Measured]]:
    """The odds of the flow with the error of their draws: of each depth, and of the next."""
    own = {d: share(np.arange(s.seeds) < round(p * s.seeds)) for d, p in odds.items()}
    return {"own": own, "next": dict(zip(s.depths, list(own.values())[1:]))}


@study.finding(networks, flow_odds)
def planted_depths(s: Settings, run: Run, odds: dict[int, float]) -> dict[str, dict]:
    """Shares by depth of planted curves: no seed rises, more at each depth, or as by the flow."""
    one, n = run.isel(**{"model.init_scale": 0}), s.seeds
    more = [(k + 1) / (len(s.depths) + 1) for k in range(len(s.depths))]
    kinds = {"none": [0.0] * len(more), "more": more, "flow": list(odds.values())}
    return {
        kind: shares_by_depth(
            s, planted_curve(one, np.where([first_share(n, p) for p in shares], 0.1, 0.0))
        )
        for kind, shares in kinds.items()
    }


@study.finding(rows["gaussian"])
def planted_rows(s: Settings, rows: np.ndarray) -> np.ndarray:
    """Rows of signs, orthogonal on every even width: major entries are exactly 1, minor ones 0."""
    signs = np.stack([np.ones(rows.shape[-1]), np.where(np.arange(rows.shape[-1]) % 2, -1.0, 1.0)])
    return np.broadcast_to(signs, rows.shape)
