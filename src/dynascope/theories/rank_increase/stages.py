"""Algorithm 1 of boix2023: in which order, when and where to the entries of u * v are learned.

From u, v of size alpha the flow rests at a plateau theta^k for a time of order log(1 / alpha).
Meanwhile every entry off the support grows like e^(g_i t), g = -dL/dz, and the first one to reach
size 1 joins. In the clock t / log(1 / alpha) all that matters of an entry is b_i = log_alpha w_i,
w = u + v, which starts at 1: w_i reaches size 1 where b_i = 0, and u_i - v_i where b_i = 2.

Corrected: the printed first line has b = 0; its proof (C.5) needs b = 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dynascope.core.errors import bad
from dynascope.numerics.log_flow import check_alpha, check_unequal
from dynascope.theories.rank_increase.assumptions import FLAT, Findings, Verdict, verdicts
from dynascope.theories.rank_increase.plateau import nothing_learned, settle
from dynascope.theories.rank_increase.problem import Loss, Problem

SMALL_START = 1e-3  # u of a coordinate as it joins; (13) takes the limit to 0
OTHER_START = 1e-2  # another one, from which the same plateau must be reached (4.5)
BENT = 0.05  # and by how much the logarithms of the old support are moved then
TIE = 1e-9  # relative gap below which two coordinates are said to tie
ZERO_PULL = 1e-9  # |g_i| below this share of the first pull counts as zero


@dataclass(frozen=True)
class Stages:
    """What `incremental_stages` predicts; K stages, p coordinates.

    Times are rescaled, t / log(1 / alpha). Row k of the arrays of length K + 1 belongs to the
    plateau theta^k, which the flow rests at from times[k - 1] to times[k].
    """

    order: np.ndarray  # i_k: the coordinate that joins, (K,)
    times: np.ndarray  # T_1, T_2, ...: when it does, (K,)
    signs: np.ndarray  # the sign that it takes, (K,)
    gaps: np.ndarray  # by how much the runner-up would be later, (K,)
    losses: np.ndarray  # L(theta^k), (K + 1,)
    products: np.ndarray  # theta^k as z = u * v, (K + 1, p)
    log_weights: np.ndarray  # b^k, (K + 1, p)
    strictness: np.ndarray  # c_k of assumption 4.4, (K + 1,); infinite for an empty support
    left: tuple[tuple[int, ...], ...]  # coordinates that leave the support at each stage, K
    until: float  # T_(K+1): when the last plateau ends; infinite if it is final
    verdicts: dict[str, Verdict]  # on assumptions 2.1, 4.3, 4.4, 4.5
    ended: str  # why there is no further stage, in words

    def plateau_at(self, times: ArrayLike) -> np.ndarray:
        """The number k of the plateau at rescaled times."""
        return np.searchsorted(self.times, np.asarray(times, float), side="right")

    def loss_at(self, times: ArrayLike) -> np.ndarray:
        """The staircase: the loss in the limit alpha -> 0."""
        return self.losses[self.plateau_at(times)]


def incremental_stages(
    loss_of_product: Loss,
    size: int,
    *,
    most: int = 25,
    alpha: float | None = None,
    start: tuple[ArrayLike, ArrayLike] | None = None,
    parameters: tuple[ArrayLike, ...] = (),
) -> Stages:
    """The stages of learning from a small start, for any loss of z = u * v.

    Args:
        loss_of_product: A jax function of z, an array of shape (size,), twice differentiable, and
            of the parameters if there are any.
        size: p, the number of coordinates.
        most: Stages to predict at most.
        alpha: With `start`, corrects for a scale that is small but not zero: b begins at
            log_alpha w_i(0), and the upper end 2 becomes 2 + log_alpha |u_i^2 - v_i^2|.
        start: (u, v) before they are scaled by alpha.
        parameters: Arrays that the loss takes beside z. With them the programs are compiled once
            for a loss: other numbers of the same shapes are only other arguments.

    Returns:
        The stages, with a verdict on each assumption of the theorem. It ends in words, not in
        a guess, where two coordinates tie or a stage has no finite end.

    Example:
        >>> import jax.numpy as jnp
        >>> target = jnp.array([1.0, -2.0])
        >>> found = incremental_stages(lambda z: 0.5 * jnp.sum((z - target) ** 2), 2)
        >>> found.order.tolist(), found.times.round(6).tolist(), found.losses.round(6).tolist()
        ([1, 0], [0.5, 1.0], [2.5, 0.5, 0.0])
    """
    if most < 0:
        raise bad("most", most, "a whole number of at least 0")
    problem = Problem(loss_of_product, size, parameters)
    b, top = _first_logs(size, alpha, start)
    now = nothing_learned(size)
    plateaus, logs = [now], [b]
    joined: list[tuple[int, float, float]] = []
    waits: list[float] = []
    left: list[tuple[int, ...]] = []
    time, found = 0.0, Findings(problem)
    scale = np.abs(problem.pull(now.products)).max()
    ended = f"{most} stages were asked for"
    while True:
        g = problem.pull(now.products)
        g = np.where((now.signs != 0) | (np.abs(g) <= ZERO_PULL * scale), 0.0, g)
        wait = _waits(g, b, top)
        first = int(np.argmin(wait))
        until = time + wait[first]
        if not np.isfinite(until):
            ended = "no coordinate off the support is pulled: the last plateau is final"
            break
        if len(joined) == most:
            break
        runner_up = np.partition(wait, 1)[1] if size > 1 else np.inf
        if runner_up - wait[first] <= TIE * wait[first]:
            ended = found.tie(now, np.flatnonzero(wait <= wait[first] * (1 + TIE)), g, until)
            break
        signs = now.signs.copy()
        signs[first] = np.sign(g[first])
        after = settle(problem, now.products, signs, SMALL_START)
        if after is None:
            ended = found.no_end(first, until)
            break
        if after.strictness < FLAT:
            ended = found.flat(first, until, after)
            break
        found.limit(after, settle(problem, now.products, signs, OTHER_START, BENT))
        b = np.clip(b - g * wait[first], 0.0, top)
        b[first] = 0.0 if g[first] > 0 else top[first]
        gone = np.flatnonzero((signs != 0) & (after.signs == 0))
        found.plateau(after, gone)
        joined.append((first, until, signs[first]))
        waits.append(runner_up - wait[first])
        left.append(tuple(int(i) for i in gone))
        time, now = until, after
        plateaus.append(now)
        logs.append(b)
    return Stages(
        np.array([j[0] for j in joined], int), np.array([j[1] for j in joined]),
        np.array([j[2] for j in joined]), np.array(waits),
        np.array([problem.value(p.products) for p in plateaus]),
        np.array([p.products for p in plateaus]), np.array(logs),
        np.array([p.strictness for p in plateaus]), tuple(left), float(until),
        verdicts(found, waits), ended,
    )  # fmt: skip


def _first_logs(
    size: int, alpha: float | None, start: tuple[ArrayLike, ArrayLike] | None
) -> tuple[np.ndarray, np.ndarray]:
    """b^0 and the value of b at which u - v reaches size 1."""
    if (alpha is None) != (start is None):
        raise bad("alpha", alpha, "alpha and start together, or neither")
    if alpha is None or start is None:
        return np.ones(size), np.full(size, 2.0)
    check_alpha(alpha)
    u, v = (np.asarray(x, float) for x in start)
    if u.shape != (size,) or v.shape != (size,):
        raise bad("start", (u.shape, v.shape), f"two arrays of shape ({size},)")
    check_unequal(u, v)
    b = 1 + np.log(np.abs(u + v)) / np.log(alpha)
    return b, 2 + np.log(np.abs(u**2 - v**2)) / np.log(alpha)


def _waits(g: np.ndarray, b: np.ndarray, top: np.ndarray) -> np.ndarray:
    """Delta (10): how long until each coordinate joins; infinite where it is not pulled."""
    way = np.where(g > 0, b, top - b)
    return np.where(g == 0, np.inf, way / np.where(g == 0, 1.0, np.abs(g)))
