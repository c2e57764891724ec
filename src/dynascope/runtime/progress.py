"""A progress bar with an estimate, shown on stderr once a job has taken two seconds."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

MOST_FORESEEN = 0.95  # of a unit of work that is not done yet
PATIENCE_SECONDS = 2.0
Listener = Callable[[str, float, float, str], None]  # label, done, total, note
_listeners: list[Listener] = []


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Tell a listener of every update of every job during the body, whoever else is told.

    Example:
        >>> seen = []
        >>> with listening(lambda *update: seen.append(update)), Progress("job", 4) as bar:
        ...     bar.update(1)
        >>> seen
        [('job', 1, 4, '')]
    """
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


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
        self._work: tuple[float, float] | None = None  # when the first of it was done, how much
        self._line_open = False
        self._late = False

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
        if self._line_open:
            print(file=sys.stderr)

    def update(self, done: float, note: str = "", late: bool = False) -> None:
        """Say how much of the total is done; `note` tells what is going on ("compiling").

        `late` is for work that takes longer than was expected: no time left is told then.
        """
        self._late = late
        for listener in _listeners:
            listener(self.label, done, self.total, note)
        now = time.monotonic()
        if self._work is None and done > 0:
            self._work = now, done
        if not self.enabled or (self._bar is None and now - self.started < PATIENCE_SECONDS):
            return
        if not sys.stderr.isatty():
            self._line(now, done, note)
            return
        if self._bar is None:
            self._open()
        self._bar.update(self._task, completed=done, note=note, left=self._left(now, done))

    def _left(self, now: float, done: float) -> str:
        """The time left at the rate of the work so far; what came before it was compilation."""
        if self._late or self._work is None or done <= self._work[1]:
            return ""
        rate = (done - self._work[1]) / (now - self._work[0])
        return f", about {(self.total - done) / rate:.0f} s left"

    def _open(self) -> None:
        from rich import progress as bars
        from rich.console import Console

        self._bar = bars.Progress(
            bars.TextColumn("{task.description}"),
            bars.BarColumn(),
            bars.TaskProgressColumn(),
            bars.TimeElapsedColumn(),
            bars.TextColumn("{task.fields[left]} {task.fields[note]}"),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task(self.label, total=self.total, note="", left="")
        self._bar.start()

    def _line(self, now: float, done: float, note: str) -> None:
        """One line that is written over in a notebook; a line every ten seconds in a log file."""
        notebook = in_notebook()
        if now - self._spoke < (0.5 if notebook else 10):
            return
        self._spoke = now
        share = done / self.total if self.total else 0.0
        words = f"{self.label}: {share:.0%} after {now - self.started:.0f} s"
        words = f"{words}{self._left(now, done)} {note}".rstrip()
        if notebook:
            self._line_open = True
            print(f"\r{words:<79}", end="", file=sys.stderr, flush=True)
        else:
            print(words, file=sys.stderr)


def in_notebook() -> bool:
    """Whether a Jupyter kernel runs this process: its cells understand a carriage return."""
    return "ipykernel" in sys.modules


@contextmanager
def moving(bar: Progress, done: float, expected: float) -> Iterator[None]:
    """Move the bar through the next unit of work while the body does it.

    Args:
        bar: Whose next unit it is.
        done: Units that are done already.
        expected: Seconds that the unit usually takes; with 0 the bar waits at `done`.
    """
    over, begun = threading.Event(), time.monotonic()

    def move() -> None:
        while not over.wait(0.5):
            share = (time.monotonic() - begun) / expected if expected else 0.0
            late = share > MOST_FORESEEN
            note = "takes longer than expected" if late else ""
            bar.update(done + min(share, MOST_FORESEEN), note, late)

    thread = threading.Thread(target=move, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
