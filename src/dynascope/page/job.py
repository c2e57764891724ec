"""The program of one run of a study: what `dynascope run` does, with events instead of a bar.

It gets what to run as a line of JSON and writes a line of JSON for each event. An interrupt ends
it as Ctrl-C ends the command: what is recorded stays, and the next run goes on from there.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import traceback
from collections import Counter
from types import FrameType
from typing import Any

OFTEN = 0.25  # seconds between two events of progress


def main() -> None:
    """Run what the first line of stdin says."""
    events = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever else is printed is no event

    def say(**event: Any) -> None:
        print(json.dumps(event), file=events, flush=True)

    pressed: list[int] = []

    def interrupted(number: int, frame: FrameType | None) -> None:
        pressed.append(number)
        signal.default_int_handler(number, frame)

    signal.signal(signal.SIGINT, interrupted)
    from dynascope.runtime import process

    process.begin()
    try:
        asked = json.loads(sys.stdin.readline())
        _run(asked, say)
    except KeyboardInterrupt:
        say(event="cancelled")
    except Exception as error:
        from dynascope.core.errors import DynascopeError

        if pressed:  # jax may answer a signal with an error of another kind
            say(event="cancelled")
        elif isinstance(error, DynascopeError):
            say(event="failed", line=str(error))
        else:
            traceback.print_exc(file=sys.stderr)
            say(event="failed", line=f"An error of ours ({type(error).__name__}).")
    process.leave(0)


def _run(asked: dict[str, Any], say: Any) -> None:
    from dynascope.runner import run, write_report
    from dynascope.runtime.progress import listening

    spoke = 0.0

    def progress(label: str, done: float, total: float, note: str) -> None:
        nonlocal spoke
        if time.monotonic() - spoke >= OFTEN:
            spoke = time.monotonic()
            share = min(done / total, 1.0) if total else 0.0
            say(event="progress", label=label, share=round(share, 4), note=note)

    say(event="started")
    with listening(progress):
        outcome = run(
            asked["study"], asked["scale"], changes=asked["changes"], progress=False,
            tell=lambda line: say(event="line", line=line),
        )  # fmt: skip
    write_report(outcome)
    tally = dict(Counter(c.verdict for c in outcome.claims))
    say(event="finished", record=outcome.record, tally=tally, stored=outcome.from_store)


if __name__ == "__main__":
    main()
