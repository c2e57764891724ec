"""Ids and listing, from manifests alone.

An id is the first eight digits of the fingerprint, more if another fingerprint begins
alike; a recomputation by other versions stands beside it as `<id>-2`.
"""

from __future__ import annotations

import heapq
import os
from dataclasses import dataclass
from pathlib import Path

from dynascope.core.errors import BadInput, StoreError, unknown
from dynascope.store.files import damaged
from dynascope.store.foreign import is_id
from dynascope.store.manifest import NAME, Kind, Manifest, read_manifest
from dynascope.store.remembered import Row, recall, remember, sign_of

_SHORT = 8
_FULL = 16  # hexadecimal digits of a fingerprint


@dataclass(frozen=True)
class Entry:
    """A line of the listing; `damaged` says why a record cannot be read, else None."""

    id: str
    kind: str
    label: str
    fingerprint: str
    outcome: str
    created: str
    seconds: float
    size: int  # bytes
    damaged: str | None = None
    study: str = ""  # the name of the study it belongs to
    part_of: str = ""  # the fingerprint of the run that it is a piece of


def names(records: Path) -> list[str]:
    """The id of every record folder, damaged ones too; what has another name is none of ours."""
    try:
        with os.scandir(records) as found:
            return sorted(f.name for f in found if is_id(f.name) and f.is_dir())
    except (FileNotFoundError, NotADirectoryError):
        return []


def entries(records: Path) -> list[Entry]:
    """Every record, the newest first.

    Manifests that have not changed since they were last read are not read again; see
    `remembered`.
    """
    known, above = recall(records.parent), f"{records}{os.sep}"
    here, found, fresh = names(records), [], []
    for name in here:
        sign, row = sign_of(f"{above}{name}{os.sep}{NAME}"), known.get(name)
        if row and row.sign == sign and (line := _remembered(f"{above}{name}{os.sep}", row)):
            found.append(line)
            continue
        folder = records / name
        line, manifest = _read(folder)
        found.append(line)
        if sign and manifest and not line.damaged and sign == sign_of(f"{folder / NAME}"):
            fresh.append(_row(sign, line, manifest))
    remember(records.parent, fresh, set(known) - set(here))
    return sorted(found, key=lambda e: (e.created, e.id), reverse=True)


def _remembered(folder: str, row: Row) -> Entry | None:
    """The line of a record whose manifest is as it was; None if its files are not.

    A folder that has become a link is another one: the sign of its manifest tells.
    """
    total = 0
    for file in row.files.split("/") if row.files else ():
        name, _, size = file.partition(":")
        try:
            if os.lstat(folder + name).st_size != int(size):
                return None
        except (OSError, ValueError):
            return None
        total += int(size)
    return Entry(row.name, *row[2:7], row.seconds, total, None, row.study, row.part_of)


def _row(sign: str, e: Entry, manifest: Manifest) -> Row:
    """What to remember of a record that was just read."""
    files = "/".join(f"{f.name}:{f.bytes}" for f in manifest.files)
    known = (e.kind, e.label, e.fingerprint, e.outcome, e.created, float(e.seconds))
    return Row(e.id, sign, *known, files, e.study, e.part_of)


def _read(folder: Path) -> tuple[Entry, Manifest | None]:
    """A record's line and its manifest; what is wrong with it is told, not raised."""
    try:
        manifest = read_manifest(folder)
        while wrong := _wrong(folder, manifest):
            # A living writer removes files that its next manifest no longer names.
            newer = read_manifest(folder)
            if newer == manifest:
                break
            manifest = newer
    except StoreError as error:
        return Entry(folder.name, "", "", "", "", "", 0.0, 0, str(error)), None
    m, size = manifest, sum(file.bytes for file in manifest.files)
    known = (folder.name, m.kind, m.label, m.fingerprint, m.outcome, m.created, m.seconds, size)
    return Entry(*known, wrong, m.study, m.part_of or ""), manifest


def _wrong(folder: Path, manifest: Manifest) -> str | None:
    """What a look at the files' sizes shows; their content is checked when it is read."""
    for file in manifest.files:
        try:
            size = os.lstat(folder / file.name).st_size
        except OSError:
            return str(damaged(folder, f"{file.name} is missing"))
        if size != file.bytes:
            return str(damaged(folder, f"{file.name} has {size} bytes instead of {file.bytes}"))
    return None


def resolve(records: Path, text: str) -> str:
    """The id that a text means: itself, the only id that begins with it, or the newest one.

    "last" means the newest of all, the name of a study its newest result.
    """
    known = names(records)
    if text in known:
        return text
    if text == "last" and known:
        return entries(records)[0].id
    # A whole fingerprint begins with its record's id, as an id begins with its first digits.
    whole = len(text) == _FULL
    found = [n for n in known if text and (n.startswith(text) or (whole and text.startswith(n)))]
    if len(found) == 1:
        return found[0]
    if found:
        shown = ", ".join(found[:8]) + (", ..." if len(found) > 8 else "")
        raise BadInput(f"record {text!r} could be any of {shown}; give more digits")

    for entry in entries(records):
        if entry.kind == "study" and entry.study == text:
            return entry.id

    def alike(name: str) -> int:
        return next((i for i, (a, b) in enumerate(zip(name, text)) if a != b), len(text))

    raise unknown("record", text, heapq.nlargest(8, known, key=alike))  # a line, not all ids


def owned(records: Path, fingerprint: str, kind: Kind | None = None) -> list[tuple[str, Manifest]]:
    """The readable records of a fingerprint, all or of one kind, the newest first."""
    found = []
    for name in _beginning(records, fingerprint[:_SHORT]):
        try:
            manifest = read_manifest(records / name)
        except StoreError:
            continue  # not ours as far as anybody can tell; the listing reports it
        if manifest.fingerprint == fingerprint and kind in (None, manifest.kind):
            found.append((name, manifest))
    return sorted(found, key=lambda pair: pair[1].created, reverse=True)


def _beginning(records: Path, text: str) -> list[str]:
    """The ids that begin alike: what is asked before every run, so nothing else is looked at."""
    try:
        found = sorted(name for name in os.listdir(records) if name.startswith(text))
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [name for name in found if is_id(name) and (records / name).is_dir()]


def free_id(records: Path, fingerprint: str) -> str:
    """An id that no folder has: beside the fingerprint's own records, or a new one.

    Example:
        >>> free_id(Path("nowhere"), "0123456789abcdef")
        '01234567'
    """
    taken = names(records)
    if ours := owned(records, fingerprint):
        base = ours[0][0].split("-")[0]
    else:
        foreign = {name.split("-")[0] for name in taken}
        lengths = range(_SHORT, len(fingerprint) + 1)
        free = (fingerprint[:n] for n in lengths if fingerprint[:n] not in foreign)
        base = next(free, fingerprint)  # the last resort: beside a damaged record of our own
    number = 1
    while (name := base if number == 1 else f"{base}-{number}") in taken:
        number += 1
    return name
