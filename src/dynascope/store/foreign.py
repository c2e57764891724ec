"""Names in stored files, checked before they become paths, and the depth of what is read.

Results folders get shared and downloaded, so a record is treated as written by a stranger: a
fingerprint is hexadecimal digits, a file name is plain and lies in the record's own folder.
"""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import Any

from dynascope.core.typed import WrongType, check_depth

_FINGERPRINT = re.compile(r"[0-9a-f]{8,64}")
_ID = re.compile(r"[0-9a-f]{8,64}(-[0-9]{1,6})?")
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def is_fingerprint(text: Any) -> bool:
    """Whether a text is hexadecimal digits and nothing else.

    Example:
        >>> is_fingerprint("0123456789abcdef"), is_fingerprint("../../precious")
        (True, False)
    """
    return isinstance(text, str) and _FINGERPRINT.fullmatch(text) is not None


def is_id(name: str) -> bool:
    """Whether a folder's name is a record's id: digits of a fingerprint, perhaps a number.

    Example:
        >>> is_id("01234567-2"), is_id("01234567/.."), is_id("notes")
        (True, False, False)
    """
    return _ID.fullmatch(name) is not None


def is_file_name(name: Any) -> bool:
    """Whether a name is that of a file in the same folder, on any system.

    Example:
        >>> is_file_name("part-000001.zarr.zip"), is_file_name("../part"), is_file_name(".new")
        (True, False, False)
    """
    return isinstance(name, str) and _FILE.fullmatch(name) is not None


def is_moment(text: str) -> bool:
    """Whether a text is a moment with its time zone, as `manifest.now` writes it.

    Example:
        >>> is_moment("2026-01-02T03:04:05+00:00"), is_moment("yesterday")
        (True, False)
    """
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def parse(data: bytes, name: str) -> Any:
    """JSON of bounded depth; everything else is a `ValueError` or a `WrongType`."""
    try:
        value = json.loads(data)
    except RecursionError:
        raise WrongType(f"{name} is nested too deeply") from None
    check_depth(value, name)
    return value
