"""A watched run on its way to the store, from a thread of its own, at least once a second.

A killed process therefore leaves what it saw up to the last second. A disk that is full or gone
ends the saving, with one line, and never the training.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

from dynascope.core.errors import StoreError
from dynascope.store import RecordSink, Store
from dynascope.watching.rows import Rows

SECONDS = 0.5


def before_exit(action: Callable[[], None]) -> None:
    """Call a function when the process ends normally, while threads can still be started.

    Zarr writes with a pool of threads, and Python closes every pool before the functions of
    `atexit`. What threading itself registers (a private function, Python 3.9 and later) is called
    last in, first out, so before the pools that exist by now are closed.
    """
    import concurrent.futures.thread  # noqa: F401  # registers the closing of pools

    getattr(threading, "_register_atexit", atexit.register)(action)


class Saving:
    """Writes new rows of a run to a record of the store.

    Args:
        rows: The run, shared with the loop; `lock` guards it.
        lock: Held while rows are added or copied.
        about: What is known of the run, kept as the record's settings.
        label: What the listing shows.
        store: Where to; the results folder by default.
        attrs: Says what a reader must know, as of now.
        spent: Told the seconds of processor that each saving took.
    """

    def __init__(
        self,
        rows: Rows,
        lock: threading.Lock,
        about: dict[str, Any],
        label: str,
        store: Store,
        attrs: Callable[[], dict[str, Any]],
        spent: Callable[[float], None],
    ) -> None:
        self._rows, self._lock, self._about, self._label = rows, lock, about, label
        self._store, self._attrs, self._spent = store, attrs, spent
        self._sink: RecordSink | None = None
        self._saved = 0
        self._columns: tuple[str, ...] = ()
        self.failed: str | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True, name="dynascope-watch")
        self._thread.start()

    @property
    def id(self) -> str | None:
        """The record's id, once there is one."""
        return self._sink.id if self._sink else None

    def close(self, outcome: str) -> None:
        """Write what is left and end the record."""
        self._stop.set()
        self._thread.join()
        self._flush()
        if self._sink is not None and self._saved and not self.failed:
            self._attempt(lambda sink: sink.finish({**self._attrs(), "outcome": outcome}))

    def _run(self) -> None:
        while not self._stop.wait(SECONDS):
            before = time.thread_time()
            self._flush()
            self._spent(time.thread_time() - before)

    def _flush(self) -> None:
        with self._lock:
            known, columns = len(self._rows), self._rows.columns
            if known == self._saved or self.failed:
                return
            again = columns != self._columns  # a new metric: the record is written anew, whole
            part = self._rows.dataset(0 if again else self._saved, known)
        part.attrs.update(self._attrs())
        before = self._sink if again else None
        if again or self._sink is None:
            self._attempt(lambda _: self._open())
        self._attempt(lambda sink: sink.append(part, b"{}"))
        if self.failed:
            return
        self._saved, self._columns = known, columns
        if before is not None and before.id:
            self._attempt(lambda _: self._forget(before))

    def _open(self) -> None:
        # A run of somebody's own loop has no settings that decide it: it is never answered for.
        self._sink = self._store.sink(self._about, os.urandom(16).hex(), self._label)

    def _forget(self, sink: RecordSink) -> None:
        sink.finish({"outcome": "interrupted"})
        assert sink.id
        self._store.forget(sink.id)

    def _attempt(self, action: Any) -> None:
        if self.failed:
            return
        try:
            action(self._sink)
        except (OSError, StoreError) as error:
            self.failed = str(error)
            warnings.warn(
                f"dynascope no longer saves this run: {error}; training goes on", stacklevel=2
            )
