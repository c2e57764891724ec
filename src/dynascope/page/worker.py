"""The program of a warm process: it answers one question after the other, and warms up meanwhile.

Questions and answers are pickled through a pipe to our own parent; nobody else can write there.
A question that is overtaken is left where its computation tells of its progress: between two
chunks of a run, two networks, two depths of a graph. What is inside one of these is finished.

Explorers warm up on a thread, so that a slider that is moved after a moment of rest never waits
for the compilation of another explorer. Studies warm up between questions: drawing thumbnails is
not for two threads, and each takes a moment only.
"""

from __future__ import annotations

import math
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from multiprocessing.connection import Connection
from typing import Any

PATIENCE = 0.3  # seconds without a question, after which the reader goes on warming up
REST = 1.5  # the same for explorers, whose compilation slows a slider that is moved meanwhile
OVERTAKEN = "Overtaken by a newer request."


class Overtaken(BaseException):
    """Nobody waits for this any more; no `except Exception` on the way holds it up."""


def serve(questions: Connection, kind: str, overtaken: Any) -> None:
    """Answer until the parent is gone.

    Args:
        questions: Where questions come from and answers go to.
        kind: "reader" or "explorer", which decides what is warmed up.
        overtaken: Shared with the parent: `value` is the number of the question to leave.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends us
    from dynascope.runtime import process

    process.begin()
    from dynascope.page.answers import warm_up

    warming: Iterator[None] | None = warm_up(kind)
    rest = Rest()
    if kind == "explorer":
        threading.Thread(target=warm, args=(warming, rest), daemon=True).start()
        warming = None
    while True:
        try:
            while warming is not None and not questions.poll(PATIENCE):
                warming = _warmer(warming)
            number, name, options = questions.recv()
        except (EOFError, OSError, KeyboardInterrupt):
            process.leave(0)
        rest.ends()
        try:
            questions.send(unless_overtaken(number, overtaken, name, options))
        except (BrokenPipeError, OSError):
            process.leave(0)
        rest.begins()


class Rest:
    """The time in which nothing is asked for; one thread tells of it, another looks."""

    def __init__(self) -> None:
        self._since = -math.inf  # there is no reason to wait before the first question

    def ends(self) -> None:
        """A question has come."""
        self._since = math.inf

    def begins(self) -> None:
        """It has been answered."""
        self._since = time.monotonic()

    def lasts(self, seconds: float) -> bool:
        """Whether nothing has been asked for so long."""
        return time.monotonic() - self._since >= seconds


def warm(pieces: Iterator[None], rest: Rest) -> None:
    """Do all pieces, each begun only where nothing has been asked for a while.

    A while is longer than the gaps between the moves of a slider.

    Args:
        pieces: Work to be done.
        rest: Told of questions.
    """
    warming: Iterator[None] | None = pieces
    while warming is not None:
        if rest.lasts(REST):
            warming = _warmer(warming)
        else:
            time.sleep(0.05)


def unless_overtaken(
    number: int, overtaken: Any, name: str, options: dict[str, Any]
) -> tuple[str, Any]:
    """The answer to a question, which is left as soon as `overtaken.value` is its number."""
    from dynascope.runtime.progress import listening

    def leave_if_overtaken(*_: Any) -> None:
        if overtaken.value == number and threading.current_thread() is threading.main_thread():
            raise Overtaken

    try:
        with listening(leave_if_overtaken):
            return answered(name, options)
    except Overtaken:
        return "overtaken", OVERTAKEN


def answered(name: str, options: dict[str, Any]) -> tuple[str, Any]:
    """What became of a question: "ok" with the answer, or what is wrong in one line."""
    from dynascope.core.errors import DynascopeError, StoreError, UnknownName
    from dynascope.page.answers import ANSWERS

    try:
        return "ok", ANSWERS[name](**options)
    except UnknownName as error:
        return "unknown", str(error)
    except StoreError as error:
        return "gone", str(error)
    except DynascopeError as error:
        return "bad", str(error)
    except Exception as error:
        traceback.print_exc(file=sys.stderr)  # for whoever started the server, never in the page
        return "error", f"An error of ours ({type(error).__name__}); the terminal has the details."


def _warmer(warming: Iterator[None]) -> Iterator[None] | None:
    try:
        next(warming)
    except StopIteration:
        return None
    except Exception:  # whoever asks for it gets the error
        traceback.print_exc(file=sys.stderr)
    return warming
