"""`load`: the one way to a data set, wherever its files are.

First the folder that `DYNASCOPE_DATA` names, then the cache, then the official address.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from functools import lru_cache
from importlib import resources
from pathlib import Path

import numpy as np

from dynascope.core.errors import MissingData, bad, unknown
from dynascope.data import news, pictures, questions, speech
from dynascope.data.downloads import fetch
from dynascope.data.folder import cache, folder, folders, missing, present
from dynascope.data.graph_sets import GRAPH_SETS
from dynascope.data.models import MODELS, model_absence, model_there
from dynascope.data.plain import described, is_plain, read_plain
from dynascope.data.record import DataSet, Split
from dynascope.data.sources import SOURCES, TEXTS, source
from dynascope.data.texts import is_text, text_absence

READERS: dict[str, Callable[[Path], Split]] = {
    "mnist": pictures.read_idx_set,
    "fashion_mnist": pictures.read_idx_set,
    "cifar10": pictures.read_cifar10,
    "cifar100": pictures.read_cifar100,
    "svhn": pictures.read_svhn,
    "usps": pictures.read_usps,
}
FEATURES: dict[str, tuple[str, ...]] = {"fsdd": speech.FEATURES, "ag_news": ("hashed_words",)}


def load(name: str = "digits", *, features: str | None = None, download: bool = True) -> DataSet:
    """A data set as arrays; one copy is kept and shared.

    Args:
        name: "digits" (built in), "mnist", "fashion_mnist", "cifar10", "cifar100", "svhn",
            "usps", "fsdd", "ag_news", or a folder of your own with the four plain arrays.
        features: What a sample becomes where there is a choice: "log_spectrogram" or
            "waveform" for fsdd, "hashed_words" for ag_news. The first is the default.
        download: Whether official files may be fetched if they are nowhere.

    Returns:
        The arrays. `MissingData` says in one line what to do where there are none.

    Example:
        >>> digits = load("digits")
        >>> digits.x_train.shape, digits.x_test.shape, digits.labels[-1]
        ((1297, 8, 8), (500, 8, 8), 9)
    """
    offered = FEATURES.get(name, ())
    if features is not None and features not in offered:
        if not offered:
            raise bad("features", features, f"nothing: {name} is taken as it is")
        raise unknown(f"features of {name}", features, offered)
    place = None if name == "digits" else _place(name, download)
    return _read(name, place, features or (offered[0] if offered else None))


def there(name: str) -> bool:
    """Whether a data set, of arrays, graphs or text, or a model can be read without the network."""
    if name in GRAPH_SETS:
        return any(map(present, GRAPH_SETS[name]))
    if name in TEXTS:
        return any(is_text(place / name) for place in folders())
    if name in MODELS:
        return model_there(name)
    if name == questions.NAME:
        return questions.questions_there()
    return name == "digits" or any(_holds(name, place / name) for place in folders())


def absence(name: str) -> str:
    """What to do about a data set that is not there, in one line."""
    if name in GRAPH_SETS:
        return missing(GRAPH_SETS[name][0])
    if name in TEXTS:
        return text_absence(name)
    if name in MODELS:
        return model_absence(name)
    if name == questions.NAME:
        return questions.questions_absence()
    known = SOURCES.get(name)
    if known is None:
        advice = f"put x_train.npy, y_train.npy, x_test.npy and y_test.npy into {folder() / name}"
    elif known.by_hand:
        advice = f"{known.by_hand}, into {folder()}"
    else:
        files = ", ".join(official.file for official in known.files)
        advice = f'dynascope.data.load("{name}") fetches it, or put {files} into {folder() / name}'
    return f"data set {name} is not there: {advice}"


def _place(name: str, download: bool) -> Path:
    """The folder that holds the files, after fetching them if that is allowed."""
    _check_name(name)
    for place in folders():
        if _holds(name, place / name):
            return place / name
    if name not in SOURCES and difflib.get_close_matches(name, SOURCES, n=1, cutoff=0.6):
        raise unknown("data set", name, SOURCES)
    files = SOURCES[name].files if name in SOURCES else ()
    if not files or not download:
        raise MissingData(absence(name))
    for official in files:
        fetch(official, cache() / name)
    return cache() / name


def _check_name(name: str) -> None:
    if not name or Path(name).name != name:
        raise bad("name", name, "the name of a data set, not a path", "set DYNASCOPE_DATA")
    if name in GRAPH_SETS:
        advice = f'dynascope.graphs.load(dynascope.data.graph_file("{name}")) reads graphs'
        raise bad("name", name, "a data set of arrays", advice)
    if name in TEXTS:
        raise bad("name", name, "a data set of arrays", f'dynascope.data.load_text("{name}")')


def _holds(name: str, place: Path) -> bool:
    return is_plain(place) or _official(name, place)


def _official(name: str, place: Path) -> bool:
    if name == "fsdd":
        return speech.is_fsdd(place)
    if name == "ag_news":
        return news.is_ag_news(place)
    files = SOURCES[name].files if name in SOURCES else ()
    return bool(files) and all((place / official.file).is_file() for official in files)


@lru_cache(maxsize=8)  # every set that is known by name
def _read(name: str, place: Path | None, features: str | None) -> DataSet:
    split, note = _split(name, place, features)
    licence = SOURCES[name].licence if name in SOURCES else "the user's own"
    return DataSet(name, *split, licence, note)


def _split(name: str, place: Path | None, features: str | None) -> tuple[Split, str]:
    """The arrays, and which part of the published set they are."""
    if place is None:
        return _digits(), "UCI optical digits, 8x8, built in; the first 1,297 train"
    if not _official(name, place):
        split = read_plain(place)
        return split, "; ".join(filter(None, (_part(name, split), described(place))))
    if name == "fsdd":
        return speech.read_fsdd(place, features or ""), f"complete, official split; {features}"
    if name == "ag_news":
        split, note = news.read_ag_news(place)
        return split, "; ".join(filter(None, (note or "complete, official split", features)))
    return READERS[name](place), "complete, official files"


def _part(name: str, split: Split) -> str:
    """How many samples lie in the plain layout, and of how many."""
    came = (len(split[0]), len(split[2]))
    text = f"{came[0]:,} + {came[1]:,} samples in the plain layout"
    whole = SOURCES[name].sizes if name in SOURCES else came
    return text if came == whole else f"{text}, a subset of {whole[0]:,} + {whole[1]:,}"


def _digits() -> Split:
    """UCI's optical digits (see digits.md beside this file): 0..16 brought to 0..1."""
    with resources.files("dynascope.data").joinpath("digits.npz").open("rb") as file:
        stored = np.load(file, allow_pickle=False)
        x, y = stored["x"].astype(np.float32) / 16, stored["y"].astype(np.int64)
    cut = source("digits").sizes[0]
    return x[:cut], y[:cut], x[cut:], y[cut:]
