"""Whole files: written all or not at all, and read only if their checksum agrees."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import stat
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
        draft.unlink(missing_ok=True)
        try:
            with open(draft, "xb") as file:  # never through a link that lies there
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
    data = read_plain_file(folder, file.name, file.bytes)
    if hashlib.sha256(data).hexdigest() != file.sha256:
        raise damaged(folder, f"{file.name} does not have its checksum")
    return data


def read_plain_file(folder: Path, name: str, size: int | None = None) -> bytes:
    """The bytes of a file that lies in the folder itself: no link, no pipe, no device.

    Args:
        folder: Of a record.
        name: A plain file name.
        size: How many bytes it must have.

    Returns:
        The content.
    """
    if folder.is_symlink():
        raise damaged(folder, "its folder is a link to another place")
    how = os.O_RDONLY
    for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"):  # what the system has of them
        how |= getattr(os, flag, 0)
    try:
        with os.fdopen(os.open(folder / name, how), "rb") as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode):
                raise damaged(folder, f"{name} is no plain file")
            if size is not None and about.st_size != size:
                raise damaged(folder, f"{name} has {about.st_size} bytes instead of {size}")
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        missing = f"there is no {name}" if size is None else f"{name} is missing"
        raise damaged(folder, missing) from None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise damaged(folder, f"{name} is a link to another place") from None
        raise StoreError(f"cannot read {folder / name}: {error.strerror}") from error


@contextmanager
def trusting_nothing(folder: Path, what: str) -> Iterator[None]:
    """Whatever a file with odd content makes its reader raise is damage of that record."""
    try:
        yield
    except StoreError as error:
        if folder.name in str(error):
            raise
        raise damaged(folder, f"{what}: {error}") from error
    except (Exception, RecursionError) as error:
        words = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise damaged(folder, f"{what} cannot be read ({words})") from error


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
        if left.is_symlink():  # the link goes, what it points to is not ours
            left.unlink(missing_ok=True)
        else:
            shutil.rmtree(left, ignore_errors=True)
