"""Records back to data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from dynascope.core.errors import DamagedRecord, StoreError
from dynascope.core.records import StudyResult, result_from_plain
from dynascope.store import files
from dynascope.store.arrays import join, unpack
from dynascope.store.manifest import Manifest, read_manifest

if TYPE_CHECKING:
    import xarray as xr


def read_record(folder: Path) -> xr.Dataset | StudyResult:
    """What a record holds, every file checked."""
    manifest = read_manifest(folder)
    while True:
        try:
            return read_content(folder, manifest)
        except DamagedRecord:
            # A writer that finishes meanwhile merges parts and removes the old ones.
            newer = read_manifest(folder)
            if newer == manifest:
                raise
            manifest = newer


def read_content(folder: Path, manifest: Manifest) -> xr.Dataset | StudyResult:
    """What a manifest names: a dataset for a run, a result for a study."""
    return (read_study if manifest.kind == "study" else read_run)(folder, manifest)


def read_run(folder: Path, manifest: Manifest) -> xr.Dataset:
    """The rows of a run that a manifest names, with the attributes it holds."""
    if not manifest.parts:
        raise StoreError(f"record {folder.name} holds no rows yet; the same run goes on with it")
    run = join([unpack(files.read(folder, part)) for part in manifest.parts])
    run.attrs = {"outcome": manifest.outcome, **manifest.attrs}
    return run


def read_study(folder: Path, manifest: Manifest) -> StudyResult:
    """The result of a study that a manifest names."""
    [file] = manifest.parts
    return result_from_plain(json.loads(files.read(folder, file)))
