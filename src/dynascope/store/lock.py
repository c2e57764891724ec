"""One writer per fingerprint: a lock file that names its holder and dies with it.

The operating system drops the lock when its holder's process ends, however it ends, so a
lock file that a dead process left behind stops nobody.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import weakref
from pathlib import Path
from typing import TextIO

from dynascope.core.errors import StoreError
from dynascope.store.files import storing

_HELD: weakref.WeakValueDictionary[Path, Lock] = weakref.WeakValueDictionary()


class Lock:
    """Holds a path until released, collected or the process ends.

    Within one process the newest lock takes over: a run that was abandoned by an
    exception (and lives on in a notebook's traceback) must not block its own repetition.
    The earlier lock's `held` turns false.
    """

    def __init__(self, path: Path) -> None:
        if earlier := _HELD.get(path):
            earlier.release()
        with storing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            file = _take(path)
        self.release: weakref.finalize = weakref.finalize(self, _drop, file, path)
        _HELD[path] = self

    @property
    def held(self) -> bool:
        """Whether this lock still stands."""
        return self.release.alive


def _take(path: Path) -> TextIO:
    while True:
        file = _open(path)
        if not _try_lock(file):
            file.seek(0)
            who = _holder(file.read())
            file.close()
            raise StoreError(
                f"this run is being written by {who}; wait for it, or end it and try again"
            )
        if _is_still(path, file):
            break
        file.close()  # the former holder removed the file between our two calls
    file.truncate(0)
    json.dump({"pid": os.getpid(), "host": socket.gethostname()}, file)
    file.flush()
    return file


def _open(path: Path) -> TextIO:
    """The lock file itself; a link in its place may point to anything, and goes."""
    if path.is_symlink():
        path.unlink(missing_ok=True)
    how = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
    return os.fdopen(os.open(path, how, 0o666), "a+", encoding="utf-8")


def _holder(text: str) -> str:
    try:
        holder = json.loads(text)
        return f"process {holder['pid']} on {holder['host']}"
    except (ValueError, KeyError, TypeError):
        return "another process"


def _is_still(path: Path, file: TextIO) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


def _drop(file: TextIO, path: Path) -> None:
    with contextlib.suppress(OSError):  # Windows cannot remove an open file; it may stay
        path.unlink()
    file.close()


if sys.platform == "win32":
    import msvcrt

    def _try_lock(file: TextIO) -> bool:
        try:
            file.seek(1 << 30)  # far behind the text, which others must be able to read
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(file: TextIO) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
