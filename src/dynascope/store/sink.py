"""What the engine writes a run through while it is running.

An append writes the rows and the checkpoint under names never used before, then replaces
the manifest: before that move the record is as it was, after it the append is done.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dynascope.core.errors import StoreError, bad
from dynascope.core.records import Saved
from dynascope.runtime.versions import versions
from dynascope.store import again, files, index
from dynascope.store.arrays import check_layout, pack
from dynascope.store.compare import Agreement
from dynascope.store.lock import Lock
from dynascope.store.manifest import NAME, Manifest, make_folder, now, write_manifest
from dynascope.store.merge import merge, merge_tail
from dynascope.store.reading import read_run

if TYPE_CHECKING:
    import numpy as np
    import xarray as xr


class RecordSink:
    """A run on its way to the disk; see `core.records.Sink`.

    Attributes:
        id: The record's id once it is known: after the first append for a new run, after
            `finish` for one that was computed again.
        agreement: What `finish` found when the run was stored already, else None.
    """

    def __init__(self, home: Path, start: Manifest) -> None:
        import zarr  # noqa: F401  takes a second: now, while the run's program is being compiled

        self.id: str | None = None
        self.agreement: Agreement | None = None
        self._records, self._start = home / "records", start
        self._lock = Lock(home / "locks" / start.fingerprint)
        self._clock = time.monotonic()
        found = index.owned(self._records, start.fingerprint, "run")
        self._stored = [(name, m) for name, m in found if m.outcome == "finished"]
        self._on_disk: Manifest | None = None
        if self._stored:
            self._folder = home / "again" / start.fingerprint
            self._on_disk = again.leftover(self._folder)
        elif found:
            self._folder, self._on_disk = self._records / found[0][0], found[0][1]
        else:
            self._folder = self._records / index.free_id(self._records, start.fingerprint)
        self._written = self._on_disk.written if self._on_disk else 0
        self._manifest = _with_session(start)

    def resume(self) -> Saved | None:
        """The rows and the checkpoint of the last finished append of an unfinished run."""
        old = self._on_disk
        if old is None or old.checkpoint is None or (self._start.again and not old.again):
            return None
        rows = read_run(self._folder, old)
        rows.attrs = dict(old.attrs)
        checkpoint = files.read(self._folder, old.checkpoint)
        self._manifest = _with_session(replace(old, outcome="unfinished"))
        return Saved(rows, checkpoint)

    def append(self, part: xr.Dataset, checkpoint: bytes) -> None:
        """Add rows and the state after them, both or neither."""
        self._check_lock()
        layout = check_layout(self._manifest.layout, part)
        packed, rows = pack(part), part.sizes.get("step", 0)
        if not self._folder.exists():
            make_folder(self._folder, self._manifest)
        written = files.write(self._folder, self._name("part"), packed, rows)
        state = files.write(self._folder, self._name("checkpoint"), checkpoint)
        parts = (*self._manifest.parts, written)
        changes = {"parts": parts, "checkpoint": state, "layout": layout, "attrs": dict(part.attrs)}
        self._save(replace(self._manifest, **changes))  # type: ignore[arg-type]
        fewer = merge_tail(self._folder, parts, self._name)
        if fewer != parts:
            self._save(replace(self._manifest, parts=fewer))

    def finish(self, attrs: dict[str, Any]) -> None:
        """Set the attributes and the outcome, compare with what is stored, and let go.

        Other content than that of a stored run of the same versions is a
        `FingerprintConflict`.

        Args:
            attrs: The run's attributes; `outcome` is "finished" (the default) or "interrupted".
        """
        outcome = attrs.get("outcome", "finished")
        if outcome not in ("finished", "interrupted"):
            raise bad("outcome", outcome, "'finished' or 'interrupted'")
        self._check_lock()
        try:
            if self._manifest.parts:
                self._end(outcome, attrs)
            elif outcome == "finished":
                raise StoreError("a run without any rows cannot be finished; append some first")
        finally:
            self._lock.release()

    def _end(self, outcome: Any, attrs: dict[str, Any]) -> None:
        attrs = {**self._manifest.attrs, **attrs}
        ended = replace(self._manifest, outcome=outcome, attrs=attrs)
        if outcome == "finished":
            fewer = merge(self._folder, ended.parts, self._name)
            ended = replace(ended, parts=fewer, checkpoint=None)
        self._save(ended)
        self._remove_leftovers()
        if outcome == "finished" and self._stored:
            self.id, self.agreement = again.settle(
                self._folder, self._manifest, self._records, self._stored, _content
            )

    def _check_lock(self) -> None:
        if not self._lock.held:
            raise StoreError("this run was taken over by a later one, or is finished; start anew")

    def _name(self, what: str) -> str:
        """A file name that this record has never used."""
        self._written += 1
        ending = "bin" if what == "checkpoint" else "zarr.zip"
        return f"{what}-{self._written:06d}.{ending}"

    def _save(self, manifest: Manifest) -> None:
        """Replace the manifest, then remove the files that only the old one named."""
        now_ = time.monotonic()
        # A sweep of several groups was computed before its sink was opened; it says how long.
        seconds = max(manifest.seconds + now_ - self._clock, manifest.attrs.get("seconds", 0.0))
        manifest = replace(manifest, seconds=seconds, written=self._written)
        write_manifest(self._folder, manifest)
        before = self._on_disk.files if self._on_disk else ()
        self._manifest, self._on_disk, self._clock = manifest, manifest, now_
        if not self._stored:
            self.id = self._folder.name
        for name in {f.name for f in before} - {f.name for f in manifest.files}:
            with contextlib.suppress(OSError):  # what stays is named by nobody
                (self._folder / name).unlink()

    def _remove_leftovers(self) -> None:
        """Remove what earlier kills left behind: everything that the manifest does not name."""
        named = {NAME, *(f.name for f in self._manifest.files)}
        for path in self._folder.iterdir():
            if path.name not in named:
                with contextlib.suppress(OSError):
                    path.unlink()


def _with_session(manifest: Manifest) -> Manifest:
    """The manifest with this process as one of its writers."""
    session = {"from_row": manifest.rows, "started": now(), "versions": versions()}
    return replace(manifest, sessions=(*manifest.sessions, session))


def _content(folder: Path, manifest: Manifest) -> dict[str, np.ndarray]:
    return {str(k): v.values for k, v in read_run(folder, manifest).variables.items()}
