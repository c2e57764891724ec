"""Zip files of unknown origin: what they hold, within bounds, before anything unpacks it.

Datasets are Zarr groups and computations are arrays beside a tree, both in a zip file. The
formats can do more than we write: a Zarr array may ask for a codec that unpickles, a few bytes
may stand for a terabyte. Only what `pack` and `encode` write is let through.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from typing import Any

from dynascope.core.typed import WrongType, check_depth
from dynascope.runtime.memory import available_bytes

# A node's description, and the chunks of an array, below the name of a node.
_ZARR = re.compile(r"([^/\\]+/)?(zarr\.json|c(/\d+)*)")
_ITEM = re.compile(r"tree\.json|\d{1,9}\.npy")
_CODECS = {"bytes", "vlen-utf8", "blosc", "zstd"}
_TYPES = re.compile(r"bool|u?int(8|16|32|64)|float(16|32|64)|complex(64|128)|string")


def check_item(data: bytes) -> None:
    """Raise unless the bytes are a zip file of a tree and arrays that fit into memory."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        _check_members(archive, _ITEM)
        check_depth(json.loads(archive.read("tree.json")), "tree.json")


def zarr_files(data: bytes) -> dict[str, bytes]:
    """The files of a zipped Zarr group, none of which can do more than hold numbers and text."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        _check_members(archive, _ZARR)
        files = {key: archive.read(key) for key in archive.namelist()}
    total = 0
    for key, content in files.items():
        if key.endswith("zarr.json"):
            node = json.loads(content)
            check_depth(node, key)
            total += _check_node(node, key)
    _check_size(total)
    return files


def _check_members(archive: zipfile.ZipFile, pattern: re.Pattern[str]) -> None:
    for name in archive.namelist():
        if not pattern.fullmatch(name):
            raise WrongType(f"the archive holds {name[:80]!r}, which does not belong there")
    _check_size(sum(member.file_size for member in archive.infolist()))


def _check_size(total: int) -> None:
    if total > available_bytes():
        raise WrongType(f"it would take {total:,} bytes of memory, more than there are")


def _check_node(node: Any, key: str) -> int:
    """Raise for a Zarr node that `pack` cannot have written; the bytes of an array's values."""
    if not isinstance(node, dict) or node.get("zarr_format") != 3:
        raise WrongType(f"{key} is no Zarr of format 3")
    if node.get("node_type") == "group":
        return 0
    codecs = {c.get("name") if isinstance(c, dict) else c for c in node["codecs"]}
    if strange := sorted(map(str, codecs - _CODECS)):
        raise WrongType(f"{key} asks for the codec {strange[0][:40]!r}")
    kind = node["data_type"]
    if not isinstance(kind, str) or not _TYPES.fullmatch(kind) or node.get("storage_transformers"):
        raise WrongType(f"{key} has a type that is never written")
    count = 1
    for side in node["shape"]:
        count *= side
    digits = re.search(r"\d+", kind)
    return count * (int(digits[0]) // 8 if digits else 1)
