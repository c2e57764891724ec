"""One lane as pure functions of a spec's numbers.

A lane is a seed at a point of the sweep grid. `prepare` draws its data and parameters, `measure`
and `slope` are what its probes and its rule work out, and `advance` (`engine/loop.py`) moves it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from dynascope.core.randomness import key_for
from dynascope.dynamics.base import NEVER, State
from dynascope.engine.experiment import Setup
from dynascope.engine.following import at_rate, first_rate, followed
from dynascope.engine.keeping import none_yet
from dynascope.engine.lane_state import Lane, data_of
from dynascope.engine.loop import advance
from dynascope.engine.objective import Data, objective, one_batch, promotion
from dynascope.engine.stopping import not_yet
from dynascope.engine.trained import Trained, network_of
from dynascope.probes.base import Snapshot
from dynascope.runtime.precision import cast

Values = dict[str, jax.Array]  # the spec's leaves, by path


class Functions(NamedTuple):
    """What one lane can do, as functions of the spec's leaves.

    The last four take the data that all lanes share, or None where each has its own.
    """

    draw: Callable
    prepare: Callable
    measure: Callable
    slope: Callable
    advance: Callable


def build(setup: Setup, dtype: str) -> Functions:
    """`draw`, `prepare`, `measure`, `slope` and `advance` for one lane."""
    return Functions(
        *(partial(f, setup, dtype) for f in (_draw, _prepare, _measure, _slope, advance))
    )


def _draw(setup: Setup, dtype: str, values: Values, seed: jax.Array) -> Data:
    """The samples of a seed, and what the task keeps beside them."""
    task = network_of(setup, dtype, values)[0].task
    with promotion(task):
        samples = cast(task.samples(key_for(seed, "data")), dtype)
        return Data(samples, cast(task.context(key_for(seed, "data")), dtype))


def _prepare(
    setup: Setup, dtype: str, values: Values, seed: jax.Array, shared: Data | None
) -> Lane:
    """A lane before its first step."""
    spec, network = network_of(setup, dtype, values)
    data = _draw(setup, dtype, values, seed) if shared is None else shared
    params = cast(network.init(key_for(seed, "init")), dtype)
    snapshot = Snapshot(spec.task, network, params, *data)
    with promotion(spec.task):
        memory = {p.stored_as: cast(p.memory(snapshot), dtype) for p in spec.probes}
    follow = followed(spec.dynamics)
    own = {name: memory[name] for name in follow.follows} if follow else {}
    start = State(params, (), jnp.asarray(NEVER, jnp.int32))
    rate = first_rate(follow, Trained(spec, network, dtype, data).measure, start, own)
    goal = objective(spec, network, dtype, data, seed)
    state = at_rate(spec.dynamics, rate).begin(params, goal)
    best = none_yet(spec.best, spec.dynamics.measured(state), dtype)
    own_data = data if shared is None else None
    return Lane(state, own_data, memory, rate, not_yet(spec.stop, dtype), best)


def _measure(setup: Setup, dtype: str, values: Values, lane: Lane, shared: Data | None) -> dict:
    """What a row of measurements holds."""
    spec, network = network_of(setup, dtype, values)
    seen, _ = Trained(spec, network, dtype, data_of(lane, shared)).measure(lane.state, lane.memory)
    return seen | (lane.rate.rows if lane.rate else {})


def _slope(setup: Setup, dtype: str, values: Values, lane: Lane, shared: Data | None) -> Any:
    """The gradient of one step: traced alone, to see whether it can be and what it takes."""
    spec, network = network_of(setup, dtype, values)
    data = data_of(lane, shared)
    goal = objective(spec, network, dtype, data, jnp.uint32(0))
    return jax.grad(goal.loss)(lane.state.params, one_batch(spec, data.samples))
