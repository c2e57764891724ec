"""AG News: rows of class, title and text, as a bag of hashed words.

The hash is CRC-32, the same in every process and on every machine (Python's own is salted).
"""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from pathlib import Path

import numpy as np

from dynascope.core.errors import bad
from dynascope.data.record import Split

BUCKETS = 1024
WORD = re.compile(r"[a-z0-9]+")
TRAINING_SHARE = 15 / 19  # of the test file's 7,600 rows: 6,000 and 1,600


def is_ag_news(place: Path) -> bool:
    """Whether at least the test file is there."""
    return _file(place, "test") is not None


def read_ag_news(place: Path) -> tuple[Split, str]:
    """The official split, or the test file split in two; and a note that says which."""
    test = _rows(_file(place, "test"))
    training = _file(place, "train")
    if training is not None:
        return (*_arrays(_rows(training)), *_arrays(test)), ""
    cut = round(len(test) * TRAINING_SHARE)
    note = f"a split of the test file: its first {cut:,} rows for training, the rest for testing"
    return (*_arrays(test[:cut]), *_arrays(test[cut:])), note


def hashed_words(text: str) -> np.ndarray:
    """How often each of 1,024 buckets is hit by a word, scaled to length one.

    Example:
        >>> row = hashed_words("Stocks rise, stocks fall")
        >>> np.flatnonzero(row).tolist(), [round(float(v), 3) for v in row[row > 0]]
        ([5, 70, 780], [0.816, 0.408, 0.408])
    """
    words = WORD.findall(text.lower())
    buckets = [zlib.crc32(word.encode()) % BUCKETS for word in words]
    counts = np.bincount(buckets, minlength=BUCKETS).astype(np.float32)
    return counts / max(float(np.linalg.norm(counts)), 1.0)


def _file(place: Path, part: str) -> Path | None:
    files = (place / f"{part}.csv", place / f"{part}.csv.gz")
    return next((file for file in files if file.is_file()), None)


def _rows(path: Path | None) -> list[list[str]]:
    assert path is not None  # the caller looked
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
    except (OSError, EOFError, UnicodeDecodeError, csv.Error) as error:
        raise bad(path.name, str(error), "a csv file of class, title and text") from None
    for row in rows:
        if len(row) != 3 or row[0] not in ("1", "2", "3", "4"):
            raise bad(path.name, row, "rows of a class from 1 to 4, a title and a text")
    return rows


def _arrays(rows: list[list[str]]) -> tuple[np.ndarray, np.ndarray]:
    """Hashed words (n, 1024), and the classes from 0: World, Sports, Business, Sci/Tech."""
    x = np.stack([hashed_words(f"{title} {text}") for _, title, text in rows])
    return x, np.asarray([int(label) - 1 for label, _, _ in rows], np.int64)
