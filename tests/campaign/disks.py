"""Disks that are full, refuse a write at a random moment, or are read-only: one line, no loss."""

from __future__ import annotations

import errno
import os
import random
from pathlib import Path

from campaign.stored import Filled, told
from dynascope.core.errors import StoreError
from dynascope.store import Store
from store.samples import SPEC, part

CALLS = ("fsync", "replace", "rename", "mkdir", "unlink")
REASONS = (errno.ENOSPC, errno.EROFS, errno.EDQUOT, errno.EIO, errno.EACCES)


class Field(Filled):
    def attempt(self, draw: random.Random) -> list[str]:
        home = self.copy()
        name, reason, after = draw.choice(CALLS), draw.choice(REASONS), draw.randrange(8)
        where = f"{name} fails with {errno.errorcode[reason]} after {after}"
        try:
            error = self.write(home, name, reason, after)
        except Exception as raw:
            return [f"{type(raw).__name__}: {raw}, where {where}"]
        if error and "\n" in error:
            return [f"more than one line, where {where}"]
        return self.compare(home, where)

    def write(self, home: Path, name: str, reason: int, after: int) -> str | None:
        """Write a run on such a disk; the line that it says, if it fails."""
        real, left = getattr(os, name), [after]

        def refuse(*args, **kwargs):
            left[0] -= 1
            if left[0] < 0:
                raise OSError(reason, os.strerror(reason))
            return real(*args, **kwargs)

        setattr(os, name, refuse)
        try:
            sink = Store(home).sink(SPEC, "d" * 16, label="swing-by d")
            sink.append(part(0, 2), b"two")
            sink.append(part(2, 4), b"four")
            sink.finish({"outcome": "finished"})
        except StoreError as error:
            return str(error)
        finally:
            setattr(os, name, real)
        return None

    def compare(self, home: Path, where: str) -> list[str]:
        """What was there is there, and the run can be written once the disk is well again."""
        store = Store(home)
        bad = [
            f"{i} is lost, where {where}" for i, c in self.content.items() if told(store, i) != c
        ]
        bad += [f"{e.damaged}, where {where}" for e in store.runs() if e.damaged]
        sink = store.sink(SPEC, "d" * 16, label="swing-by d")
        saved = sink.resume()
        start = saved.part.sizes["step"] if saved else 0
        for n in range(start, 4, 2):
            sink.append(part(n, n + 2), b"x")
        if start < 4 or store.find("d" * 16) is None:
            sink.finish({"outcome": "finished"})
        if not store.load("dddddddd").drop_attrs().equals(part(0, 4)):
            bad.append(f"it is not whole afterwards, where {where}")
        return bad
