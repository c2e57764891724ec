"""Driving the compiled loop from Python: chunks, progress, cancelling, checkpoints, rows.

How far one compiled call goes follows the clock. Chunking never changes results.
"""

from __future__ import annotations

import io
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import jax
import numpy as np

from dynascope.core.errors import DamagedRecord, bad
from dynascope.dynamics.base import NEVER
from dynascope.engine.experiment import Experiment
from dynascope.engine.keeping import as_rows
from dynascope.engine.lane_state import Lane
from dynascope.engine.loop_inputs import LoopInputs, loop_inputs
from dynascope.engine.program import Program, program
from dynascope.engine.stopping import NO_MORE, rows_until_all_stopped
from dynascope.runtime.precision import precision
from dynascope.runtime.progress import Progress

CALL_SECONDS = 0.3  # one compiled call: short enough for Ctrl-C and a smooth bar
BUFFER_BYTES = 64 * 2**20  # what the probes may fill between two visits to Python
RECORD_BYTES = 4 * 2**30  # what one run may record in total


NOT_OF_THIS_RUN = (
    "the stored checkpoint is not of this run; `dynascope runs` names the unfinished record, "
    "forget it and run again"
)

Rows = dict[str, np.ndarray]  # (lanes, rows, ...) by name


class Chunk(NamedTuple):
    """What one call of the compiled loop gives: new rows, and how the lanes stand after it."""

    rows: Rows
    diverged: np.ndarray  # (lanes,)
    step: int
    lane: Lane  # of all lanes, the padded ones too
    kept: list[tuple[int, np.ndarray]]  # steps and (lanes, parameters)
    last: bool
    checkpoint: Callable[[], bytes]


OnChunk = Callable[[Chunk], None]


def drive(
    compiled: Program,
    inputs: LoopInputs,
    progress: Progress,
    on_chunk: OnChunk,
    checkpoint: bytes | None,
) -> None:
    """Run the lanes to the end, handing over rows as they come.

    Args:
        compiled: The program of the lanes.
        inputs: The lanes and when to measure them.
        progress: Told the step reached.
        on_chunk: Called with new rows and parameters, and how the lanes stand after them.
        checkpoint: State to go on from, as `on_chunk` was given it.
    """
    lanes, record_steps, times, _, kept_at = inputs
    compiled.refuse_too_many(len(lanes.seeds))
    shared = compiled.shared(lanes.values)
    lane: Lane = compiled.prepare(lanes.values, (lanes.seeds,), shared)
    step, row, end = 0, 0, len(record_steps)
    kept = [(0, _measured(inputs, lane))] if 0 in kept_at else []
    if checkpoint is not None:
        lane, step, row = restore(lane, checkpoint)
        kept, end = [], _end(inputs, lane)
    rows = _buffer_rows(compiled, inputs)
    pace = _Pace()
    while row < end:
        upcoming = _window(record_steps[row : row + rows], rows)
        clock = _clock(times, row, rows)
        stop = min(int(record_steps[min(row + rows, len(record_steps)) - 1]), step + pace.budget)
        stop = min([stop, *kept_at[kept_at > step].tolist()])
        progress.update(step, "compiling" if pace.fresh else "")
        begun = time.perf_counter()
        moved, buffer = compiled.advance(
            lanes.values,
            (lanes.seeds, lane),
            np.int32(step),
            np.int32(stop),
            upcoming,
            clock,
            shared,
        )
        lane = jax.block_until_ready(moved)._replace(data=lane.data)
        end = _end(inputs, lane)
        filled = min(int(np.searchsorted(record_steps, stop, side="right")), end) - row
        pace.learn(stop - step, time.perf_counter() - begun)
        step, row = stop, row + filled
        # Copies: a view would keep the whole buffer, of which a call may fill nothing.
        part = {k: np.array(np.asarray(v)[: lanes.count, :filled]) for k, v in buffer.items()}
        diverged = np.asarray(lane.state.diverged)[: lanes.count]
        if step in kept_at and step <= record_steps[end - 1]:
            values = _measured(inputs, lane)
            values[diverged != NEVER] = np.nan  # where a lane diverged it stands still: no result
            kept.append((step, values))
        again = partial(save, lane, step, row)
        on_chunk(Chunk(part, diverged, step, lane, kept, row == end, again))
        kept = []
        progress.update(step)


def _measured(inputs: LoopInputs, lane: Lane) -> np.ndarray:
    """The parameters that the probes see, (lanes, parameters): an average under some rules."""
    params = jax.vmap(inputs.lanes.setup.dynamics.measured)(lane.state)
    return as_rows(params, inputs.lanes.count)


def _end(inputs: LoopInputs, lane: Lane) -> int:
    """How many rows there are, as far as is known."""
    diverged = np.asarray(lane.state.diverged)[: inputs.lanes.count]
    return rows_until_all_stopped(inputs.record_steps, lane.stopping, diverged)


class _Pace:
    """How many steps the next call may take: about CALL_SECONDS, learnt from the last ones."""

    def __init__(self) -> None:
        self.budget, self.fresh = 1, True

    def learn(self, steps: int, seconds: float) -> None:
        if self.fresh:  # this call compiled; its time says nothing
            self.fresh = False
            return
        rate = max(steps, 1) / max(seconds, 1e-6)
        self.budget = int(np.clip(rate * CALL_SECONDS, 1, self.budget * 32))


def _window(upcoming: np.ndarray, rows: int) -> np.ndarray:
    """The next steps to record, padded to rows + 1 with a step that is never reached."""
    return np.concatenate([upcoming, np.full(rows + 1 - len(upcoming), NO_MORE)]).astype(np.int32)


def _clock(times: np.ndarray, row: int, rows: int) -> np.ndarray:
    """Time before the first record of the window, then of each record, padded with the last."""
    before = times[max(row - 1, 0)]
    inside = times[row : row + rows]
    return np.concatenate([[before], inside, np.full(rows + 1 - len(inside), inside[-1])])


def _buffer_rows(compiled: Program, inputs: LoopInputs) -> int:
    """Rows between two visits to Python, from what one row of all lanes takes."""
    size, records = max(1, compiled.row_bytes * len(inputs.lanes.seeds)), len(inputs.record_steps)
    total = size * records + compiled.params_bytes * len(inputs.lanes.seeds) * len(inputs.kept_at)
    if total > RECORD_BYTES:
        raise bad(
            "record",
            f"{total / 2**30:.1f} GB",
            f"at most {RECORD_BYTES / 2**30:.0f} GB of measurements and kept parameters",
            "record fewer points, fewer seeds or smaller quantities",
        )
    fits = max(1, BUFFER_BYTES // size)
    return min(inputs.most_rows, 1 << (fits.bit_length() - 1))


def compile_only(inputs: LoopInputs) -> None:
    """Compile what `drive` will call, by calls that move nothing."""
    lanes, times = inputs.lanes, inputs.times
    compiled = program(inputs)
    compiled.refuse_too_many(len(lanes.seeds))
    shared = compiled.shared(lanes.values)
    lane: Lane = compiled.prepare(lanes.values, (lanes.seeds,), shared)
    rows = _buffer_rows(compiled, inputs)
    nowhere = np.int32(0)
    compiled.advance(
        lanes.values, (lanes.seeds, lane), nowhere, nowhere,
        _window(inputs.record_steps[:0], rows), _clock(times, 0, rows), shared,
    )  # fmt: skip


def refuse_too_large(experiment: Experiment) -> None:
    """Raise `BadInput`, with the number, for an experiment that does not fit into memory."""
    inputs = loop_inputs(experiment)
    with precision(inputs.dtype):
        program(inputs).refuse_too_many(len(inputs.lanes.seeds))


def save(lane: Lane, step: int, row: int) -> bytes:
    """The state of all lanes and what their probes remember, as bytes."""
    arrays = {str(i): np.asarray(a) for i, a in enumerate(jax.tree.leaves(_kept(lane)))}
    buffer = io.BytesIO()
    np.savez(buffer, **arrays, place=np.asarray(step), row=np.asarray(row))  # type: ignore[arg-type]
    return buffer.getvalue()


def row_of(checkpoint: bytes) -> int:
    """The number of the next row that a saved run will measure."""
    with _opened(checkpoint) as saved:
        return int(saved["row"])


@contextmanager
def _opened(checkpoint: bytes) -> Iterator[Any]:
    """The arrays of a checkpoint, which may come from a file that somebody else has written."""
    try:
        with np.load(io.BytesIO(checkpoint), allow_pickle=False) as saved:
            yield saved
    except (KeyError, ValueError, TypeError, OSError, EOFError, AttributeError) as error:
        raise DamagedRecord(NOT_OF_THIS_RUN) from error
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, zlib.error) as error:
        raise DamagedRecord(NOT_OF_THIS_RUN) from error


def restore(lane: Lane, checkpoint: bytes) -> tuple[Lane, int, int]:
    """Put a saved state into freshly prepared lanes."""
    with _opened(checkpoint) as saved:
        leaves, structure = jax.tree.flatten(_kept(lane))
        arrays = [saved[str(i)] for i in range(len(leaves))]
        if any((a.shape, a.dtype) != (b.shape, b.dtype) for a, b in zip(arrays, leaves)):
            raise DamagedRecord(NOT_OF_THIS_RUN)
        kept = jax.tree.unflatten(structure, arrays)
        return kept._replace(data=lane.data), int(saved["place"]), int(saved["row"])


def _kept(lane: Lane) -> Lane:
    """What a checkpoint holds of a lane; the data a seed draws again."""
    return lane._replace(data=None)
