"""The index saves reading, is never the truth, and can always be made anew."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import shutil
import sqlite3
import sys

import pytest

from dynascope.store import Store, index
from dynascope.store.manifest import NAME
from dynascope.store.remembered import NAME as INDEX

from .samples import PRINT
from .tampering import change


@pytest.fixture
def reads(monkeypatch):
    """The folders whose manifest was read."""
    seen, real = [], index.read_manifest
    monkeypatch.setattr(index, "read_manifest", lambda f: seen.append(f.name) or real(f))
    return seen


def filled(store, put, count=5):
    for number in range(count):
        put(fingerprint=f"{number:08x}" * 2)
    return [e.id for e in store.runs()]


def test_what_has_not_changed_is_not_read_again(store, put, reads):
    ids = filled(store, put)
    reads.clear()
    first = store.runs()
    assert reads == [] and [e.id for e in first] == ids
    change(store.records / ids[2], label="other words")
    assert {e.id: e.label for e in store.runs()}[ids[2]] == "other words" and reads == [ids[2]]
    put(fingerprint="f" * 16)
    reads.clear()
    assert len(store.runs()) == 6 and reads == ["ffffffff"]


def test_it_says_the_same_as_the_manifests(store, put):
    filled(store, put)
    with_index = store.runs()
    (store.home / INDEX).unlink()
    assert store.runs() == with_index and (store.home / INDEX).exists()


def test_files_are_still_looked_at(store, put):
    [id_, *_] = filled(store, put)
    next((store.records / id_).glob("merged-*")).write_bytes(b"short")
    assert "bytes instead of" in {e.id: e.damaged for e in store.runs()}[id_]


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0" + b"\0" * 2000])
def test_an_index_that_cannot_be_read_is_made_anew(store, put, content):
    ids = filled(store, put)
    (store.home / INDEX).write_bytes(content)
    assert [e.id for e in store.runs()] == ids
    assert [e.id for e in store.runs()] == ids


def test_flipped_bytes_in_the_index_never_make_a_wrong_listing_crash(store, put):
    before = filled(store, put)
    data = (store.home / INDEX).read_bytes()
    for place in range(0, len(data), 97):
        (store.home / INDEX).write_bytes(
            data[:place] + bytes([data[place] ^ 255]) + data[place + 1 :]
        )
        assert sorted(e.id for e in store.runs()) == sorted(before)


def test_an_index_with_more_than_our_table_is_not_used(store, put):
    ids = filled(store, put)
    with contextlib.closing(sqlite3.connect(store.home / INDEX)) as base, base:
        base.execute("CREATE VIEW other AS SELECT 1")
        base.execute("UPDATE records SET label = 'forged'")
    assert [e.id for e in store.runs()] == ids
    assert all(e.label != "forged" for e in store.runs())


def test_the_index_of_a_copied_store_says_nothing(store, put, tmp_path):
    filled(store, put)
    with contextlib.closing(sqlite3.connect(store.home / INDEX)) as base, base:
        base.execute("UPDATE records SET label = 'forged'")
    assert any(e.label == "forged" for e in store.runs()), "the control: here it is believed"
    shutil.copytree(store.home, tmp_path / "copy", copy_function=shutil.copy2)
    assert all(e.label != "forged" for e in Store(tmp_path / "copy").runs())


def test_an_index_that_is_a_link_is_left_alone(store, put, tmp_path):
    ids = filled(store, put)
    (tmp_path / "elsewhere").write_bytes(b"precious")
    (store.home / INDEX).unlink()
    (store.home / INDEX).symlink_to(tmp_path / "elsewhere")
    assert [e.id for e in store.runs()] == ids
    assert (tmp_path / "elsewhere").read_bytes() == b"precious"


def test_a_writer_of_the_index_stops_nobody(store, put):
    ids = filled(store, put)
    change(store.records / ids[0], label="new")
    with contextlib.closing(sqlite3.connect(store.home / INDEX)) as base:
        base.execute("BEGIN EXCLUSIVE")
        assert sorted(e.id for e in store.runs()) == sorted(ids)


def listing(home, queue):
    queue.put(sorted(e.id for e in Store(home).runs()))


@pytest.mark.skipif(sys.platform == "win32", reason="forks")
def test_four_processes_list_at_once(store, put):
    ids = sorted(filled(store, put, 12))
    (store.home / INDEX).unlink()
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    crowd = [context.Process(target=listing, args=(store.home, queue)) for _ in range(4)]
    for each in crowd:
        each.start()
    assert [queue.get(timeout=60) for _ in crowd] == [ids] * 4
    for each in crowd:
        each.join()


def test_records_that_are_gone_leave_the_index(store, put):
    ids = filled(store, put)
    store.forget(ids[0])
    assert len(store.runs()) == 4
    with contextlib.closing(sqlite3.connect(store.home / INDEX)) as base:
        assert base.execute("SELECT count(*) FROM records").fetchone() == (4,)


def test_a_store_of_before_the_index_is_read(store, put):
    put()
    assert not (store.home / INDEX).exists()
    assert [e.id for e in store.runs()] == [PRINT[:8]] and store.find(PRINT) == PRINT[:8]


def test_a_folder_that_cannot_be_written_is_listed_all_the_same(store, put):
    put()
    os.chmod(store.home, 0o500)
    try:
        assert [e.id for e in store.runs()] == [PRINT[:8]]
    finally:
        os.chmod(store.home, 0o700)


def test_a_manifest_of_the_same_size_is_seen(store, put):
    put()
    folder = store.records / PRINT[:8]
    store.runs()
    text = (folder / NAME).read_text()
    (folder / NAME).write_text(text.replace('"label": "run"', '"label": "rum"'))
    assert json.loads((folder / NAME).read_text())["label"] == "rum"
    assert [e.label for e in store.runs()] == ["rum"]
