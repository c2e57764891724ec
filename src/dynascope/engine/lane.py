"""The one loop: one lane as pure functions of a spec's numbers.

A lane is a seed at a point of the sweep grid. `prepare` draws its data and parameters;
`advance` moves it to a later place and fills a buffer with what the probes saw on the way.
Counters are shared by all lanes, so that under vmap the loop stays one loop.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from dynascope.core.randomness import key_for
from dynascope.core.spec import with_leaves
from dynascope.dynamics.base import NEVER, Objective, State
from dynascope.engine.experiment import Bare
from dynascope.numerics.precision import cast, foreign
from dynascope.probes.base import Snapshot

NO_MORE = np.iinfo(np.int32).max


class Lane(NamedTuple):
    """What one lane keeps between two calls."""

    state: State
    samples: Any
    context: Any
    memory: dict[str, Any]  # of every probe, by the name that it stores under


class Functions(NamedTuple):
    """What one lane can do, as functions of the spec's leaves."""

    prepare: Callable
    look: Callable
    advance: Callable


def build(bare: Bare, dtype: str) -> Functions:
    """`prepare`, `look` and `advance` for one lane."""

    def pieces(values: dict[str, jax.Array]) -> tuple[Bare, Any]:
        spec = with_leaves(bare, {k: jnp.asarray(v, dtype) for k, v in values.items()})
        network = spec.model.build(spec.task.input_size, spec.task.output_size)
        return spec, network

    def objective(spec: Bare, network: Any, samples: Any, seed: jax.Array) -> Objective:
        def loss(params: Any, batch: Any) -> jax.Array:
            with _promotion(spec.task):
                return spec.task.loss(network.bind(params), batch)

        return Objective(loss, samples, key_for(seed, "batch"))

    def prepare(values: dict[str, jax.Array], seed: jax.Array) -> Lane:
        spec, network = pieces(values)
        with _promotion(spec.task):
            samples = cast(spec.task.samples(key_for(seed, "data")), dtype)
            context = cast(spec.task.context(key_for(seed, "data")), dtype)
        params = cast(network.init(key_for(seed, "init")), dtype)
        state = spec.dynamics.begin(params, objective(spec, network, samples, seed))
        snapshot = Snapshot(spec.task, network, params, samples, context)
        with _promotion(spec.task):
            memory = {p.stored_as: cast(p.memory(snapshot), dtype) for p in spec.probes}
        return Lane(state, samples, context, memory)

    def look(values: dict[str, jax.Array], lane: Lane) -> dict[str, jax.Array]:
        spec, network = pieces(values)
        return _look(spec, network, dtype, lane)[0]

    def advance(
        values: dict[str, jax.Array],
        seed: jax.Array,
        lane: Lane,
        start: jax.Array,
        stop: jax.Array,
        places: jax.Array,
        times: jax.Array,
    ) -> tuple[State, dict[str, Any], dict[str, jax.Array]]:
        """Move to `stop`; `places` (rows + 1,) are the next ones to look at, `times` theirs."""
        spec, network = pieces(values)
        goal = objective(spec, network, lane.samples, seed)
        rows = places.shape[0] - 1
        shapes, _ = jax.eval_shape(partial(_look, spec, network, dtype), lane)
        buffer = jax.tree.map(lambda s: jnp.zeros((rows, *s.shape), s.dtype), shapes)

        def unfinished(carry: tuple) -> jax.Array:
            place, row, *_ = carry
            return (place < stop) | (places[row] <= stop)

        def cell(carry: tuple) -> tuple:
            place, row, state, memory, buffer = carry
            target = jnp.minimum(places[row], stop)
            state = spec.dynamics.advance(state, goal, place, target, (times[row], times[row + 1]))
            reached = target == places[row]

            def write(memory: Any, buffer: Any) -> Any:
                now = lane._replace(state=state, memory=memory)
                seen, memory = _look(spec, network, dtype, now)
                return memory, jax.tree.map(lambda b, v: b.at[row].set(v), buffer, seen)

            memory, buffer = lax.cond(reached, write, lambda *kept: kept, memory, buffer)
            return target, row + reached.astype(jnp.int32), state, memory, buffer

        carry = (start, jnp.asarray(0, jnp.int32), lane.state, lane.memory, buffer)
        _, _, state, memory, buffer = lax.while_loop(unfinished, cell, carry)
        return state, memory, buffer

    return Functions(prepare, look, advance)


def _look(
    spec: Bare, network: Any, dtype: str, lane: Lane
) -> tuple[dict[str, jax.Array], dict[str, Any]]:
    """What the probes see now, and what they remember of it."""
    snapshot = Snapshot(spec.task, network, lane.state.params, lane.samples, lane.context)
    fine = lane.state.diverged == NEVER
    seen, memory = {}, {}
    with _promotion(spec.task):
        for probe in spec.probes:
            name = probe.stored_as
            value, memory[name] = probe.remeasure(snapshot, lane.memory[name])
            seen[name] = cast(value, dtype)
    # What a diverged lane shows is not a measurement.
    blank = lambda v: jnp.where(fine, v, jnp.nan) if v.dtype == dtype else v  # noqa: E731
    return jax.tree.map(blank, seen), memory


def _promotion(task: Any) -> Any:
    """Strict for our own tasks, standard for anybody else's."""
    ours = type(task).__module__.startswith("dynascope.")
    return jax.numpy_dtype_promotion("strict") if ours else foreign()
