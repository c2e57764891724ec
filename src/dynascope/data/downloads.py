"""Fetching an official file: into a temporary file, checked, then renamed into its place.

A file with the final name is therefore whole and right; a broken or wrong download leaves
nothing behind.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import urllib.error
import urllib.request
from http.client import HTTPException
from pathlib import Path
from typing import Any, BinaryIO

from dynascope.core.errors import MissingData
from dynascope.data.sources import Official
from dynascope.runtime.progress import Progress

BLOCK = 1 << 18
TIMEOUT_SECONDS = 20.0  # without a byte


def checksum(path: Path, algorithm: str) -> str:
    """The checksum of a file's bytes, as "md5:..." or "sha256:..."."""
    with open(path, "rb") as file:
        return f"{algorithm}:{hashlib.file_digest(file, algorithm).hexdigest()}"


def fetch(official: Official, place: Path) -> Path:
    """Download one file into a folder, unless it is there already.

    Args:
        official: Which file, from where, with which checksum.
        place: The folder; made if it is not there.

    Returns:
        The file. `MissingData` says in one line why there is none.
    """
    target = place / official.file
    if target.exists():
        return target
    try:
        place.mkdir(parents=True, exist_ok=True)
        _fetch(official, target)
    except (HTTPException, OSError) as error:  # URLError is an OSError
        reason = getattr(error, "reason", None) or error
        raise MissingData(
            f"{official.file} could not be fetched ({reason}); "
            f"get it from {official.address} and put it into {place}"
        ) from None
    return target


def _fetch(official: Official, target: Path) -> None:
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".", suffix=".part")
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            _copy(official, file)
        _verify(part, official)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def _copy(official: Official, file: BinaryIO) -> None:
    """The bytes of the address into an open file, with a progress bar."""
    with _open(official.address) as reply:
        total = float(reply.headers.get("Content-Length") or 0)
        with Progress(f"download {official.file}", total) as bar:
            done = 0
            while block := reply.read(BLOCK):
                file.write(block)
                done += len(block)
                bar.update(done)
    if done < total:
        raise OSError(f"{done} of {total:.0f} bytes came")


def _open(address: str) -> Any:
    try:
        return urllib.request.urlopen(address, timeout=TIMEOUT_SECONDS)
    except urllib.error.HTTPError as error:  # it holds the open connection
        with error:
            raise OSError(f"{error.code} {error.reason}") from None


def _verify(part: Path, official: Official) -> None:
    algorithm = official.checksum.split(":")[0]
    came = checksum(part, algorithm)
    if came != official.checksum:
        raise OSError(f"its checksum is {came}, not {official.checksum}")
