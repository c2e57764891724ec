"""As `kills`, with signals that a process may answer: Ctrl-C, a polite end, a closed terminal."""

from __future__ import annotations

import signal

from campaign import kills


class Field(kills.Field):
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
