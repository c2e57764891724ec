"""The one loop: one lane as a pure function, then all lanes in one compiled call.

A lane is a seed at a point of the sweep grid. `prepare` draws its data and parameters;
`advance` moves it to a later place and fills a buffer with what the probes saw on the way.
Counters are shared by all lanes, so that under vmap the loop stays one loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from dynascope.core.randomness import key_for
from dynascope.core.spec import leaves, with_leaves
from dynascope.dynamics.base import NEVER, Objective, State
from dynascope.engine.experiment import Bare
from dynascope.engine.lanes import Lanes, shares
from dynascope.numerics.precision import cast, foreign
from dynascope.probes.base import Snapshot

# Matrices up to this size are vmapped over lanes, larger ones are mapped, one lane after
# the other: XLA's batched product is slower than separate ones from there on (measured in
# benchmarks/lanes.py).
LARGEST_VMAPPED = {"float32": 24, "float64": 24}
NO_MORE = np.iinfo(np.int32).max


class Lane(NamedTuple):
    """What one lane keeps between two calls."""

    state: State
    samples: Any
    context: Any


class Program(NamedTuple):
    """The compiled functions of one skeleton."""

    prepare: Callable
    advance: Callable
    mapped: bool


def build(bare: Bare, dtype: str) -> tuple[Callable, Callable]:
    """`prepare` and `advance` for one lane, as functions of the spec's leaves."""

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
        return Lane(state, samples, context)

    def look(spec: Bare, network: Any, lane: Lane) -> dict[str, jax.Array]:
        snapshot = Snapshot(spec.task, network, lane.state.params, lane.samples, lane.context)
        fine = lane.state.diverged == NEVER
        with _promotion(spec.task):
            seen = {p.stored_as: cast(p.measure(snapshot), dtype) for p in spec.probes}
        # What a diverged lane shows is not a measurement.
        return jax.tree.map(lambda v: jnp.where(fine, v, jnp.nan) if v.dtype == dtype else v, seen)

    def advance(
        values: dict[str, jax.Array],
        seed: jax.Array,
        lane: Lane,
        start: jax.Array,
        stop: jax.Array,
        places: jax.Array,
        times: jax.Array,
    ) -> tuple[State, dict[str, jax.Array]]:
        """Move to `stop`; `places` (rows + 1,) are the next ones to look at, `times` theirs."""
        spec, network = pieces(values)
        goal = objective(spec, network, lane.samples, seed)
        rows = places.shape[0] - 1
        shapes = jax.eval_shape(lambda s: look(spec, network, lane._replace(state=s)), lane.state)
        buffer = jax.tree.map(lambda s: jnp.zeros((rows, *s.shape), s.dtype), shapes)

        def unfinished(carry: tuple) -> jax.Array:
            place, row, _, _ = carry
            return (place < stop) | (places[row] <= stop)

        def cell(carry: tuple) -> tuple:
            place, row, state, buffer = carry
            target = jnp.minimum(places[row], stop)
            state = spec.dynamics.advance(state, goal, place, target, (times[row], times[row + 1]))
            reached = target == places[row]

            def write(buffer: Any) -> Any:
                seen = look(spec, network, lane._replace(state=state))
                return jax.tree.map(lambda b, v: b.at[row].set(v), buffer, seen)

            buffer = lax.cond(reached, write, lambda b: b, buffer)
            return target, row + reached.astype(jnp.int32), state, buffer

        carry = (start, jnp.asarray(0, jnp.int32), lane.state, buffer)
        _, _, state, buffer = lax.while_loop(unfinished, cell, carry)
        return state, buffer

    return prepare, advance


def _promotion(task: Any) -> Any:
    """Strict for our own tasks, standard for anybody else's."""
    ours = type(task).__module__.startswith("dynascope.")
    return jax.numpy_dtype_promotion("strict") if ours else foreign()


_PROGRAMS: dict[tuple, Program] = {}


def program(lanes: Lanes, dtype: str) -> Program:
    """The compiled functions for these lanes; the same object for the same skeleton."""
    devices = shares(len(lanes.seeds), jax.local_device_count())
    key = (lanes.skeleton, lanes.batched, dtype, devices)
    if key not in _PROGRAMS:
        _PROGRAMS[key] = _program(lanes.bare, lanes.batched, dtype, devices)
    return _PROGRAMS[key]


def _program(bare: Bare, batched: frozenset[str], dtype: str, devices: int) -> Program:
    prepare, advance = build(bare, dtype)
    mapped = largest_side(prepare, bare) > LARGEST_VMAPPED[dtype]

    def over_lanes(one: Callable) -> Callable:
        def call(values: dict, lanes: tuple, *shared: Any) -> Any:
            own = {k: v for k, v in values.items() if k in batched}
            common = {k: v for k, v in values.items() if k not in batched}

            def single(args: tuple) -> Any:
                own, lane = args
                return one({**own, **common}, *lane, *shared)

            return lax.map(single, (own, lanes)) if mapped else jax.vmap(single)((own, lanes))

        return call

    def sharded(call: Callable, n_shared: int) -> Callable:
        """Lanes spread over all devices; each device runs its own share of the loop."""
        if devices == 1:
            return jax.jit(call)
        mesh = jax.make_mesh(
            (devices,), ("lane",), axis_types=(jax.sharding.AxisType.Auto,),
            devices=jax.local_devices()[:devices],
        )  # fmt: skip
        lane, whole = jax.sharding.PartitionSpec("lane"), jax.sharding.PartitionSpec()

        def spread(values: dict, lanes: tuple, *shared: Any) -> Any:
            specs = ({k: lane if k in batched else whole for k in values}, lane)
            shards = jax.shard_map(
                call,
                mesh=mesh,
                in_specs=(*specs, *(whole,) * n_shared),
                out_specs=lane,
                check_vma=False,
            )
            return shards(values, lanes, *shared)

        return jax.jit(spread)

    return Program(sharded(over_lanes(prepare), 0), sharded(over_lanes(advance), 4), mapped)


def largest_side(prepare: Callable, bare: Bare) -> int:
    """The longest side of any parameter array: what decides between vmap and map."""
    shapes = jax.eval_shape(prepare, leaves(bare), jnp.asarray(0, jnp.uint32))
    return max((max(p.shape, default=1) for p in jax.tree.leaves(shapes.state.params)), default=1)
