"""Studies on disk: one JSON file, and the same rules as for runs when it is there already."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dynascope.core.records import StudyResult, result_to_plain
from dynascope.store import files, index
from dynascope.store.compare import hold_against
from dynascope.store.lock import Lock
from dynascope.store.manifest import Manifest, to_json, write_manifest
from dynascope.store.reading import read_study

if TYPE_CHECKING:
    import numpy as np

# Where and when it was computed is provenance; everything else is content.
_PROVENANCE = ("seconds", "provenance", "runs")


def put_study(home: Path, result: StudyResult) -> str:
    """Store a study; see `Store.put_study`."""
    records = home / "records"
    manifest = Manifest(
        kind="study",
        fingerprint=result.fingerprint,
        label=f"{result.study} {result.scale}",
        study=result.study,
        spec=result.settings,
        outcome="finished",
        seconds=result.seconds,
        attrs=result.provenance,
    )
    lock = Lock(home / "locks" / result.fingerprint)
    try:
        found = index.owned(records, result.fingerprint, "study")
        plain = json.loads(to_json(result_to_plain(result), "study"))
        agreement = hold_against(
            content(plain), manifest, found, lambda id_, m: _stored_content(records / id_, m)
        )
        if agreement and agreement.same_origin:
            return agreement.id
        beside = replace(manifest, compared=agreement.plain() if agreement else None)
        return _place(records, beside, plain)
    finally:
        lock.release()


def _place(records: Path, manifest: Manifest, plain: dict[str, Any]) -> str:
    """Let the record appear whole, in one move."""
    draft = records / f".new-{manifest.fingerprint}"
    name = index.free_id(records, manifest.fingerprint)
    with files.storing(records / name):
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        file = files.write(draft, "study.json", json.dumps(plain).encode())
        write_manifest(draft, replace(manifest, parts=(file,), written=1))
        os.rename(draft, records / name)
        files.settle(records)
    return name


def _stored_content(folder: Path, manifest: Manifest) -> dict[str, np.ndarray]:
    return content(json.loads(to_json(result_to_plain(read_study(folder, manifest)), "study")))


def content(plain: dict[str, Any]) -> dict[str, np.ndarray]:
    """A study's plain form as flat arrays by path, without its provenance.

    Example:
        >>> list(content({"claims": [{"id": "a", "measured": {"value": 2.0}}], "seconds": 3.0}))
        ['claims[0].id', 'claims[0].measured.value']
    """
    flat: dict[str, np.ndarray] = {}
    for name, value in plain.items():
        if name not in _PROVENANCE:
            _flatten(value, name, flat)
    return flat


def _flatten(value: Any, path: str, flat: dict[str, np.ndarray]) -> None:
    import numpy as np

    if isinstance(value, dict):
        for name, child in value.items():
            _flatten(child, f"{path}.{name}", flat)
    elif isinstance(value, list) and not all(isinstance(v, float) for v in value):
        for i, child in enumerate(value):
            _flatten(child, f"{path}[{i}]", flat)
    else:
        flat[path] = np.array("nothing" if value is None else value)
