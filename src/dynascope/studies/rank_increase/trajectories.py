"""A flow beside its predicted stages: escape times, plateaus, distance to the staircase."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.numerics.log_flow import log_flow
from dynascope.runtime.precision import precision
from dynascope.studies.nodes import Missing
from dynascope.theories import Stages, incremental_stages

SEPARATED = 0.1  # rescaled time that a stage must be away from the next to be compared
Start = tuple[np.ndarray, np.ndarray]  # u and v, before they are scaled
SUPPORT = 1e-3  # entries above this share of the largest one count as learned


class Trajectory(NamedTuple):
    """A flow at one scale."""

    alpha: float
    times: np.ndarray  # rescaled, (times,)
    losses: np.ndarray  # (times,)
    products: np.ndarray  # (times, p)


class Followed(NamedTuple):
    """Flows at several scales, from the largest to the smallest, and what is predicted."""

    flows: tuple[Trajectory, ...]
    stages: Stages

    def at(self, alpha: float) -> Trajectory:
        """The flow whose scale is nearest to alpha in logarithm."""
        return min(self.flows, key=lambda f: abs(np.log(f.alpha / alpha)))


def separated(stages: Stages, until: float) -> np.ndarray:
    """Numbers of the predicted stages that are far enough from the ones before and after."""
    times, end = stages.times, max(stages.until, stages.times[-1])
    apart = np.diff(np.concatenate([[0.0], times, [end]]))
    far = (apart[:-1] >= SEPARATED) & (apart[1:] >= SEPARATED)
    return np.flatnonzero(far & (times < 0.98 * until))


def follow(
    loss: Callable, parameters: tuple[np.ndarray, ...], start: Start, alphas: tuple[float, ...],
    times: np.ndarray,
) -> Followed:  # fmt: skip
    """Stages and flows of a loss of products and of parameters."""
    found = incremental_stages(loss, len(start[0]), parameters=parameters)
    flow = log_flow(loss, *start, alphas, times, parameters=parameters)
    rows = zip(flow.alphas, flow.losses, flow.products, strict=True)
    return Followed(tuple(Trajectory(float(a), flow.times, x, z) for a, x, z in rows), found)


def diagonal_linear(z: jax.Array, target: jax.Array, moments: jax.Array) -> jax.Array:
    """The loss (z - beta)^T S (z - beta) / 2 of a diagonal linear network.

    Args:
        z: Its products u v.
        target: beta.
        moments: S, the second moments of the inputs.
    """
    return 0.5 * (z - target) @ moments @ (z - target)


def on_white_inputs(target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The parameters of that loss on white inputs."""
    return target, np.eye(len(target))


@partial(jax.jit, static_argnums=0)
def _pulls(loss: Callable, data: tuple[jax.Array, ...], points: jax.Array) -> jax.Array:
    return jax.vmap(lambda z: -jax.grad(loss)(z, *data))(points)


def pulls(loss: Callable, data: tuple[np.ndarray, ...], points: np.ndarray) -> np.ndarray:
    """G = -dL/dz of a loss of z and of data, at each of some z, (points, p)."""
    with precision("float64"):
        return np.asarray(_pulls(loss, tuple(map(jnp.asarray, data)), jnp.asarray(points)))


def escape(flow: Trajectory, stages: Stages, k: int) -> float:
    """When the coordinate of stage k has half the size that it has on its plateau."""
    i, goal = stages.order[k], stages.products[k + 1, stages.order[k]] / 2
    start = stages.times[k - 1] if k else 0.0
    return first_passage(flow, i, goal, start - SEPARATED / 2)


def first_passage(flow: Trajectory, i: int, goal: float, since: float = 0.0) -> float:
    """When an entry first is beyond a value; infinite if it never is."""
    inside = np.flatnonzero((flow.times >= since) & (flow.products[:, i] / goal > 1))
    if not inside.size:
        return np.inf
    after = inside[0]
    if after == 0:
        return float(flow.times[0])
    ends = slice(after - 1, after + 1)
    return float(np.interp(1.0, flow.products[ends, i] / goal, flow.times[ends]))


def escape_error(followed: Followed, alpha: float) -> float | Missing:
    """Largest relative error of an escape time over separated stages."""
    flow, stages = followed.at(alpha), followed.stages
    chosen = separated(stages, flow.times[-1])
    if not chosen.size:
        return Missing("no stage is separated from its neighbours")
    errors = [abs(escape(flow, stages, k) / stages.times[k] - 1) for k in chosen]
    return float(np.max(errors))


def long_plateaus(stages: Stages, until: float, share: float | None = None) -> np.ndarray:
    """Whether each plateau is long enough and ends within a run, (stages + 1,).

    Args:
        stages: What is predicted.
        until: When the run ends.
        share: Of the time at which a plateau ends, how long it must last; None for `SEPARATED`.
    """
    ends = plateau_ends(stages)
    least = SEPARATED if share is None else share * ends[1:]
    return (np.diff(ends) >= least) & (ends[1:] <= until)


def plateau_ends(stages: Stages) -> np.ndarray:
    """Where plateaus begin and end, (stages + 2,)."""
    return np.concatenate([[0.0], stages.times, [stages.until]])


def plateau_error(followed: Followed, alpha: float) -> float | Missing:
    """Largest relative error of the loss in the middle of a long plateau."""
    flow, stages = followed.at(alpha), followed.stages
    numbers = np.flatnonzero(long_plateaus(stages, flow.times[-1]))
    if not numbers.size:
        return Missing("no plateau is long enough")
    ends = plateau_ends(stages)
    seen = np.interp((ends[numbers] + ends[numbers + 1]) / 2, flow.times, flow.losses)
    floor = 1e-3 * stages.losses[0]  # a last plateau at zero has no relative error
    return float(np.max(np.abs(seen - stages.losses[numbers]) / (stages.losses[numbers] + floor)))


def wrong_entries(followed: Followed, alpha: float, share: float | None = None) -> float | Missing:
    """Entries on long plateaus that are learned and should not be, or the other way round.

    Args:
        followed: Flows beside their stages.
        alpha: Which flow.
        share: As `long_plateaus` takes it.
    """
    flow, stages = followed.at(alpha), followed.stages
    numbers = np.flatnonzero(long_plateaus(stages, flow.times[-1], share))
    if not numbers.size:
        return Missing("no plateau is long enough")
    ends = plateau_ends(stages)
    times = (ends[numbers] + ends[numbers + 1]) / 2
    rows = np.abs(flow.times[:, None] - times).argmin(axis=0)
    learned = np.abs(flow.products[rows]) > SUPPORT * np.abs(stages.products).max()
    return float(np.sum(learned != (stages.products[numbers] != 0)))


def distance(flow: Trajectory, stages: Stages) -> float:
    """Mean distance of the loss to the staircase, as a share of the first loss.

    Until the last plateau that is predicted ends.
    """
    rows = flow.times <= stages.until
    apart = np.abs(flow.losses - stages.loss_at(flow.times))[rows]
    return float(np.mean(apart) / stages.losses[0])


def largest_ratio(followed: Followed) -> float:
    """Largest ratio of the distance to the staircase at one scale to that at the scale before."""
    distances = np.array([distance(f, followed.stages) for f in followed.flows])
    return float(np.max(distances[1:] / distances[:-1]))


def entries_apart(flow: Trajectory, stages: Stages, half: int) -> float:
    """Mean distance of the entries of one half of z to the predicted ones, in units of the largest.

    Args:
        flow: At one scale.
        stages: What is predicted.
        half: 0 for the first half of z, which are the scores of a head; 1 for its values.
    """
    own = np.array_split(np.arange(flow.products.shape[1]), 2)[half]
    rows = flow.times <= stages.until
    predicted = stages.products[stages.plateau_at(flow.times[rows])][:, own]
    apart = np.abs(flow.products[rows][:, own] - predicted)
    return float(apart.mean() / np.abs(stages.products).max())


def largest_entries_ratio(followed: Followed, half: int) -> float:
    """Largest ratio of that distance at one scale to that at the scale before."""
    apart = np.array([entries_apart(f, followed.stages, half) for f in followed.flows])
    return float(np.max(apart[1:] / apart[:-1]))
