from __future__ import annotations

import os

import pytest

from dynascope.store import Store

from .samples import PRINT, SPEC, VERSIONS, part


@pytest.fixture(autouse=True)
def quick_disk(monkeypatch):
    """Waiting for the disk guards against power cuts, which no test makes; `test_files` sees
    that it is done and when."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "home")


@pytest.fixture
def put(store):
    """Store a finished run of four rows, in two parts, and return its sink."""

    def put(
        fingerprint=PRINT, shift=0.0, versions=VERSIONS, again=False, label="run", study="swing-by"
    ):
        sink = store.sink(SPEC, fingerprint, label=label, again=again, study=study)
        sink.append(part(0, 2, shift), b"two")
        sink.append(part(2, 4, shift), b"four")
        sink.finish({"outcome": "finished", "versions": versions})
        return sink

    return put
