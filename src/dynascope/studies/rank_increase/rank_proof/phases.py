"""The parts of a stage as the proof of boix2023 cuts them, and the weights in its coordinates.

Without loss of generality u > |v| (app. C.3), so that w = u + v and w~ = u - v are positive: they
are the sizes of the sum and the difference, which the flow keeps as logarithms. Part A of stage k
lasts from the time at which the flow is close to theta^k until the weights off its support have
moved by 4 rho (26); part B is the rest, from u = rho of the new coordinate to theta^(k+1).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dynascope.numerics.log_flow import log_flow
from dynascope.studies.rank_increase.trajectories import pulls
from dynascope.theories import Stages, incremental_stages

RHO = 1e-3  # weights off the support that have moved by 4 rho end part A
CLOSE = 1e-4  # distance to theta^k at which part A begins
LONG, CLEAR = 0.1, 0.05  # rescaled time: the least length of a stage, and lead of its winner
TOLERANCE = 1e-5  # of the flow
SMALL_START = 1e-30  # below it every escape has records of its own
WINDOW = (-12, 30, 127)  # records around an escape, in units of 1 / |g|


class Traced(NamedTuple):
    """A flow at one scale, in rescaled time."""

    alpha: float
    times: np.ndarray  # (times,)
    log_sum: np.ndarray  # log w, (times, p)
    log_difference: np.ndarray  # log w~, (times, p)
    pulls: np.ndarray  # g, (times, p)

    @property
    def length(self) -> float:
        """log(1 / alpha), the length of a unit of rescaled time."""
        return float(np.log(1 / self.alpha))

    def weights(self) -> np.ndarray:
        """U and v at all times, (times, 2, p)."""
        return factors(self.log_sum, self.log_difference)

    def at(self, time: float) -> np.ndarray:
        """U and v between two records, (2, p): logarithms are nearly straight there."""
        after = int(np.clip(np.searchsorted(self.times, time), 1, len(self.times) - 1))
        first, last = self.times[after - 1 : after + 1]
        share = (time - first) / (last - first)
        logs = [(1 - share) * x[after - 1] + share * x[after]
                for x in (self.log_sum, self.log_difference)]  # fmt: skip
        return factors(*logs)


class Race(NamedTuple):
    """Flows at several scales, the largest first, beside the stages that are predicted."""

    flows: tuple[Traced, ...]
    stages: Stages
    pulls: np.ndarray  # g(theta^k), (K + 1, p)

    def of(self, alpha: float) -> Traced:
        """The flow whose scale is nearest to alpha in logarithm."""
        return min(self.flows, key=lambda f: abs(np.log(f.alpha / alpha)))


class PartA(NamedTuple):
    """Part A of stage k, which takes the flow from theta^k to the escape of i_k."""

    k: int
    begins: float  # close to theta^k
    ends: float  # weights off the support have moved by 4 rho
    rows: np.ndarray  # of the records in between


def factors(log_sum: np.ndarray, log_difference: np.ndarray) -> np.ndarray:
    """U and v from the logarithms of u + v and u - v.

    Example:
        >>> factors(np.log([4.0]), np.log([2.0])).tolist()
        [[3.0], [1.0]]
    """
    w, other = np.exp(log_sum), np.exp(log_difference)
    return np.stack([(w + other) / 2, (w - other) / 2], axis=-2)


def plateau(products: np.ndarray) -> np.ndarray:
    """Theta^k in the same form, (2, p): u = sqrt|z|, v = sign(z) u."""
    root = np.sqrt(np.abs(products))
    return np.stack([root, np.sign(products) * root])


class Given(NamedTuple):
    """What races: a loss of products and of data, one for all draws, and a start."""

    loss: Callable
    data: tuple[np.ndarray, ...]
    u: np.ndarray
    v: np.ndarray


def race(given: Given, alphas: tuple[float, ...], most: int, points: int) -> Race:
    """Stages of a loss of products, and flows from (alpha u, alpha v) to the last of them."""
    loss, data = given.loss, given.data
    stages = incremental_stages(loss, len(given.u), most=most, parameters=data)

    at_rest = pulls(loss, data, stages.products)
    end = min(stages.until, 1.2 * stages.times[-1])
    times = _close_together(stages, at_rest, alphas, np.linspace(0, end, points))
    # The last one again and again: as many for all draws, so that one program serves them.
    most_times = points + most * WINDOW[-1] * sum(alpha < SMALL_START for alpha in alphas)
    padded = np.concatenate([times, np.full(most_times - len(times), times[-1])])
    flow = log_flow(loss, given.u, given.v, alphas, padded, TOLERANCE, parameters=data)
    rows = slice(len(times))
    along = [pulls(loss, data, z)[rows] for z in flow.products]
    kept = zip(flow.alphas, flow.log_sum[:, rows], flow.log_difference[:, rows], along, strict=True)
    return Race(tuple(Traced(float(a), times, *row) for a, *row in kept), stages, at_rest)


def _close_together(
    stages: Stages, pulls: np.ndarray, alphas: tuple[float, ...], times: np.ndarray
) -> np.ndarray:
    """More times around every escape: part B takes some units of 1 / |g| in true time."""
    winners = np.abs(pulls[np.arange(len(stages.order)), stages.order])
    unit = np.linspace(*WINDOW)
    around = [t + unit / (g * np.log(1 / alpha))
              for t, g in zip(stages.times, winners, strict=True) for alpha in alphas
              if alpha < SMALL_START]  # fmt: skip
    chosen = np.unique(np.concatenate([times, *around]))
    return chosen[(chosen >= 0) & (chosen <= times[-1])]


def followed(stages: Stages, end: float) -> list[int]:
    """Stages that are long enough, whose winner is clearly first, and that end within a run."""
    lengths = np.diff(stages.times, prepend=0.0)
    fit = (lengths >= LONG) & (stages.gaps >= CLEAR) & (stages.times < 0.99 * end)
    return [int(k) for k in np.flatnonzero(fit)]


def parts(flow: Traced, stages: Stages) -> list[PartA]:
    """Part A of every stage that is followed and whose plateau the flow comes close to."""
    found = []
    weights = flow.weights()
    for k in followed(stages, flow.times[-1]):
        begin = reached(flow, stages, k, weights)
        off = stages.products[k] == 0
        if begin is None:
            continue
        row, begins = begin
        goal = stages.products[k]  # asked of the products too: u and v may be close to another
        allowed = 3 * CLOSE * (1 + np.sqrt(np.abs(goal).max()))
        if np.abs(np.prod(weights[row], axis=0) - goal).max() > allowed:
            continue
        start = weights[row][:, off]
        moved = np.linalg.norm(weights[row:][:, :, off] - start, axis=-1).sum(axis=-1)
        beyond = np.flatnonzero(moved > 4 * RHO)
        if not beyond.size:
            continue
        last = row + int(beyond[0])
        end = crossing(
            flow.times[last - 1], flow.times[last],
            lambda t: np.linalg.norm(flow.at(t)[:, off] - start, axis=-1).sum() - 4 * RHO,  # noqa: B023
        )  # fmt: skip
        found.append(PartA(k, begins, end, np.arange(row, last)))
    return found


def reached(flow: Traced, stages: Stages, k: int, weights: np.ndarray) -> tuple[int, float] | None:
    """The first record close to theta^k and when it came close; None if it never did in time."""
    if k == 0:
        return 0, 0.0
    goal = plateau(stages.products[k])
    apart = np.linalg.norm((weights - goal).reshape(len(weights), -1), axis=1)
    inside = (flow.times > stages.times[k - 1] - LONG / 2) & (flow.times < stages.times[k])
    rows = np.flatnonzero(inside & (apart < CLOSE))
    if not rows.size:
        return None
    row = int(rows[0])
    if apart[row - 1] < CLOSE:  # it was before the times that count
        return row, float(flow.times[row - 1])
    when = crossing(flow.times[row - 1], flow.times[row],
                    lambda t: CLOSE - float(np.linalg.norm(flow.at(t) - goal)))  # fmt: skip
    return row, when


def crossing(low: float, high: float, sign: Callable[[float], float]) -> float:
    """Where a function that is not positive at `low` becomes positive by `high`; else no number.

    Example:
        >>> round(crossing(0.0, 1.0, lambda t: t - 0.25), 6), crossing(0.0, 1.0, lambda t: 1.0)
        (0.25, nan)
    """
    if not sign(low) <= 0 < sign(high):
        return float("nan")
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if sign(middle) > 0 else (middle, high)
    return float(high)
