"""Whole files: written all or not at all, and read only if their checksum agrees."""

from __future__ import annotations

import hashlib
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from dynascope.core.errors import DamagedRecord, StoreError


@dataclass(frozen=True)
class File:
    """A file that a manifest names; `rows` is how many steps it adds, 0 if it holds none."""

    name: str
    bytes: int
    sha256: str
    rows: int = 0


@contextmanager
def storing(path: Path) -> Iterator[None]:
    """Turn what the disk refuses (full, read-only, no folder) into one line."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise StoreError(
            f"cannot write {path}: {reason}; what was recorded before is kept; "
            "make room there or try another folder with DYNASCOPE_HOME=..."
        ) from error


def write(folder: Path, name: str, data: bytes, rows: int = 0) -> File:
    """Put a file in place in one move, after its bytes have reached the disk.

    Args:
        folder: Where; it must exist.
        name: The file's name there; a file of that name is replaced.
        data: The content.
        rows: How many steps the content holds.

    Returns:
        What a manifest needs to name the file.
    """
    draft = folder / f".{name}.draft"
    with storing(folder / name):
        try:
            with open(draft, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, folder / name)
        except OSError:
            draft.unlink(missing_ok=True)
            raise
        settle(folder)
    return File(name, len(data), hashlib.sha256(data).hexdigest(), rows)


def read(folder: Path, file: File) -> bytes:
    """The content of a named file, checked against its size and checksum."""
    try:
        data = (folder / file.name).read_bytes()
    except FileNotFoundError:
        raise damaged(folder, f"{file.name} is missing") from None
    except OSError as error:
        raise StoreError(f"cannot read {folder / file.name}: {error.strerror}") from error
    if len(data) != file.bytes:
        raise damaged(folder, f"{file.name} has {len(data)} bytes instead of {file.bytes}")
    if hashlib.sha256(data).hexdigest() != file.sha256:
        raise damaged(folder, f"{file.name} does not have its checksum")
    return data


def damaged(folder: Path, what: str) -> DamagedRecord:
    """The one line for a record that cannot be trusted."""
    name = folder.name
    return DamagedRecord(
        f"record {name} is damaged: {what}; `dynascope forget {name}` removes it, "
        "the same run makes it anew"
    )


def settle(folder: Path) -> None:
    """Make a folder's names durable; Windows does so by itself and cannot open folders."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def discard(folder: Path) -> None:
    """Make a record folder vanish in one move; its files are removed afterwards."""
    with storing(folder):
        trash = folder.parent / f".trash-{uuid.uuid4().hex}"
        os.rename(folder, trash)
        settle(folder.parent)
    for left in folder.parent.glob(".trash-*"):  # also what an earlier kill left behind
        shutil.rmtree(left, ignore_errors=True)
