"""The store: what the command line and the verbs of Python call."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dynascope.core.errors import StoreError, bad
from dynascope.core.records import StudyResult
from dynascope.runtime import home as places
from dynascope.store import files, index, studies
from dynascope.store.computations import ComputationSink, read_items
from dynascope.store.export import Form, export
from dynascope.store.foreign import is_fingerprint
from dynascope.store.index import Entry
from dynascope.store.lock import Lock
from dynascope.store.manifest import Kind, Manifest, read_manifest, read_plain
from dynascope.store.reading import read_record
from dynascope.store.sink import RecordSink

if TYPE_CHECKING:
    import numpy as np
    import xarray as xr


class Store:
    """The records of a results folder, which is made when the first one is written.

    Args:
        home: The folder; without it `DYNASCOPE_HOME`, else the user's data folder.
    """

    def __init__(self, home: str | os.PathLike[str] | None = None) -> None:
        folder = places.home() if home is None else Path(home).expanduser()
        if re.match(r"[A-Za-z][\w+.-]+:/", str(folder)):
            raise bad("results folder", str(folder), "a local folder")
        self.home = folder.absolute()
        self.records = self.home / "records"

    def sink(
        self,
        spec: dict[str, Any],
        fingerprint: str,
        label: str = "",
        again: bool = False,
        study: str = "",
        part_of: str = "",
    ) -> RecordSink:
        """Open a run for writing; one writer at a time.

        Args:
            spec: The settings in their plain form.
            fingerprint: Of the settings, in hexadecimal digits.
            label: What the listing shows.
            again: Start over even if an unfinished run could be resumed. (One that is
                finished is never touched: `finish` compares with it.)
            study: The name of the study that it belongs to, if there is one.
            part_of: The fingerprint of the run that it is a piece of, if it is one.

        Returns:
            The sink, whose `resume` says where to go on.
        """
        _check_fingerprint(fingerprint)
        start = Manifest(
            "run", fingerprint, label, spec, again=again, study=study, part_of=part_of
        )  # fmt: skip
        return RecordSink(self.home, start)

    def computation(
        self,
        spec: dict[str, Any],
        fingerprint: str,
        label: str = "",
        again: bool = False,
        study: str = "",
    ) -> ComputationSink:
        """Open a computation for writing; one writer at a time.

        Args:
            spec: What it reads, in its plain form.
            fingerprint: Of what it reads, in hexadecimal digits.
            label: What the listing shows.
            again: Start over even if an unfinished one could be resumed.
            study: The name of the study that it belongs to.

        Returns:
            The sink, whose `items` are those already finished.
        """
        _check_fingerprint(fingerprint)
        start = Manifest("computation", fingerprint, label, spec, again=again, study=study)
        return ComputationSink(self.home, start)

    def items(self, id_or_prefix: str) -> list[bytes]:
        """The items of a stored computation, checked; `core.encoding.decode` reads them."""
        folder = self.records / index.resolve(self.records, id_or_prefix)
        return read_items(folder, read_manifest(folder))

    def put_study(self, result: StudyResult) -> str:
        """Store a study's result.

        Args:
            result: What the study found.

        Returns:
            Its id: that of the stored result if it is the same, else a new one. Another
            result of the same versions is a `FingerprintConflict`.
        """
        _check_fingerprint(result.fingerprint)
        return studies.put_study(self.home, result)

    def find(self, fingerprint: str) -> str | None:
        """The id of the newest finished record of a fingerprint, or None."""
        found = index.owned(self.records, fingerprint)
        return next((id_ for id_, m in found if m.outcome == "finished"), None)

    def load(self, id_or_prefix: str) -> xr.Dataset | StudyResult | dict[str, np.ndarray]:
        """A record's content, checked.

        A dataset for a run, a result for a study, flat arrays by name for a computation.

        Attributes were kept as JSON: tuples among them come back as lists.
        """
        return read_record(self.records / index.resolve(self.records, id_or_prefix))

    def manifest(self, id_or_prefix: str) -> dict[str, Any]:
        """What is known of a record without opening its data, as plain data."""
        return read_plain(self.records / index.resolve(self.records, id_or_prefix))

    def runs(self, kind: Kind | None = None, study: str | None = None) -> list[Entry]:
        """Every record, the newest first, from manifests alone.

        Args:
            kind: Only "run", "computation" or "study"; damaged records have no kind.
            study: Only what belongs to this study.

        Returns:
            One entry per record.
        """
        found = index.entries(self.records)
        return [e for e in found if kind in (None, e.kind) and study in (None, e.study)]

    def forget(self, id_or_prefix: str) -> str:
        """Remove a record, whatever its state, and return its id."""
        name = index.resolve(self.records, id_or_prefix)
        try:
            fingerprint = read_manifest(self.records / name).fingerprint
        except StoreError:
            files.discard(self.records / name)
            return name
        lock = Lock(self.home / "locks" / fingerprint)  # nobody may be writing it
        try:
            files.discard(self.records / name)
            recomputation = self.home / "again" / fingerprint
            if recomputation.exists() and fingerprint.startswith(name.split("-")[0]):
                files.discard(recomputation)
        finally:
            lock.release()
        return name

    def export(
        self, id_or_prefix: str, folder: str | os.PathLike[str], form: Form = "csv"
    ) -> list[Path]:
        """Write a record as files for other programs.

        Args:
            id_or_prefix: The record.
            folder: Where to; made if needed.
            form: "csv" or "parquet" (a tidy table per set of dims), or "netcdf". A study
                is written as JSON with its claims as CSV.

        Returns:
            The files written.
        """
        name = index.resolve(self.records, id_or_prefix)
        return export(read_record(self.records / name), name, Path(folder).expanduser(), form)

    def sizes(self) -> dict[str, int]:
        """Bytes on disk by part of the results folder.

        Returns:
            `records`, `compiled` and `again` (recomputations under way).
        """
        return {name: _size(self.home / name) for name in ("records", "compiled", "again")}


def _check_fingerprint(text: str) -> None:
    if not is_fingerprint(text):
        raise bad("fingerprint", text, "at least eight hexadecimal digits")


def _size(folder: Path) -> int:
    return sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())
