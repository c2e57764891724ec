"""The command line in this process, a tiny study, and a results folder that holds it."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
from typing import NamedTuple

import pytest

from dynascope.cli import main


class Answer(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


def call(*words: str) -> Answer:
    """Run `dynascope WORDS` in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(word) for word in words])
    return Answer(code, out.getvalue(), err.getvalue())


@pytest.fixture(scope="session")
def cli():
    return call


@contextlib.contextmanager
def _known():
    """The tiny study in the registry, and out of it again for everybody else's tests."""
    from dynascope.studies import studies

    from .tiny import tiny

    before = tiny.name in studies
    studies.add(tiny.name, tiny)
    try:
        yield tiny
    finally:
        if not before:
            del studies._things[tiny.name]


@pytest.fixture(scope="module")
def tiny():
    """The tiny study, known to the registry while a module's tests run."""
    with _known() as study:
        yield study


@pytest.fixture(scope="session")
def filled(tmp_path_factory):
    """A results folder with the tiny study at smoke scale and a sweep; not to be changed."""
    folder = tmp_path_factory.mktemp("filled")
    with _home(folder), _known():
        first = call("run", "tiny", "--scale", "smoke")
        second = call("sweep", "--over", "model.init_scale=0.1,0.2", "--steps", "40",
                      "--seeds", "2", "--set", "record.points=5")  # fmt: skip
    assert first.code == second.code == 0, first.err + second.err
    return folder, first, second


@contextlib.contextmanager
def _home(folder):
    before = os.environ["DYNASCOPE_HOME"]
    os.environ["DYNASCOPE_HOME"] = str(folder)
    try:
        yield
    finally:
        os.environ["DYNASCOPE_HOME"] = before


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty results folder of the test's own."""
    folder = tmp_path / "home"
    monkeypatch.setenv("DYNASCOPE_HOME", str(folder))
    return folder


@pytest.fixture
def full(filled, home):
    """The test's own copy of the filled results folder."""
    shutil.copytree(filled[0], home)
    return home


@pytest.fixture
def ids(full):
    """The id of the stored study, of its runs and of the sweep."""
    from dynascope.store import Store

    entries = Store().runs()
    found = {e.label: e.id for e in entries}
    return {
        "study": found["tiny smoke"],
        "fast": found["tiny: rates, fast"],
        "sweep": found["sweep model.init_scale"],
    }
