"""Computations on disk: one file per finished item, and the rules of runs for doing it again.

Items are computed in a fixed order, so the n-th file holds the n-th item. A kill loses the
item that was under way and nothing else.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dynascope.core.encoding import content
from dynascope.core.errors import StoreError
from dynascope.store import again, files, index
from dynascope.store.archives import check_item
from dynascope.store.lock import Lock
from dynascope.store.manifest import Manifest, make_folder, write_manifest

if TYPE_CHECKING:
    import numpy as np


class ComputationSink:
    """A computation on its way to the disk; one that is computed again goes to `again/`.

    Attributes:
        items: The finished items so far, as bytes, in their order.
    """

    def __init__(self, home: Path, start: Manifest) -> None:
        self._records = home / "records"
        self._lock = Lock(home / "locks" / start.fingerprint)
        found = index.owned(self._records, start.fingerprint, "computation")
        self._stored = [(name, m) for name, m in found if m.outcome == "finished"]
        if self._stored:
            self._folder = home / "again" / start.fingerprint
            left = again.leftover(self._folder)
        elif found:
            self._folder, left = self._records / found[0][0], found[0][1]
        else:
            self._folder = self._records / index.free_id(self._records, start.fingerprint)
            left = None
        if left and start.again and not left.again:  # to be computed from the beginning
            files.discard(self._folder)
            left = None
        self._manifest = left or start
        self.items = read_items(self._folder, left) if left else []

    def append(self, item: bytes, seconds: float) -> None:
        """Add the next finished item."""
        if not self._lock.held:
            raise StoreError("this computation was taken over by a later one; start anew")
        self._begin()
        number = len(self.items) + 1
        file = files.write(self._folder, f"item-{number:06d}.zip", item)
        self._manifest = replace(
            self._manifest,
            parts=(*self._manifest.parts, file),
            written=number,
            seconds=self._manifest.seconds + seconds,
        )
        write_manifest(self._folder, self._manifest)
        self.items.append(item)

    def finish(self, attrs: dict[str, Any]) -> str:
        """End the computation and return its id.

        Other content than that of a stored one of the same versions is a
        `FingerprintConflict`.
        """
        try:
            self._begin()  # a computation may have no items
            ended = replace(self._manifest, outcome="finished", attrs=attrs)
            write_manifest(self._folder, ended)
            if not self._stored:
                return self._folder.name
            return again.settle(self._folder, ended, self._records, self._stored, read_arrays)[0]
        finally:
            self._lock.release()

    def _begin(self) -> None:
        if not self._folder.exists():
            make_folder(self._folder, self._manifest)


def read_items(folder: Path, manifest: Manifest) -> list[bytes]:
    """The items that a manifest names, every file checked."""
    items = []
    for part in manifest.parts:
        items.append(files.read(folder, part))
        with files.trusting_nothing(folder, part.name):
            check_item(items[-1])
    return items


def read_arrays(folder: Path, manifest: Manifest) -> dict[str, np.ndarray]:
    """Everything in the items of a computation as arrays by name."""
    items = read_items(folder, manifest)
    with files.trusting_nothing(folder, "its items"):
        return {
            f"{number}.{name}": array
            for number, item in enumerate(items)
            for name, array in content(item).items()
        }
