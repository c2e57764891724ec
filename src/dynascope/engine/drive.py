"""Driving the compiled loop from Python: chunks, progress, cancelling, checkpoints, rows.

How far one compiled call goes follows the clock; what it computes does not depend on it.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from functools import partial

import jax
import numpy as np

from dynascope.core.errors import bad
from dynascope.core.progress import Progress
from dynascope.engine.course import Course
from dynascope.engine.lane import NO_MORE, Lane
from dynascope.engine.program import Program, program

CALL_SECONDS = 0.3  # one compiled call: short enough for Ctrl-C and a smooth bar
BUFFER_BYTES = 64 * 2**20  # what the probes may fill between two visits to Python
RECORD_BYTES = 4 * 2**30  # what one run may record in total


Rows = dict[str, np.ndarray]  # (lanes, rows, ...) by name
OnRows = Callable[[Rows, np.ndarray, Callable[[], bytes]], None]


def drive(course: Course, progress: Progress, on_rows: OnRows, checkpoint: bytes | None) -> None:
    """Run the lanes to the end, handing over rows as they come.

    Args:
        course: The lanes and where to look at them.
        progress: Told the place reached.
        on_rows: Called with new rows, where lanes diverged, and a function that gives the
            checkpoint.
        checkpoint: State to go on from, as `on_rows` was given it.
    """
    lanes, places, times, dtype = course
    compiled = program(lanes, dtype)
    lane: Lane = compiled.prepare(lanes.values, (lanes.seeds,))
    place, row = 0, 0
    if checkpoint is not None:
        lane, place, row = restore(lane, checkpoint)
    rows = _buffer_rows(compiled, course)
    pace = _Pace()
    while row < len(places):
        ahead = _window(places[row : row + rows], rows)
        clock = _clock(times, row, rows)
        stop = min(int(places[min(row + rows, len(places)) - 1]), place + pace.budget)
        progress.update(place, "compiling" if pace.fresh else "")
        begun = time.perf_counter()
        state, memory, buffer = compiled.advance(
            lanes.values,
            (lanes.seeds, lane),
            np.int32(place),
            np.int32(stop),
            ahead,
            clock,
        )
        lane = lane._replace(state=jax.block_until_ready(state), memory=memory)
        filled = int(np.searchsorted(places, stop, side="right")) - row
        pace.learn(stop - place, time.perf_counter() - begun)
        place, row = stop, row + filled
        part = {k: np.asarray(v)[: lanes.count, :filled] for k, v in buffer.items()}
        diverged = np.asarray(state.diverged)[: lanes.count]
        on_rows(part, diverged, partial(save, lane, place, row))
        progress.update(place)


class _Pace:
    """How many places the next call may cover: about CALL_SECONDS, learnt from the last ones."""

    def __init__(self) -> None:
        self.budget, self.fresh = 1, True

    def learn(self, places: int, seconds: float) -> None:
        if self.fresh:  # this call compiled; its time says nothing
            self.fresh = False
            return
        rate = max(places, 1) / max(seconds, 1e-6)
        self.budget = int(np.clip(rate * CALL_SECONDS, 1, self.budget * 32))


def _window(ahead: np.ndarray, rows: int) -> np.ndarray:
    """The next places, padded to a fixed length (plus one) with one that is never reached."""
    return np.concatenate([ahead, np.full(rows + 1 - len(ahead), NO_MORE)]).astype(np.int32)


def _clock(times: np.ndarray, row: int, rows: int) -> np.ndarray:
    """Time before the first place of the window, then of each place, padded with the last."""
    before = times[max(row - 1, 0)]
    ahead = times[row : row + rows]
    return np.concatenate([[before], ahead, np.full(rows + 1 - len(ahead), ahead[-1])])


def _buffer_rows(compiled: Program, course: Course) -> int:
    """Rows between two visits to Python, from what one row of all lanes takes."""
    size, places = max(1, compiled.row_bytes * len(course.lanes.seeds)), course.places
    if size * len(places) > RECORD_BYTES:
        raise bad(
            "record",
            f"{size * len(places) / 2**30:.1f} GB",
            f"at most {RECORD_BYTES / 2**30:.0f} GB of measurements",
            "record fewer points, fewer seeds or smaller quantities",
        )
    fits = max(1, BUFFER_BYTES // size)
    return min(course.most_rows, 1 << (fits.bit_length() - 1))


def compile_only(course: Course) -> None:
    """Compile what `drive` will call, by calls that move nothing."""
    lanes, _, times, dtype = course
    compiled = program(lanes, dtype)
    lane: Lane = compiled.prepare(lanes.values, (lanes.seeds,))
    rows = _buffer_rows(compiled, course)
    nowhere = np.int32(0)
    compiled.advance(
        lanes.values, (lanes.seeds, lane), nowhere, nowhere,
        _window(course.places[:0], rows), _clock(times, 0, rows),
    )  # fmt: skip


def save(lane: Lane, place: int, row: int) -> bytes:
    """The state of all lanes and what their probes remember, as bytes."""
    arrays = {str(i): np.asarray(a) for i, a in enumerate(jax.tree.leaves(_kept(lane)))}
    buffer = io.BytesIO()
    np.savez(buffer, **arrays, place=np.asarray(place), row=np.asarray(row))  # type: ignore[arg-type]
    return buffer.getvalue()


def row_of(checkpoint: bytes) -> int:
    """The number of the next place at which a saved run looks."""
    with np.load(io.BytesIO(checkpoint)) as saved:
        return int(saved["row"])


def restore(lane: Lane, checkpoint: bytes) -> tuple[Lane, int, int]:
    """Put a saved state into freshly prepared lanes."""
    with np.load(io.BytesIO(checkpoint)) as saved:
        leaves, structure = jax.tree.flatten(_kept(lane))
        kept = jax.tree.unflatten(structure, [saved[str(i)] for i in range(len(leaves))])
        state, memory = kept
        return lane._replace(state=state, memory=memory), int(saved["place"]), int(saved["row"])


def _kept(lane: Lane) -> tuple:
    """What a checkpoint holds of a lane; the rest a seed draws again."""
    return lane.state, lane.memory
