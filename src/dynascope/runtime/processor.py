"""What decides how numbers are rounded, beside the versions: the processor and its switches.

Two machines with other instruction sets add in another order. Bit for bit is promised where
this digest is the same; elsewhere results agree within a stated tolerance.
"""

from __future__ import annotations

import hashlib
import os
import platform
from functools import cache
from pathlib import Path

from dynascope.runtime.cores import cores

SWITCHES = ("XLA_FLAGS", "OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES", "NPY_ENABLE_CPU_FEATURES")


@cache
def processor() -> str:
    """A name and a digest, such as `x86_64 3f9a1c02`.

    Example:
        >>> processor().split()[0] == platform.machine()
        True
    """
    about = [platform.machine(), _model(), str(cores()), *(os.environ.get(s, "") for s in SWITCHES)]
    return f"{platform.machine()} {hashlib.sha256(repr(about).encode()).hexdigest()[:8]}"


def _model() -> str:
    """The processor's own account of what it can do, where the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    told = [ln for ln in lines if ln.startswith(("model name", "flags", "Features"))]
    return " ".join(sorted(set(told)))
