"""Begin and end of a process that is ours alone; `import dynascope` does nothing of this."""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
from typing import NoReturn

from dynascope.cli.cores import use_all_cores
from dynascope.cli.explain import CTRL_C


def begin() -> None:
    """Settings that libraries read when they are loaded; what the user has set stays."""
    use_all_cores()
    # Equinox's checks call back into Python, and jax keeps no such program for the next time.
    # Nothing here needs them: a solve that fails is a value.
    os.environ.setdefault("EQX_ON_ERROR", "off")


def leave(code: int) -> NoReturn:
    """End at once: taking Python apart takes a second or two after a study.

    It would also wait for programs that are still being compiled, and jaxlib crashes where
    Ctrl-C came during a compilation.
    """
    if code != CTRL_C:
        atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # nobody reads it, or it is closed
            stream.flush()
    os._exit(code)
