"""Ctrl-C during a run: one line that says what is kept and which command goes on."""

from __future__ import annotations

import shlex
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from dynascope.cli.explain import CTRL_C
from dynascope.cli.talk import Stopped

if TYPE_CHECKING:
    from dynascope.engine import Experiment
    from dynascope.store import Store


@contextmanager
def resumable(plan: Mapping[str, Experiment], store: Store) -> Iterator[None]:
    """Turn Ctrl-C into the line; the engine has stored what was computed until then.

    The signal is noted, since jax may answer it with an error of another kind.
    """
    pressed = []

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
        raise Stopped(f"interrupted; {_kept(plan, store)}; go on: {command}", CTRL_C) from None
    finally:
        signal.signal(signal.SIGINT, before)


def _kept(plan: Mapping[str, Experiment], store: Store) -> str:
    from dynascope.core.spec import fingerprint

    if not plan:
        return "nothing is kept of a study without experiments"
    keys = {fingerprint(e): label for label, e in plan.items()}
    entries = [e for e in store.runs("run") if e.fingerprint in keys]
    finished = {e.fingerprint for e in entries if e.outcome == "finished"}
    noun = "experiment" if len(plan) == 1 else "experiments"
    begun = [e.fingerprint for e in entries if e.fingerprint not in finished]
    part = f" and a part of '{keys[begun[0]]}'" if begun else ""
    return f"{len(finished)} of {len(plan)} {noun}{part} kept in {store.home}"
