"""A progress bar with an estimate, shown on stderr once a job has taken two seconds."""

from __future__ import annotations

import sys
import time
from typing import Any

PATIENCE_SECONDS = 2.0


class Progress:
    """Reports work done; silent for quick jobs, plain lines where stderr is no terminal.

    Use as a context manager. `update` may be called as often as you like.
    """

    def __init__(self, label: str, total: float, enabled: bool = True) -> None:
        self.label, self.total, self.enabled = label, total, enabled
        self.started = time.monotonic()
        self._bar: Any = None
        self._task: Any = None
        self._spoke = self.started

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def update(self, done: float, note: str = "") -> None:
        """Say how much of the total is done; `note` tells what is going on ("compiling")."""
        now = time.monotonic()
        if not self.enabled or (self._bar is None and now - self.started < PATIENCE_SECONDS):
            return
        if not sys.stderr.isatty():
            self._line(now, done, note)
            return
        if self._bar is None:
            self._open()
        self._bar.update(self._task, completed=done, note=note)

    def _open(self) -> None:
        from rich import progress as bars
        from rich.console import Console

        self._bar = bars.Progress(
            bars.TextColumn("{task.description}"),
            bars.BarColumn(),
            bars.TaskProgressColumn(),
            bars.TimeElapsedColumn(),
            bars.TextColumn("left"),
            bars.TimeRemainingColumn(),
            bars.TextColumn("{task.fields[note]}"),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task(self.label, total=self.total, note="")
        self._bar.start()

    def _line(self, now: float, done: float, note: str) -> None:
        """Where nobody watches a bar move (a log file), a line every ten seconds."""
        if now - self._spoke < 10:
            return
        self._spoke = now
        spent = now - self.started
        share = done / self.total if self.total else 0.0
        # Before some of it is done the rate is that of the compiler, not of the run.
        left = f", about {spent * (1 - share) / share:.0f} s left" if share > 0.02 else ""
        print(
            f"{self.label}: {share:.0%} after {spent:.0f} s{left} {note}".rstrip(), file=sys.stderr
        )
