"""A sweep killed at random moments and started again: in the end the same numbers."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

from campaign.stored import SWEEP, command, environment, run
from dynascope.store import Store

SIGNALS = (signal.SIGKILL,)
MOST = 4  # deaths of one case before it is left to finish


class Field:
    signals = SIGNALS

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __enter__(self):
        done = run(self.folder / "whole", *SWEEP)
        assert done.returncode == 0, done.stderr
        [entry] = Store(self.folder / "whole").runs()
        self.whole = Store(self.folder / "whole").load(entry.id)
        self.seconds = max(entry.seconds, 1.0)
        return self

    def __exit__(self, *_):
        pass

    def attempt(self, draw: random.Random) -> list[str]:
        home = self.folder / "case"
        shutil.rmtree(home, ignore_errors=True)
        # Programs compiled before make room for more deaths in the training itself.
        shutil.copytree(self.folder / "whole" / "compiled", home / "compiled")
        for _ in range(MOST):
            if found := self.die(home, draw):
                return found
        done = run(home, *SWEEP)
        if done.returncode:
            return [f"it cannot go on: {done.stderr[-200:]}"]
        [entry, *others] = Store(home).runs()
        if others or entry.damaged:
            return [f"left behind: {[(e.label, e.damaged) for e in others] or entry.damaged}"]
        same = Store(home).load(entry.id).equals(self.whole)
        return [] if same else ["the resumed result is another one"]

    def die(self, home: Path, draw: random.Random) -> list[str]:
        """Start it, end it at a random moment, and look at what is left."""
        process = subprocess.Popen(
            command(*SWEEP), env=environment(home), start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        time.sleep(draw.uniform(1.0, 3.0 + 2.0 * self.seconds))
        with_ = draw.choice(self.signals)
        if process.poll() is None:
            os.kill(process.pid, with_)
        try:
            _, told = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return [f"it does not end on {with_.name}"]
        if "Traceback" in told or "our fault" in told:
            return [f"on {with_.name}: {told[-300:]}"]
        found = [e for e in Store(home).runs() if e.damaged]
        return [f"damaged after {with_.name}: {e.damaged}" for e in found]
