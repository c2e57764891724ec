"""How much memory there is, for refusing what would not fit before it is allocated."""

from __future__ import annotations

import os
import re
from pathlib import Path

from dynascope.core.errors import BadInput, bad

VARIABLE = "DYNASCOPE_MEMORY"
UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def available_bytes() -> int:
    """Memory that new arrays may take: `DYNASCOPE_MEMORY`, else what the machine has free.

    Free is what the system calls available, or what is left of the limit of this process's
    control group (a container), whichever is less.
    """
    if said := os.environ.get(VARIABLE, "").strip():
        return parse_bytes(said)
    return min(_of_the_system(), _of_the_group())


def parse_bytes(text: str) -> int:
    """A number of bytes as people write it.

    Example:
        >>> parse_bytes("1.5G") == 3 * 2**29, parse_bytes("800MB"), parse_bytes("4096")
        (True, 838860800, 4096)
    """
    found = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{1,6})?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.I)
    if not found or not float(found[1]):
        raise bad(VARIABLE, text, "an amount of memory such as 4G or 500M")
    return int(float(found[1]) * UNITS[found[2].upper()])


def refuse_above(needed: float, what: str, lower: str) -> None:
    """Raise `BadInput` with both numbers if something needs more memory than there is.

    Args:
        needed: Bytes that it will take.
        what: What takes them, as the beginning of a sentence.
        lower: What to make smaller.
    """
    limit = available_bytes()
    if needed > limit:
        raise BadInput(
            f"{what} needs about {words(needed)} of memory, {words(limit)} are free; lower "
            f"{lower}, or say with {VARIABLE}=8G or the like how much may be used"
        )


def words(count: float) -> str:
    """Bytes as people say them.

    Example:
        >>> words(12.3e9), words(2**20)
        ('11 GB', '1.0 MB')
    """
    for unit in ("bytes", "KB", "MB", "GB", "TB"):
        if count < 1024 or unit == "TB":
            break
        count /= 1024
    return f"{count:.1f} {unit}" if count < 10 and unit != "bytes" else f"{count:,.0f} {unit}"


def _of_the_system() -> int:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if "MemAvailable" in line)
    except (OSError, StopIteration, ValueError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _of_the_group() -> int:
    """What is left of the limit of the control group, where there is one (Linux, version 2)."""
    try:
        own = Path("/proc/self/cgroup").read_text().splitlines()
        path = next(line.split("::")[1] for line in own if line.startswith("0::"))
        group = Path("/sys/fs/cgroup") / path.strip("/")
        limit = int((group / "memory.max").read_text())
        taken = int((group / "memory.current").read_text())
        about = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        # Files that were read lately are kept as long as nobody needs the room.
        return max(limit - taken + int(about.get("inactive_file", 0)), 0)
    except (OSError, ValueError, StopIteration, IndexError):  # none, or "max"
        return 2**63
