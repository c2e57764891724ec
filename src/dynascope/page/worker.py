"""The program of a warm process: it answers one question after the other, and warms up meanwhile.

Questions and answers are pickled through a pipe to our own parent; nobody else can write there.
A question that is overtaken is left where its computation tells of its progress: between two
chunks of a run, two networks, two depths of a graph. What is inside one of these is finished.

Explorers warm up on a thread, so that a slider that is moved after a moment of rest never waits
for the compilation of another explorer. Studies warm up between questions: drawing thumbnails is
not for two threads, and each takes a moment only.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from multiprocessing.connection import Connection
from typing import Any

PATIENCE = 0.3  # seconds without a question, after which it goes on warming up
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
    quiet = threading.Event()
    quiet.set()
    if kind == "explorer":
        threading.Thread(target=warm, args=(warming, quiet), daemon=True).start()
        warming = None
    while True:
        try:
            while warming is not None and not questions.poll(PATIENCE):
                warming = _warmer(warming)
            number, name, options = questions.recv()
        except (EOFError, OSError, KeyboardInterrupt):
            process.leave(0)
        quiet.clear()
        try:
            questions.send(unless_overtaken(number, overtaken, name, options))
        except (BrokenPipeError, OSError):
            process.leave(0)
        quiet.set()


def warm(pieces: Iterator[None], quiet: threading.Event) -> None:
    """Do all pieces, each begun only where nothing has been asked for a moment.

    Args:
        pieces: Work to be done.
        quiet: Set while no question is being answered.
    """
    warming: Iterator[None] | None = pieces
    while warming is not None:
        quiet.wait()
        time.sleep(PATIENCE)
        if quiet.is_set():
            warming = _warmer(warming)


def unless_overtaken(
    number: int, overtaken: Any, name: str, options: dict[str, Any]
) -> tuple[str, Any]:
    """The answer to a question, which is left as soon as `overtaken.value` is its number."""
    from dynascope.runtime.progress import listening

    def look(*_: Any) -> None:
        if overtaken.value == number and threading.current_thread() is threading.main_thread():
            raise Overtaken

    try:
        with listening(look):
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
