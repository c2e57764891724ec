"""The one loop: one lane as pure functions of a spec's numbers.

A lane is a seed at a point of the sweep grid. `prepare` draws its data and parameters;
`advance` moves it to a later step and fills a buffer with what the probes measured until then.
Counters are shared by all lanes, so that under vmap the loop stays one loop.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from dynascope.core.leaves import with_leaves
from dynascope.core.randomness import key_for
from dynascope.dynamics.base import NEVER, State
from dynascope.engine.experiment import Setup
from dynascope.engine.following import at_rate, first_rate, followed, next_rate
from dynascope.engine.keeping import better, none_yet
from dynascope.engine.lane_state import Lane, data_of
from dynascope.engine.measuring import measure_all, overflows
from dynascope.engine.objective import Data, objective, one_batch, promotion
from dynascope.engine.observing import observers, observing
from dynascope.engine.stopping import not_yet, watch
from dynascope.probes.base import Snapshot
from dynascope.runtime.precision import cast


class Functions(NamedTuple):
    """What one lane can do, as functions of the spec's leaves."""

    draw: Callable
    prepare: Callable
    measure: Callable
    slope: Callable
    advance: Callable


def build(setup: Setup, dtype: str) -> Functions:
    """`draw`, `prepare`, `measure`, `slope` and `advance` for one lane.

    The last four take the data that all lanes share, or None where each has its own.
    """

    def pieces(values: dict[str, jax.Array]) -> tuple[Setup, Any]:
        spec = with_leaves(setup, {k: jnp.asarray(v, dtype) for k, v in values.items()})
        network = spec.model.build(spec.task.input_size, spec.task.output_size)
        return spec, network

    def draw(values: dict[str, jax.Array], seed: jax.Array) -> Data:
        task = pieces(values)[0].task
        with promotion(task):
            samples = cast(task.samples(key_for(seed, "data")), dtype)
            return Data(samples, cast(task.context(key_for(seed, "data")), dtype))

    def prepare(values: dict[str, jax.Array], seed: jax.Array, shared: Data | None) -> Lane:
        spec, network = pieces(values)
        data = draw(values, seed) if shared is None else shared
        params = cast(network.init(key_for(seed, "init")), dtype)
        snapshot = Snapshot(spec.task, network, params, *data)
        with promotion(spec.task):
            memory = {p.stored_as: cast(p.memory(snapshot), dtype) for p in spec.probes}
        look, follow = partial(measure_all, spec, network, dtype, data), followed(spec.dynamics)
        own = {name: memory[name] for name in follow.follows} if follow else {}
        rate = first_rate(follow, look, State(params, (), jnp.asarray(NEVER, jnp.int32)), own)
        goal = objective(spec, network, dtype, data, seed)
        state = at_rate(spec.dynamics, rate).begin(params, goal)
        best = none_yet(spec.best, params, dtype)
        own_data = data if shared is None else None
        return Lane(state, own_data, memory, rate, not_yet(spec.stop, dtype), best)

    def measure(values: dict[str, jax.Array], lane: Lane, shared: Data | None) -> dict:
        spec, network = pieces(values)
        data = data_of(lane, shared)
        seen, _ = measure_all(spec, network, dtype, data, lane.state, lane.memory)
        return seen | (lane.rate.rows if lane.rate else {})

    def slope(values: dict[str, jax.Array], lane: Lane, shared: Data | None) -> Any:
        """The gradient of one step: traced alone, to see whether it can be and what it takes."""
        spec, network = pieces(values)
        data = data_of(lane, shared)
        goal = objective(spec, network, dtype, data, jnp.uint32(0))
        return jax.grad(goal.loss)(lane.state.params, one_batch(spec, data.samples))

    def advance(
        values: dict[str, jax.Array],
        seed: jax.Array,
        lane: Lane,
        start: jax.Array,
        stop: jax.Array,
        record_steps: jax.Array,
        times: jax.Array,
        shared: Data | None,
    ) -> tuple[Lane, dict[str, jax.Array]]:
        """Move to `stop`; `record_steps` (rows + 1,) are the next to measure at, `times` theirs."""
        spec, network = pieces(values)
        data = data_of(lane, shared)
        goal = objective(spec, network, dtype, data, seed)
        rows, follow = record_steps.shape[0] - 1, followed(spec.dynamics)
        look = partial(measure_all, spec, network, dtype, data)
        shapes = jax.eval_shape(measure, values, lane, shared)
        # A zero of each lane's own: jax traces a loop under vmap twice where what it carries is
        # the same for all lanes at first.
        own = lane.state.diverged * 0
        buffer = jax.tree.map(lambda s: jnp.full((rows, *s.shape), own.astype(s.dtype)), shapes)

        def unfinished(carry: tuple) -> jax.Array:
            step, row, *_ = carry
            return (step < stop) | (record_steps[row] <= stop)

        def cell(carry: tuple) -> tuple:
            step, row, lane, buffer = carry
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
            rate = next_rate(follow, look, state, lane.rate, step, target, until)
            reached = target == record_steps[row]

            def write(
                diverged: jax.Array, memory: Any, stopping: Any, best: Any, buffer: Any
            ) -> Any:
                seen, memory = look(state, memory)
                stopping = watch(spec.stop, seen, target, stopping)
                best = better(spec.best, seen, target, state.params, best)
                shown = seen | (rate.rows if rate else {})
                buffer = jax.tree.map(lambda b, v: b.at[row].set(v), buffer, shown)
                # Finite parameters may have a loss beyond all numbers. A rule that moves by
                # batches never sees all samples, and may have far too many to look at here.
                left = overflows(
                    spec, seen, lambda: goal.loss(state.params, one_batch(spec, goal.samples))
                )
                beyond = (diverged == NEVER) & left
                return jnp.where(beyond, target, diverged), memory, stopping, best, buffer

            kept = (state.diverged, lane.memory, lane.stopping, lane.best, buffer)
            kept = lax.cond(reached, write, lambda *same: same, *kept)
            diverged, memory, stopping, best, buffer = kept
            state = state._replace(diverged=diverged)
            lane = Lane(state, None, memory, rate, stopping, best)
            return target, row + reached.astype(jnp.int32), lane, buffer

        carry = (start, jnp.asarray(0, jnp.int32), lane._replace(data=None), buffer)
        _, _, lane, buffer = lax.while_loop(unfinished, cell, carry)
        return lane, buffer

    return Functions(draw, prepare, measure, slope, advance)
