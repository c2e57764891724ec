"""Ctrl-C during a run: one line that says what is kept and which command goes on."""

from __future__ import annotations

import shlex
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from dynascope.cli.talk import Stopped
from dynascope.runtime.process import CTRL_C

if TYPE_CHECKING:
    from dynascope.store import Entry, Store


@contextmanager
def resumable(own: Callable[[Entry], bool], store: Store) -> Iterator[None]:
    """Turn Ctrl-C into the line; the engine has stored what was computed until then.

    The signal is noted, since jax may answer it with an error of another kind.
    """
    pressed: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        pressed.append(number)
        signal.default_int_handler(number, frame)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield
    except (Exception, KeyboardInterrupt) as error:
        if not pressed and not isinstance(error, KeyboardInterrupt):
            raise
        command = shlex.join(["dynascope", *sys.argv[1:]])
        raise Stopped(f"interrupted; {_kept(own, store)}; go on: {command}", CTRL_C) from None
    finally:
        signal.signal(signal.SIGINT, before)


def _kept(own: Callable[[Entry], bool], store: Store) -> str:
    """What the store holds of a study or sweep."""
    entries = [e for e in store.runs() if e.kind != "study" and own(e)]
    finished = sum(e.outcome == "finished" for e in entries)
    parts = [e.label for e in entries if e.outcome != "finished"]
    noun = "finished record" if finished == 1 else "finished records"
    part = f" and a part of '{parts[0]}'" if parts else ""
    return f"{finished} {noun}{part} kept in {store.home}"
