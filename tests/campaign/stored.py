"""A small results folder with every kind of record, made once for a field."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

from dynascope.core.encoding import encode
from dynascope.store import Store
from store.samples import SPEC, part, study

TESTS = Path(__file__).parents[1]
SWEEP = ("sweep", "--over", "model.init_scale=0.1,0.2", "--over", "model.width=2,3", "--seeds", "4",
         "--steps", "30000", "--set", "record.points=300")  # fmt: skip


def fill(home: Path) -> Store:
    """A finished run, an unfinished one with its checkpoint, a computation, a study."""
    store = Store(home)
    sink = store.sink(SPEC, "a" * 16, label="swing-by run")
    sink.append(part(0, 2), b"two")
    sink.append(part(2, 4), b"four")
    sink.finish({"outcome": "finished", "versions": {}, "seconds": 1.0})
    open_ = store.sink(SPEC, "b" * 16, label="swing-by half")
    open_.append(part(0, 2), b"two")
    del open_
    done = store.computation(SPEC, "c" * 16, label="swing-by: c")
    done.append(encode({"a": np.arange(5.0), "b": "text"}), 0.1)
    done.finish({})
    store.put_study(study())
    store.runs()  # the index
    return store


class Filled:
    """A field whose cases each get a fresh copy of that folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __enter__(self):
        store = fill(self.folder / "whole")
        self.whole = store.home
        self.content = {e.id: told(store, e.id) for e in store.runs()}
        return self

    def __exit__(self, *_):
        pass

    def copy(self) -> Path:
        home = self.folder / "case"
        shutil.rmtree(home, ignore_errors=True)
        shutil.copytree(self.whole, home)
        return home


def told(store: Store, id_: str) -> str:
    """The content of a record as text, its checkpoint included."""
    content, manifest = store.load(id_), store.manifest(id_)
    if manifest["checkpoint"]:
        sink = store.sink(manifest["spec"], manifest["fingerprint"])
        saved = sink.resume()
        return f"{saved and saved.part.to_dict()} {saved and saved.checkpoint!r}"
    return str(content.to_dict() if hasattr(content, "to_dict") else content)


def environment(home: Path, **more: str) -> dict[str, str]:
    return {**os.environ, "DYNASCOPE_HOME": str(home), "PYTHONWARNINGS": "ignore", **more}


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "dynascope", *words]


def run(home: Path, *words: str) -> subprocess.CompletedProcess:
    return subprocess.run(command(*words), env=environment(home), capture_output=True, text=True,
                          check=False, timeout=300)  # fmt: skip
