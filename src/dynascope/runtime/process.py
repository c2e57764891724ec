"""Begin and end of a process that is ours alone; `import dynascope` does nothing of this."""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import signal
import sys
import threading
from typing import NoReturn

from dynascope.runtime.cores import use_all_cores

CTRL_C = 130  # the exit code of a process that Ctrl-C has ended
_BEGUN = False


def begin() -> None:
    """Settings that jax reads when it is loaded, Ctrl-C that is not lost, rare collections."""
    global _BEGUN
    _BEGUN = True
    use_all_cores()
    sys.unraisablehook = press_again
    # Tracing makes millions of objects that stay; by default Python looks through all of them
    # after every 700. The peak of memory is the same (measured on the study swing-by).
    gc.set_threshold(50_000, 20, 20)


def ours() -> bool:
    """Whether nobody else's program runs here, so that nothing of dynascope has been replaced."""
    return _BEGUN


def press_again(lost: sys.UnraisableHookArgs) -> None:
    """Ctrl-C that arrived where Python drops errors comes again a moment later.

    Such a place is a callback of the garbage collector, and jax has one. Python would print a
    traceback there and go on as if nobody had pressed anything.
    """
    if lost.exc_type is not None and issubclass(lost.exc_type, KeyboardInterrupt):
        # To the main thread itself: that also wakes it where it sleeps or waits.
        main = threading.main_thread().ident
        threading.Timer(0.05, signal.pthread_kill, (main, signal.SIGINT)).start()
    else:
        sys.__unraisablehook__(lost)


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
