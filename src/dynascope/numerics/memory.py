"""How much memory there is, for refusing what would not fit."""

from __future__ import annotations

import os
from pathlib import Path


def available_bytes() -> int:
    """Memory that a new array may take: what the system calls available, else all there is."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if "MemAvailable" in line)
    except (OSError, StopIteration):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
