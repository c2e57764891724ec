"""The latest numbers of a watched run on one line of the terminal, rewritten in place."""

from __future__ import annotations

import math
import time
from typing import Any, TextIO

SECONDS = 0.5  # between two versions of the line
SHOWN = {"rate_over_critical": "rate / critical", "sharpness": "sharpness"}


class LiveLine:
    """Rewrites a line at most twice a second.

    Args:
        out: The terminal.
    """

    def __init__(self, out: TextIO) -> None:
        self._out, self._next = out, 0.0
        self._measured: dict[str, float] = {}
        self._written = False

    def show(
        self, step: int, numbers: dict[str, float], measured: dict[str, Any] | None, used: float
    ) -> None:
        """What a step said; `used` is the share of the loop's time that went into measuring."""
        for name in SHOWN.keys() & (measured or {}).keys():
            if not math.isnan(value := float((measured or {})[name])):
                self._measured[name] = value
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + SECONDS
        parts = [f"step {step:,}", f"loss {numbers['loss']:.4g}"]
        parts += [f"{SHOWN[n]} {self._measured[n]:.3g}" for n in SHOWN if n in self._measured]
        self._out.write("\r\x1b[K" + "  ".join([*parts, f"measuring {used:.0%}"]))
        self._out.flush()
        self._written = True

    def close(self) -> None:
        """Leave the last version where it is, and go on below it."""
        if self._written:
            self._out.write("\n")
            self._out.flush()
            self._written = False
