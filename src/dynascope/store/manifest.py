"""The manifest: the small file that says what a record holds; written last, in one move."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from dynascope.core.errors import StoreError, bad
from dynascope.store.files import File, damaged, write

FORMAT = 1
NAME = "manifest.json"
_LIBRARIES = ("dynascope", "jax", "jaxlib", "equinox", "optax", "diffrax", "numpy")

Kind = Literal["run", "study"]
Outcome = Literal["unfinished", "interrupted", "finished"]


def now() -> str:
    """This moment, in UTC, as text that sorts by time."""
    return datetime.now(UTC).isoformat()


@cache
def versions() -> dict[str, str]:
    """Installed versions of the libraries that decide a run's bits; imports none of them."""
    found = {}
    for library in _LIBRARIES:
        try:
            found[library] = metadata.version(library)
        except metadata.PackageNotFoundError:
            continue
    return found


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
    text = to_json({"format": FORMAT, **asdict(manifest)}, "attrs")
    write(folder, NAME, text.encode())


def read_plain(folder: Path) -> dict[str, Any]:
    """The folder's manifest as it stands in the file, of any format this version reads."""
    try:
        plain = json.loads((folder / NAME).read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        raise damaged(folder, f"there is no {NAME}") from None
    except OSError as error:
        raise StoreError(f"cannot read {folder / NAME}: {error.strerror}") from error
    except ValueError:
        raise damaged(folder, f"{NAME} is not readable JSON") from None
    number = plain.get("format") if isinstance(plain, dict) else None
    if number != FORMAT:
        raise StoreError(
            f"record {folder.name} is of format {number!r}, this dynascope reads format {FORMAT}; "
            f"read it with the version that wrote it, or `dynascope forget {folder.name}`"
        )
    return plain


def read_manifest(folder: Path) -> Manifest:
    """The folder's manifest, or `StoreError` in one line."""
    plain = read_plain(folder)
    known = {f.name for f in fields(Manifest)}
    try:
        values = {k: plain[k] for k in known}
        values["parts"] = tuple(File(**p) for p in values["parts"])
        values["checkpoint"] = values["checkpoint"] and File(**values["checkpoint"])
        values["sessions"] = tuple(values["sessions"])
        return Manifest(**values)
    except (KeyError, TypeError) as error:
        raise damaged(folder, f"{NAME} lacks {error}") from None
