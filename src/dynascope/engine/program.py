"""All lanes in one compiled call: vmapped or mapped, and shared out among the devices."""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import Lock
from typing import Any, NamedTuple

import jax
import numpy as np
from jax import lax

from dynascope.core.cores import cores
from dynascope.core.spec import leaves
from dynascope.engine.experiment import Bare
from dynascope.engine.lane import Lane, build
from dynascope.engine.lanes import Lanes, shares
from dynascope.numerics.polish import polish

# Matrices up to this size are vmapped over lanes, larger ones are mapped, one lane after
# the other: XLA's batched product is slower than separate ones from there on (measured in
# benchmarks/lanes.py).
LARGEST_VMAPPED = {"float32": 24, "float64": 24}


class Program(NamedTuple):
    """The compiled functions of one skeleton."""

    prepare: Callable
    advance: Callable
    mapped: bool
    row_bytes: int  # of what the probes of one lane see in one look


_PROGRAMS: dict[tuple, Program] = {}
_LOCK = Lock()


def program(lanes: Lanes, dtype: str) -> Program:
    """The compiled functions for these lanes; the same object for the same skeleton."""
    devices = shares(len(lanes.seeds), usable_devices())
    key = (lanes.skeleton, lanes.batched, dtype, devices)
    with _LOCK:  # experiments may be compiled on several threads
        if key not in _PROGRAMS:
            _PROGRAMS[key] = _program(lanes.bare, lanes.batched, dtype, devices)
        return _PROGRAMS[key]


def usable_devices() -> int:
    """Devices that lanes may be spread over: all, or one where XLA would stand still.

    A device of the host holds a thread of XLA's pool while it waits for work that another
    thread must do. A pool of no more threads than devices can then wait for ever (seen with
    an eigenvalue probe on two cores). NPROC is what XLA takes its number of threads from.
    """
    devices = jax.local_device_count()
    threads = int(os.environ.get("NPROC", cores()))
    return 1 if jax.default_backend() == "cpu" and threads <= devices else devices


def _program(bare: Bare, batched: frozenset[str], dtype: str, devices: int) -> Program:
    prepare, look, advance = build(bare, dtype)
    jaxpr, lane = jax.make_jaxpr(prepare, return_shape=True)(leaves(bare), np.uint32(0))
    mapped = largest_side(lane) > LARGEST_VMAPPED[dtype]
    row = jax.eval_shape(look, leaves(bare), lane)
    row_bytes = sum(int(np.prod(v.shape)) * v.dtype.itemsize for v in row.values())

    def over_lanes(one: Callable) -> Callable:
        def call(values: dict, lanes: tuple, *shared: Any) -> Any:
            own = {k: v for k, v in values.items() if k in batched}
            common = {k: v for k, v in values.items() if k not in batched}

            def single(args: tuple) -> Any:
                own, lane = args
                return one({**own, **common}, *lane, *shared)

            return lax.map(single, (own, lanes)) if mapped else jax.vmap(single)((own, lanes))

        return call

    def sharded(call: Callable, n_shared: int, options: dict[str, Any] | None = None) -> Callable:
        """Lanes spread over all devices; each device runs its own share of the loop."""
        if devices == 1:
            return jax.jit(call, compiler_options=options)
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

        return jax.jit(spread, compiler_options=options)

    first = sharded(over_lanes(prepare), 0, polish(jaxpr.jaxpr))
    return Program(first, sharded(over_lanes(advance), 4), mapped, row_bytes)


def largest_side(lane: Lane) -> int:
    """The longest side of any parameter array: what decides between vmap and map."""
    return max((max(p.shape, default=1) for p in jax.tree.leaves(lane.state.params)), default=1)
