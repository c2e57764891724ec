"""GSM8K: questions of arithmetic in words, with worked answers that end in "#### number"."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import NamedTuple

from dynascope.core.errors import MissingData, bad
from dynascope.data.downloads import fetch
from dynascope.data.folder import cache, folder, folders
from dynascope.data.sources import Official, Source

_HOME = "https://raw.githubusercontent.com/openai/grade-school-math/master/grade_school_math/data/"
GSM8K = Source("GSM8K", "MIT", (7_473, 1_319), (
    Official("test.jsonl", f"{_HOME}test.jsonl", "sha256:"
             "3730d312f6e3440559ace48831e51066acaca737f6eabec99bccb9e4b3c39d14"),
    Official("train.jsonl", f"{_HOME}train.jsonl", "sha256:"
             "17f347dc51477c50d4efb83959dbb7c56297aba886e5544ee2aaed3024813465"),
))  # fmt: skip
NAME = "gsm8k"


class Question(NamedTuple):
    """A question and its worked answer."""

    question: str
    answer: str


def questions_there() -> bool:
    """Whether both files lie in one of the data folders."""
    return any(_holds(place / NAME) for place in folders())


def questions_absence() -> str:
    """What to do where they do not, in one line."""
    files = ", ".join(official.file for official in GSM8K.files)
    return (
        f"data set {NAME} is not there: dynascope.data.load_questions() fetches it, or put "
        f"{files} into {folder() / NAME}"
    )


def load_questions(part: str = "test", *, download: bool = True) -> tuple[Question, ...]:
    """The questions of one part, "test" or "train".

    Args:
        part: Which one.
        download: Whether official files may be fetched if they are nowhere.

    Returns:
        The questions, in the order of the file.
    """
    if part not in ("test", "train"):
        raise bad("part", part, "test or train")
    place = next((p / NAME for p in folders() if _holds(p / NAME)), None)
    if place is None:
        if not download:
            raise MissingData(questions_absence())
        for official in GSM8K.files:
            fetch(official, cache() / NAME)
        place = cache() / NAME
    packed = place / f"{part}.jsonl.gz"
    if packed.is_file():
        text = gzip.decompress(packed.read_bytes()).decode("utf-8")
    else:
        text = (place / f"{part}.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines() if line.strip()]
    return tuple(Question(row["question"], row["answer"]) for row in rows)


def _holds(place: Path) -> bool:
    names = ("test.jsonl", "train.jsonl")
    return all((place / n).is_file() or (place / f"{n}.gz").is_file() for n in names)
