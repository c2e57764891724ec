"""The one loop: it moves a lane to a later step and fills a buffer with measurements.

From one cell of the record grid to the next the rule moves the parameters by itself; at a cell's
end the probes look. Counters are shared by all lanes, so that under vmap the loop stays one loop.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from dynascope.dynamics.base import NEVER, State
from dynascope.dynamics.batches import Objective
from dynascope.engine.experiment import Setup
from dynascope.engine.following import Rate, at_rate, followed, next_rate
from dynascope.engine.keeping import better
from dynascope.engine.lane_state import Lane, data_of
from dynascope.engine.measuring import overflows
from dynascope.engine.objective import Data, objective, one_batch
from dynascope.engine.observing import observers, observing
from dynascope.engine.stopping import watch
from dynascope.engine.trained import Trained, network_of


class Call(NamedTuple):
    """What stays the same during one call of the loop."""

    trained: Trained
    goal: Objective
    stop: jax.Array  # the step to move to
    record_steps: jax.Array  # (rows + 1,) that are measured next
    times: jax.Array  # (rows + 2,) of a flow: before the first of them, then theirs


class Reached(NamedTuple):
    """How far a call has come."""

    step: jax.Array
    row: jax.Array  # the next to be filled
    lane: Lane  # without its data
    buffer: dict[str, jax.Array]  # (rows, ...) by name


def advance(
    setup: Setup,
    dtype: str,
    shapes: dict[str, jax.ShapeDtypeStruct],
    values: dict[str, jax.Array],
    seed: jax.Array,
    lane: Lane,
    start: jax.Array,
    stop: jax.Array,
    record_steps: jax.Array,
    times: jax.Array,
    shared: Data | None,
) -> tuple[Lane, dict[str, jax.Array]]:
    """Move from `start` to `stop`, measuring at the `record_steps` on the way.

    `shapes` are those of a row of measurements.
    """
    spec, network = network_of(setup, dtype, values)
    data = data_of(lane, shared)
    goal = objective(spec, network, dtype, data, seed)
    call = Call(Trained(spec, network, dtype, data), goal, stop, record_steps, times)
    rows = record_steps.shape[0] - 1
    # A zero of each lane's own: jax traces a loop under vmap twice where what it carries is
    # the same for all lanes at first.
    own = lane.state.diverged * 0
    buffer = jax.tree.map(lambda s: jnp.full((rows, *s.shape), own.astype(s.dtype)), shapes)

    def unfinished(place: Reached) -> jax.Array:
        return (place.step < stop) | (record_steps[place.row] <= stop)

    begin = Reached(start, jnp.asarray(0, jnp.int32), lane._replace(data=None), buffer)
    end = lax.while_loop(unfinished, partial(_cell, call), begin)
    return end.lane, end.buffer


def _cell(call: Call, place: Reached) -> Reached:
    """Move to the next step that is measured, or at which the rate changes, or to the last."""
    trained, goal, stop, record_steps, times = call
    step, row, lane, buffer = place
    spec, network, dtype, data = trained
    follow = followed(spec.dynamics)
    target = jnp.minimum(record_steps[row], stop)
    if follow:
        target = jnp.minimum(target, (step // follow.every + 1) * follow.every)
    until = lane.stopping and lane.stopping.at
    rule = at_rate(spec.dynamics, lane.rate)
    observe = observing(spec, rule, network, dtype, data)
    seen = {name: lane.memory[name] for name in observers(spec)}
    state = rule.advance(
        lane.state._replace(seen=seen), goal._replace(until=until, observe=observe),
        step, target, (times[row], times[row + 1]),
    )  # fmt: skip
    lane = lane._replace(memory=lane.memory | state.seen)
    state = state._replace(seen=())
    rate = next_rate(follow, trained.measure, state, lane.rate, step, target, until)
    reached = target == record_steps[row]
    kept = (state.diverged, lane.memory, lane.stopping, lane.best, buffer)
    write = partial(_write, call, state, rate, target, row)
    kept = lax.cond(reached, write, lambda *same: same, *kept)
    diverged, memory, stopping, best, buffer = kept
    lane = Lane(state._replace(diverged=diverged), None, memory, rate, stopping, best)
    return Reached(target, row + reached.astype(jnp.int32), lane, buffer)


def _write(
    call: Call, state: State, rate: Rate | None, target: jax.Array, row: jax.Array,
    diverged: jax.Array, memory: Any, stopping: Any, best: Any, buffer: Any,
) -> tuple:  # fmt: skip
    """Let the probes look, and everything that depends on what they see."""
    spec, goal = call.trained.spec, call.goal
    seen, memory = call.trained.measure(state, memory)
    stopping = watch(spec.stop, seen, target, stopping)
    best = better(spec.best, seen, target, spec.dynamics.measured(state), best)
    shown = seen | (rate.rows if rate else {})
    buffer = jax.tree.map(lambda b, v: b.at[row].set(v), buffer, shown)
    # Finite parameters may have a loss beyond all numbers. A rule that moves by batches never
    # sees all samples, and may have far too many to look at here.
    left = overflows(spec, seen, lambda: goal.loss(state.params, one_batch(spec, goal.samples)))
    beyond = (diverged == NEVER) & left
    return jnp.where(beyond, target, diverged), memory, stopping, best, buffer
