"""Records back to data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dynascope.core.attributes import as_text
from dynascope.core.errors import DamagedRecord, StoreError
from dynascope.core.parts import join_parts
from dynascope.core.records import StudyResult, result_from_plain
from dynascope.store import files
from dynascope.store.arrays import unpack
from dynascope.store.computations import read_arrays
from dynascope.store.files import damaged
from dynascope.store.foreign import parse
from dynascope.store.manifest import Manifest, read_manifest

if TYPE_CHECKING:
    import numpy as np
    import xarray as xr


def read_record(folder: Path) -> xr.Dataset | StudyResult | dict[str, np.ndarray]:
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


def read_content(
    folder: Path, manifest: Manifest
) -> xr.Dataset | StudyResult | dict[str, np.ndarray]:
    """What a manifest names: a dataset, a study's result, or a computation's arrays."""
    if manifest.kind == "computation":
        return read_arrays(folder, manifest)
    return (read_study if manifest.kind == "study" else read_run)(folder, manifest)


def read_run(folder: Path, manifest: Manifest) -> xr.Dataset:
    """The rows of a run that a manifest names, with the attributes it holds."""
    if not manifest.parts:
        raise StoreError(f"record {folder.name} holds no rows yet; the same run goes on with it")
    contents = [(part.name, files.read(folder, part)) for part in manifest.parts]
    parts = []
    for name, data in contents:
        with files.trusting_nothing(folder, name):
            parts.append(unpack(data))
    with files.trusting_nothing(folder, "its parts together"):
        run = join_parts(parts)
    run.attrs = as_text({"outcome": manifest.outcome, **manifest.attrs})
    if "fingerprint" in run.attrs:  # one of them is checked, the other might say anything
        run.attrs["fingerprint"] = manifest.fingerprint
    return run


def read_study(folder: Path, manifest: Manifest) -> StudyResult:
    """The result of a study that a manifest names."""
    if len(manifest.parts) != 1:
        raise damaged(folder, f"a study has one file, not {len(manifest.parts)}")
    [file] = manifest.parts
    data = files.read(folder, file)
    with files.trusting_nothing(folder, file.name):
        return result_from_plain(parse(data, file.name))
