"""A record that was computed again: what becomes of it when it is finished.

It was written beside the records, in `again/<fingerprint>`. The same bits: the stored
record stays and the copy goes. Other bits from the same versions: an error, and nothing
changes. Other versions: it moves in beside the stored record, with the comparison.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dynascope.core.errors import StoreError
from dynascope.store import files, index
from dynascope.store.compare import Agreement, hold_against
from dynascope.store.manifest import Manifest, read_manifest, write_manifest

if TYPE_CHECKING:
    import numpy as np


def leftover(folder: Path) -> Manifest | None:
    """The manifest of an earlier recomputation; one that cannot be read is removed."""
    if not folder.exists():
        return None
    try:
        return read_manifest(folder)
    except StoreError:
        files.discard(folder)
        return None


def settle(
    folder: Path,
    manifest: Manifest,
    records: Path,
    stored: list[tuple[str, Manifest]],
    content: Callable[[Path, Manifest], dict[str, np.ndarray]],
) -> tuple[str, Agreement | None]:
    """Compare the finished copy with what is stored and put it where it belongs.

    Args:
        folder: Of the copy; it is gone afterwards.
        manifest: Of the copy.
        records: The folder of all records.
        stored: The finished records of the same fingerprint.
        content: What a record's folder and manifest hold, as arrays by name.

    Returns:
        The id of the record that now stands for it, and what the comparison found
        (None if no stored record could be read).
    """
    try:
        agreement = hold_against(
            content(folder, manifest), manifest, stored, lambda id_, m: content(records / id_, m)
        )
    except StoreError:
        files.discard(folder)
        raise
    if agreement and agreement.same_origin:
        files.discard(folder)
        return agreement.id, agreement
    if agreement:
        write_manifest(folder, replace(manifest, compared=agreement.plain()))
    name = index.free_id(records, manifest.fingerprint)
    with files.storing(records / name):
        os.rename(folder, records / name)
        files.settle(records)
    return name, agreement
