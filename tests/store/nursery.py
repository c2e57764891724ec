"""Raises writers and kills them: run as a program by `test_kill`, prints what it found.

It imports everything once and forks each writer, so that a death costs milliseconds.
Before each operation that changes the disk a writer asks whether it is time to die; the
answer is a real SIGKILL, in the middle of the bytes if the operation writes a file.
"""

from __future__ import annotations

import builtins
import json
import os
import resource
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import xarray as xr
import zarr  # noqa: F401  imported before the forks

from dynascope.core.errors import StoreError
from dynascope.store import Store, files, merge

FINGERPRINT = "0123456789abcdef"
ROWS = 4
CHANGES = ("replace", "rename", "mkdir", "unlink", "rmdir")


def rows(start: int, stop: int) -> xr.Dataset:
    steps = range(start, stop)
    return xr.Dataset({
        "loss": ("step", [0.5**n for n in steps]),
        "last": ((), stop),  # overwritten by each part
    })


def write(home: Path, versions: int, again: bool = False, pause: float = 0.0) -> None:
    """Write the run, or go on with it, and check what was there."""
    sink = Store(home).sink({}, FINGERPRINT, again=again)
    saved = sink.resume()
    start = int(saved.checkpoint) if saved else 0
    if saved:
        assert saved.part.identical(rows(0, start)), "rows and checkpoint belong together"
    for n in range(start, ROWS, 2):
        time.sleep(pause)
        sink.append(rows(n, n + 2), str(n + 2).encode())
    sink.finish({"outcome": "finished", "versions": versions})


def arm(deadly: int) -> None:
    """Die at the given change of the disk."""
    done = 0

    def next_change() -> bool:
        nonlocal done
        done += 1
        return done == deadly

    def deadly_call(real: Callable) -> Callable:
        def call(*args, **kwargs):
            if next_change():
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*args, **kwargs)

        return call

    for name in CHANGES:
        setattr(os, name, deadly_call(getattr(os, name)))
    files.open = lambda *a: DeadlyFile(a, next_change)  # type: ignore[attr-defined]


class DeadlyFile:
    """A file in the middle of whose bytes the writer may die."""

    def __init__(self, how, next_change) -> None:
        self.file, self.next_change = builtins.open(*how), next_change  # noqa: SIM115
        self.flush, self.fileno = self.file.flush, self.file.fileno

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def write(self, data: bytes) -> None:
        if self.next_change():
            self.file.write(data[: len(data) // 2])
            self.file.flush()
            os.kill(os.getpid(), signal.SIGKILL)
        self.file.write(data)


def fork(work: Callable[[], None], delay: float | None = None) -> str:
    """Do the work in a child; "done", "killed" or "failed". A delay kills it from outside."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    if delay is not None:
        time.sleep(delay)
        os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        return "killed"
    return "done" if os.WEXITSTATUS(status) == 0 else "failed"


def look(home: Path, records: dict[str, int], at_least: int = 0) -> None:
    """Whatever is listed can be read and is a beginning of the run."""
    store = Store(home)
    for entry in store.runs():
        assert entry.damaged is None, entry
        if store.manifest(entry.id)["parts"]:
            found = store.load(entry.id)
            count = found.sizes["step"]
            assert count >= at_least, f"{count} rows"
            assert found.drop_attrs().identical(rows(0, count)), entry
    finished = [e.id for e in store.runs() if e.outcome == "finished"]
    found = {id_: store.manifest(id_)["attrs"]["versions"] for id_ in finished}
    assert records.items() <= found.items(), found


def die_everywhere(home: Path, stored: bool, versions: int, end: dict[str, int]) -> dict:
    """Kill a writer at its first change of the disk, its second, and so on until it survives."""
    found = {"killed": 0, "failed": 0}
    before, kept = home.with_name("before"), {"01234567": 1} if stored else {}
    before.mkdir()
    if stored:
        found["failed"] += fork(lambda: write(before, 1)) != "done"
    for deadly in range(1, 500):
        shutil.rmtree(home, ignore_errors=True)
        shutil.copytree(before, home)

        def attempt(deadly=deadly) -> None:
            arm(deadly)
            write(home, versions, again=stored)

        def repeat() -> None:
            look(home, kept)
            write(home, versions, again=stored)
            look(home, end, at_least=ROWS)

        outcome = fork(attempt)
        found[outcome] = found.get(outcome, 0) + 1
        found["failed"] += fork(repeat) != "done"
        if outcome == "done":
            return found
    return found


def die_at_times(home: Path, delays: list[float]) -> dict:
    """Kill writer after writer from outside; each goes on with what the last one left."""
    found: dict[str, int] = {}
    for delay in [*delays, None]:
        outcome = fork(lambda: write(home, 1, pause=0.02), delay)
        found[outcome] = found.get(outcome, 0) + 1
        found["unreadable"] = found.get("unreadable", 0) + (fork(lambda: look(home, {})) != "done")
    found["incomplete"] = int(fork(lambda: look(home, {"01234567": 1}, ROWS)) != "done")
    return found


def fill_up(home: Path) -> dict:
    """Let the operating system refuse a large file, after two small appends."""
    told = home.parent / "told"

    def too_large() -> None:
        sink = Store(home).sink({}, FINGERPRINT)
        sink.append(rows(0, 2), b"2")
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, resource.RLIM_INFINITY))
        try:
            sink.append(rows(2, 4), os.urandom(100_000))
        except StoreError as error:
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
            told.write_text(str(error))

    first = fork(too_large)
    second = fork(lambda: write(home, 1))  # goes on after the second row
    third = fork(lambda: look(home, {"01234567": 1}, ROWS))
    return {"forks": [first, second, third], "told": told.read_text()}


def main(task: str, folder: str) -> None:
    os.fsync = lambda _: None  # a kill loses nothing that the system holds, only power cuts do
    merge._MANY = 2  # so that merging on the way is among the things that are killed
    home = Path(folder) / "home"
    if task == "new":
        found = die_everywhere(home, False, 1, {"01234567": 1})
    elif task == "same":
        found = die_everywhere(home, True, 1, {"01234567": 1})
    elif task == "beside":
        both = {"01234567": 1, "01234567-2": 2}
        found = die_everywhere(home, True, 2, both)
    elif task == "times":
        found = die_at_times(home, [0.01 * n for n in range(1, 13)])
    else:
        found = fill_up(home)
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
