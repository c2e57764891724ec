"""Texts: one file or several, cut into a training and a test part.

Known by name are Tiny Shakespeare and WikiText-2; any folder with `.txt` files is a text too.
Where there is no split of its own, the last tenth is the test part.
"""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from dynascope.core.errors import MissingData, bad
from dynascope.data.downloads import fetch
from dynascope.data.folder import cache, folder, folders
from dynascope.data.plain import described
from dynascope.data.sources import TEXTS

ENDINGS = (".txt", ".tokens", ".txt.gz")
TRAINING, TESTING = ("train", "valid"), ("test",)  # how parts of a split are called


@dataclass(frozen=True)
class Text:
    """A text as bytes, with its licence and what it is a part of."""

    name: str
    train: bytes
    test: bytes
    licence: str
    note: str

    def checksum(self) -> str:
        """Sixteen hex digits of both parts."""
        return hashlib.sha256(self.train + b"\0" + self.test).hexdigest()[:16]


def is_text(place: Path) -> bool:
    """Whether a folder holds a text."""
    return bool(_files(place))


def load_text(name: str, *, download: bool = True) -> Text:
    """A text by the name of its folder; one copy is kept and shared.

    Args:
        name: "tinyshakespeare", "wikitext2_valid_test", or a folder of your own with `.txt` files;
            files whose names have train, valid or test in them are a split.
        download: Whether official files may be fetched if they are nowhere.

    Returns:
        The text. `MissingData` says in one line what to do where there is none.
    """
    if not name or Path(name).name != name:
        raise bad("name", name, "the name of a text, not a path", "set DYNASCOPE_DATA")
    for place in folders():
        if is_text(place / name):
            return _read(name, place / name)
    known = TEXTS.get(name)
    if known is None or not known.files or not download:
        raise MissingData(text_absence(name))
    for official in known.files:
        fetch(official, cache() / name)
    return _read(name, cache() / name)


def text_absence(name: str) -> str:
    """What to do about a text that is not there, in one line."""
    known = TEXTS.get(name)
    if known is not None and known.files:
        files = ", ".join(official.file for official in known.files)
        advice = f'dynascope.data.load_text("{name}") fetches it, or put {files} into'
    else:
        advice = known.by_hand + ", into" if known else "put .txt files into"
    return f"text {name} is not there: {advice} {folder() / name}"


def _files(place: Path) -> list[Path]:
    if not place.is_dir():
        return []
    return sorted(
        f for f in place.iterdir() if f.name.endswith(ENDINGS) and f.name != "classes.txt"
    )


@lru_cache(maxsize=4)
def _read(name: str, place: Path) -> Text:
    files = _files(place)
    parts = {
        words: b"".join(_bytes(f) for f in files if any(w in f.name for w in words))
        for words in (TRAINING, TESTING)
    }
    train, test = parts[TRAINING], parts[TESTING]
    split = "the files' own split"
    if not train or not test:
        whole = b"".join(map(_bytes, files))
        cut = len(whole) * 9 // 10
        train, test, split = whole[:cut], whole[cut:], "the last tenth is the test part"
    if len(test) < 2:
        raise bad(name, f"{len(train) + len(test)} bytes", "a text of some length")
    known = TEXTS.get(name)
    note = "; ".join(filter(None, (described(place), split)))
    return Text(name, train, test, known.licence if known else "the user's own", note)


def _bytes(file: Path) -> bytes:
    try:
        return gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    except (OSError, EOFError) as error:
        raise bad(file.name, str(error), "a text file") from None
