"""The manifest: the small file that says what a record holds; written last, in one move."""

from __future__ import annotations

import json
import os
import re
import reprlib
import shutil
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from dynascope.core.errors import StoreError, bad
from dynascope.core.typed import WrongType, check_fields
from dynascope.store.files import File, damaged, read_plain_file, settle, storing, write
from dynascope.store.foreign import is_file_name, is_fingerprint, is_moment, parse

FORMAT = 1
LATER = {"study", "part_of"}  # fields that records of before have not
NAME = "manifest.json"

Kind = Literal["run", "computation", "study"]
Outcome = Literal["unfinished", "interrupted", "finished"]


def now() -> str:
    """This moment, in UTC, as text that sorts by time."""
    return datetime.now(UTC).isoformat()


@dataclass(frozen=True)
class Manifest:
    """Everything that is known of a record without opening its data."""

    kind: Kind
    fingerprint: str
    label: str
    spec: Any  # the settings in their plain form
    created: str = field(default_factory=now)
    outcome: Outcome = "unfinished"
    seconds: float = 0.0  # over all sessions
    again: bool = False  # begun as a recomputation, so only a recomputation may go on with it
    parts: tuple[File, ...] = ()
    checkpoint: File | None = None
    written: int = 0  # numbers given to files so far; a number is never used twice
    layout: dict[str, Any] = field(default_factory=dict)  # see `arrays.layout`
    attrs: dict[str, Any] = field(default_factory=dict)
    sessions: tuple[dict[str, Any], ...] = ()  # who wrote from which row on
    compared: dict[str, Any] | None = None  # against an earlier record of other versions
    study: str = ""  # the name of the study it belongs to
    part_of: str | None = ""  # the fingerprint of the whole; None: of before it was written down

    @property
    def rows(self) -> int:
        """How many steps the record holds."""
        return sum(part.rows for part in self.parts)

    @property
    def files(self) -> tuple[File, ...]:
        """Every file that the manifest names."""
        return self.parts if self.checkpoint is None else (*self.parts, self.checkpoint)


def to_json(value: Any, name: str) -> str:
    """JSON text of attributes; numpy numbers and arrays become numbers and lists.

    Example:
        >>> to_json({"rates": (0.1, None)}, "attrs")
        '{"rates": [0.1, null]}'
    """

    def plain(thing: Any) -> Any:
        if hasattr(thing, "tolist"):
            return thing.tolist()
        raise bad(name, thing, "numbers, text, lists and dictionaries")

    try:
        return json.dumps(value, default=plain)
    except TypeError as error:  # a key that is no text
        raise bad(name, value, f"keys that are text ({error})") from None


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Replace the folder's manifest in one move."""
    # Without `asdict`, which copies the whole spec: milliseconds, at every append.
    values = {f.name: getattr(manifest, f.name) for f in fields(manifest)}
    values["parts"] = [asdict(part) for part in manifest.parts]
    values["checkpoint"] = manifest.checkpoint and asdict(manifest.checkpoint)
    write(folder, NAME, to_json({"format": FORMAT, **values}, "attrs").encode())


def make_folder(folder: Path, manifest: Manifest) -> None:
    """Let a record's folder appear together with its manifest, so that none is ever without."""
    draft = folder.parent / f".new-{manifest.fingerprint}"
    with storing(folder):
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        write_manifest(draft, manifest)
        os.rename(draft, folder)
        settle(folder.parent)


def read_plain(folder: Path) -> dict[str, Any]:
    """The folder's manifest as it stands in the file, of any format this version reads.

    Its fields are what they must be, names and all; see `foreign`.
    """
    data = read_plain_file(folder, NAME)
    try:
        plain = parse(data, NAME)
    except WrongType as error:
        raise damaged(folder, str(error)) from None
    except ValueError:
        raise damaged(folder, f"{NAME} is not readable JSON") from None
    number = plain.get("format") if isinstance(plain, dict) else None
    if number != FORMAT or isinstance(number, bool):
        raise StoreError(
            f"record {folder.name} is of format {reprlib.repr(number)}, this dynascope reads "
            f"format {FORMAT}; read it with the version that wrote it, "
            f"or `dynascope forget {folder.name}`"
        )
    try:
        _check(plain)
    except WrongType as error:
        raise damaged(folder, str(error)) from None
    label_study = re.split(r"[ :/]", plain["label"], maxsplit=1)[0]
    return {**plain, "study": plain.get("study", label_study), "part_of": plain.get("part_of")}


def _check(plain: dict[str, Any]) -> None:
    """Raise `WrongType` for a manifest that no writer of ours has written."""
    known = {f.name for f in fields(Manifest)}
    check_fields({k: v for k, v in plain.items() if k in known}, Manifest, "manifest")
    if lacks := sorted(known - set(plain) - LATER):
        raise WrongType(f"{NAME} lacks {lacks[0]!r}")
    named = [*plain["parts"], *filter(None, [plain["checkpoint"]])]
    for what, value, fits in (
        ("fingerprint", plain["fingerprint"], is_fingerprint(plain["fingerprint"])),
        ("created", plain["created"], is_moment(plain["created"])),
        ("seconds", plain["seconds"], 0 <= plain["seconds"] < float("inf")),
        *(("file name", f["name"], is_file_name(f["name"]) and f["name"] != NAME) for f in named),
        *(("size of a file", f["bytes"], f["bytes"] >= 0) for f in named),
    ):
        if not fits:
            raise WrongType(f"{NAME} has the {what} {reprlib.repr(value)}, which is none")


def read_manifest(folder: Path) -> Manifest:
    """The folder's manifest, or `StoreError` in one line."""
    plain = read_plain(folder)
    values = {f.name: plain[f.name] for f in fields(Manifest)}
    values["parts"] = tuple(File(**p) for p in values["parts"])
    values["checkpoint"] = values["checkpoint"] and File(**values["checkpoint"])
    values["sessions"] = tuple(values["sessions"])
    return Manifest(**values)
