"""What manifests said when they were last read, in an SQLite file beside the records.

It saves reading ten thousand small files for a listing and is never the truth: a row counts only
while the manifest it came from is the same file (its place on the disk, its size and the moment
of its last change, which no copy keeps). So an index of another store, an old one or none costs
time and nothing else; one that cannot be read is removed and made anew.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

NAME = "index.sqlite"
_TABLE = (
    "CREATE TABLE records (name TEXT PRIMARY KEY, sign TEXT, kind TEXT, label TEXT, "
    "fingerprint TEXT, outcome TEXT, created TEXT, seconds REAL, files TEXT, "
    "study TEXT, part_of TEXT)"
)
_WAIT = 1.0  # seconds for another process that is writing; then this one does without


class Row(NamedTuple):
    """One record as it was when its manifest had this sign."""

    name: str
    sign: str
    kind: str
    label: str
    fingerprint: str
    outcome: str
    created: str
    seconds: float
    files: str  # name:bytes/name:bytes/..., as file names have neither sign
    study: str
    part_of: str


def sign_of(manifest: str) -> str | None:
    """What changes whenever the file is another one; None if it is no plain file."""
    try:
        about = os.lstat(manifest)
    except OSError:
        return None
    if not stat.S_ISREG(about.st_mode):
        return None
    return f"{about.st_ino} {about.st_size} {about.st_mtime_ns} {about.st_ctime_ns}"


def recall(home: Path) -> dict[str, Row]:
    """Every row by name; none if there is no index, or none that can be read."""
    path = home / NAME
    if path.is_symlink() or not path.is_file():
        return {}
    try:
        with contextlib.closing(_open(path)) as index:
            found = index.execute("SELECT * FROM records").fetchall()
            rows = {row[0]: Row(*row) for row in found}
            if not all(_is_ours(row) for row in rows.values()):
                raise sqlite3.DatabaseError("rows of other types")
            return rows
    except sqlite3.OperationalError:  # locked, or not to be opened here
        return {}
    except (sqlite3.DatabaseError, TypeError, ValueError):
        with contextlib.suppress(OSError):
            path.unlink()
        return {}


def remember(home: Path, rows: Iterable[Row], gone: Iterable[str]) -> None:
    """Write rows that are new or changed and drop those of records that are gone.

    Where this cannot be done (another process, a full or read-only disk) nothing is lost.
    """
    changed, left = list(rows), [(name,) for name in gone]
    path = home / NAME
    if not (changed or left) or path.is_symlink():
        return
    with contextlib.suppress(sqlite3.Error), contextlib.closing(_open(path)) as index, index:
        marks = ", ".join("?" * len(Row._fields))
        index.executemany(f"INSERT OR REPLACE INTO records VALUES ({marks})", changed)
        index.executemany("DELETE FROM records WHERE name = ?", left)


def _open(path: Path) -> sqlite3.Connection:
    """The index, made if it is not there; one with anything but our table is refused."""
    index = sqlite3.connect(path, timeout=_WAIT)
    try:
        index.execute("PRAGMA trusted_schema = OFF")
        inside = index.execute("SELECT type, sql FROM sqlite_master WHERE sql IS NOT NULL")
        tables = inside.fetchall()
        if not tables:
            index.execute(_TABLE)
        elif tables != [("table", _TABLE)]:
            raise sqlite3.DatabaseError("not our table")
    except BaseException:
        index.close()
        raise
    return index


def _is_ours(row: Row) -> bool:
    texts = (*row[:7], row.files, row.study, row.part_of)
    return all(isinstance(text, str) for text in texts) and isinstance(row.seconds, float)
