"""Records as a stranger may have written them: every checksum agrees, the content is hostile."""

from __future__ import annotations

import hashlib
import io
import json
import pickle
import zipfile
from pathlib import Path

from dynascope.store.manifest import NAME

ESCAPE = "\x1b]52;c;c3RvbGVu\x07\x1b[2J"  # sets the clipboard and clears the screen
MARKUP = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"
OUTSIDE = "../../../victim/precious"
WRONG = (5, "x", None, [], {}, [[1]], {"a": {"b": 1}}, True, -1, 1e400, 10**30)


def change(folder: Path, **fields) -> None:
    """Replace fields of a manifest."""
    plain = json.loads((folder / NAME).read_text())
    (folder / NAME).write_text(json.dumps({**plain, **fields}))


def manifest(folder: Path) -> dict:
    return json.loads((folder / NAME).read_text())


def replace_part(folder: Path, data: bytes, number: int = 0) -> None:
    """Give a part other bytes and let the manifest agree with them."""
    parts = manifest(folder)["parts"]
    (folder / parts[number]["name"]).write_bytes(data)
    parts[number] |= {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    change(folder, parts=parts)


def change_study(folder: Path, change_plain) -> None:
    """Rewrite the result of a stored study."""
    [part] = manifest(folder)["parts"]
    plain = json.loads((folder / part["name"]).read_text())
    changed = change_plain(plain)
    replace_part(folder, json.dumps(plain if changed is None else changed).encode())


def every_text(value, text: str):
    """The same structure with a text in place of every text that is free."""
    if isinstance(value, dict):
        return {k: v if k in FIXED else every_text(v, text) for k, v in value.items()}
    if isinstance(value, list):
        return [every_text(v, text) for v in value]
    return text if isinstance(value, str) else value


# What has a fixed vocabulary: another word is a wrong type, which other cases try.
FIXED = ("verdict", "kind", "origin", "mark", "role", "axis", "x_scale", "y_scale", "fingerprint",
         "name", "headline", "study", "scale", "spec", "partner", "id")  # fmt: skip


def zipped(members: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return packed.getvalue()


def unzipped(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


class Touch:
    """Unpickled, it makes a file: the proof that code was run."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def pickling_zarr(path: Path) -> bytes:
    """A Zarr group of format 2 whose only array is read by unpickling."""
    about = {
        "zarr_format": 2, "shape": [1], "chunks": [1], "dtype": "|O", "compressor": None,
        "fill_value": "", "order": "C", "filters": [{"id": "vlen-utf8"}, {"id": "pickle"}],
    }  # fmt: skip
    told = {"dynascope": {"loss": {"coord": False, "dtype": "O", "attrs": {}}}}
    return zipped({
        ".zgroup": b'{"zarr_format": 2}',
        ".zattrs": json.dumps(told).encode(),
        "loss/.zarray": json.dumps(about).encode(),
        "loss/0": pickle.dumps([Touch(path)]),
    })
