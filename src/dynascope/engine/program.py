"""The compiled functions of an experiment, and what memory they take."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from functools import partial
from threading import Lock
from typing import Any, NamedTuple

import jax
import numpy as np

from dynascope.core.leaves import leaves
from dynascope.engine.experiment import Setup
from dynascope.engine.fitting import naming_misfits
from dynascope.engine.kept_traces import KeptTraces, Measures, kept_traces, traced_here
from dynascope.engine.lane import build
from dynascope.engine.lane_state import Lane
from dynascope.engine.lanes import shares
from dynascope.engine.loop_inputs import LoopInputs
from dynascope.engine.memory import peak
from dynascope.engine.spreading import Spread, over_devices, over_lanes
from dynascope.engine.traces import forget_old_traces
from dynascope.runtime.cores import cores
from dynascope.runtime.memory import refuse_above
from dynascope.runtime.quick_compile import quick_compile_options

# Matrices up to this size are vmapped over lanes, larger ones are mapped, one lane after
# the other: XLA's batched product is slower than separate ones from there on (measured in
# benchmarks/lanes.py).
LARGEST_VMAPPED = {"float32": 24, "float64": 24}


class Program(NamedTuple):
    """The compiled functions of one skeleton."""

    shared: Callable  # the data that all lanes share, or None
    prepare: Callable
    advance: Callable
    mapped: bool
    row_bytes: int  # of what the probes of one lane measure at one step
    params_bytes: int  # of the parameters of one lane
    lane_bytes: int  # of everything that one lane keeps
    moved_bytes: int  # of what a call gives back anew for one lane: all but its data
    work_bytes: int  # of what a gradient or a measurement of one lane writes meanwhile
    shared_bytes: int  # of the data that all lanes share
    devices: int  # that the lanes are spread over

    def refuse_too_many(self, lanes: int) -> None:
        """Raise `BadInput`, with the number, for lanes that do not fit into memory."""
        needed = self.needed_bytes(lanes)
        refuse_above(needed, "this experiment", "samples, widths, seeds or grid points")

    def needed_bytes(self, lanes: int) -> int:
        """What a call of the loop holds: lanes before and after it, and what it works on."""
        at_once = min(self.devices, lanes) if self.mapped else lanes
        kept = self.shared_bytes + lanes * (self.lane_bytes + self.moved_bytes)
        return kept + at_once * self.work_bytes


_PROGRAMS: dict[tuple, Program] = {}
_LOCK = Lock()


def program(inputs: LoopInputs) -> Program:
    """The compiled functions for these lanes; the same object for the same skeleton.

    A program with code of the user's own serves one signature, so that it is never traced
    again: what the code reads may have changed by then. Where code is unknown, none is kept.
    """
    lanes, dtype = inputs.lanes, inputs.dtype
    devices = shares(len(lanes.seeds), usable_devices())
    what = inputs.signature if lanes.codes else (lanes.skeleton, lanes.batched, dtype)
    key = (*what, devices)
    with _LOCK:  # experiments may be compiled on several threads
        if key in _PROGRAMS:
            return _PROGRAMS[key]
        if forget_old_traces(lanes.codes):
            _PROGRAMS.clear()
        decides = (lanes.skeleton, sorted(lanes.batched), dtype, devices)
        kept = None if lanes.codes else kept_traces(decides)  # traces of ours alone are kept
        made = _program(lanes.setup, lanes.batched, dtype, devices, kept)
        if not inputs.unknown:
            _PROGRAMS[key] = made
        return made


def usable_devices() -> int:
    """Devices that lanes may be spread over: all, or one where XLA would stand still.

    A device of the host holds a thread of XLA's pool while it waits for work that another
    thread must do. A pool of no more threads than devices can then wait for ever (seen with
    an eigenvalue probe on two cores). NPROC is what XLA takes its number of threads from.
    """
    devices = jax.local_device_count()
    threads = int(os.environ.get("NPROC", cores()))
    return 1 if jax.default_backend() == "cpu" and threads <= devices else devices


def _program(
    setup: Setup, batched: frozenset[str], dtype: str, devices: int, kept: KeptTraces | None
) -> Program:
    draw, prepare, measure, slope, advance = build(setup, dtype)
    once = setup.task.shared and not any(path.startswith("task.") for path in batched)
    shared = (lambda values: draw(values, np.uint32(0))) if once else lambda values: None
    with naming_misfits(setup, dtype):
        data = jax.eval_shape(shared, leaves(setup))
        lane = jax.eval_shape(prepare, leaves(setup), np.uint32(0), data)
        measures = kept and kept.measures()
        if not measures:
            start = jax.make_jaxpr(prepare)(leaves(setup), np.uint32(0), data)
            look, row = jax.make_jaxpr(measure, return_shape=True)(leaves(setup), lane, data)
            gradient = jax.make_jaxpr(slope)(leaves(setup), lane, data)
            work_bytes = max(peak(p.jaxpr) for p in (gradient, look))
            measures = Measures(row, work_bytes, quick_compile_options(start.jaxpr))
            if kept:
                kept.keep_measures(measures)
    mapped = largest_side(lane) > LARGEST_VMAPPED[dtype]
    compiled = kept.function if kept else traced_here

    def of_all(one: Callable) -> Spread:
        return over_devices(over_lanes(one, batched, mapped), batched, devices)

    moved, loop = lane._replace(data=None), partial(advance, measures.row)
    return Program(
        shared,
        compiled("prepare", of_all(prepare), lane, measures.options),
        compiled("advance", of_all(loop), (moved, measures.row)),
        mapped, bytes_of(measures.row), bytes_of(lane.state.params), bytes_of(lane),
        bytes_of(moved), measures.work_bytes, bytes_of(data), devices,
    )  # fmt: skip


def bytes_of(tree: Any) -> int:
    """What the arrays of a tree take."""
    leaves_ = jax.tree.leaves(tree)
    return sum(math.prod(a.shape) * getattr(a.dtype, "itemsize", 8) for a in leaves_)


def largest_side(lane: Lane) -> int:
    """The longest side of any parameter array: what decides between vmap and map."""
    return max((max(p.shape, default=1) for p in jax.tree.leaves(lane.state.params)), default=1)
