from __future__ import annotations

import json

import pytest

from dynascope.core.errors import BadInput, UnknownName
from dynascope.store import index
from dynascope.store.index import free_id, resolve
from dynascope.store.manifest import NAME, Manifest, write_manifest

from .samples import PRINT, SPEC, small_part, study


@pytest.fixture
def place(tmp_path):
    """Put a folder with a manifest of some fingerprint (none: without a manifest)."""

    def place(name, fingerprint=None):
        (tmp_path / name).mkdir()
        if fingerprint:
            write_manifest(tmp_path / name, Manifest("run", fingerprint, "", {}))

    return place


def test_an_id_is_the_shortest_free_beginning(tmp_path, place):
    fingerprint = "aaaaaaaabbbbcccc"
    assert free_id(tmp_path, fingerprint) == "aaaaaaaa"
    place("aaaaaaaa", "aaaaaaaaffffffff")  # another run that begins alike
    assert free_id(tmp_path, fingerprint) == "aaaaaaaab"
    place("aaaaaaaab", fingerprint)
    assert free_id(tmp_path, fingerprint) == "aaaaaaaab-2"
    place("aaaaaaaab-2", fingerprint)
    assert free_id(tmp_path, fingerprint) == "aaaaaaaab-3"


def test_a_damaged_record_of_the_same_id_is_left_alone(tmp_path, place):
    place("aaaaaaaa")
    assert free_id(tmp_path, "aaaaaaaabbbb") == "aaaaaaaab"
    for n in (9, 10, 11, 12):
        place("aaaaaaaabbbb"[:n])
    assert free_id(tmp_path, "aaaaaaaabbbb") == "aaaaaaaabbbb-2"


def test_a_beginning_means_the_only_id_that_has_it(tmp_path, place):
    for name in ("aaaa1111", "aaaa2222", "aaaa2222-2", "bbbb0000"):
        place(name)
    assert resolve(tmp_path, "b") == "bbbb0000"
    assert resolve(tmp_path, "aaaa2222") == "aaaa2222"
    with pytest.raises(BadInput, match="could be any of aaaa1111, aaaa2222, aaaa2222-2"):
        resolve(tmp_path, "aaaa")
    with pytest.raises(UnknownName, match="did you mean 'bbbb0000'"):
        resolve(tmp_path, "bbbb1")
    with pytest.raises(UnknownName):
        resolve(tmp_path, "")


def test_the_message_stays_one_line_however_many_records_there_are(tmp_path, place):
    for n in range(100):
        place(f"{n:08d}")
    for text in ("ffffffff", "0"):
        with pytest.raises(BadInput) as caught:
            resolve(tmp_path, text)
        assert len(str(caught.value)) < 200


def test_a_record_that_its_writer_finishes_meanwhile_is_not_listed_as_damaged(store, monkeypatch):
    sink = store.sink(SPEC, PRINT)
    sink.append(small_part(0, 2), b"two")
    sink.append(small_part(2, 4), b"four")
    real, seen = index.read_manifest, []

    def finish_after(folder):
        manifest = real(folder)
        if not seen:
            seen.append(manifest.outcome)
            sink.finish({})
        return manifest

    monkeypatch.setattr(index, "read_manifest", finish_after)
    [entry] = store.runs()
    assert seen == ["unfinished"]
    assert (entry.outcome, entry.damaged) == ("finished", None)


def test_last_is_the_newest_record(store):
    ids = []
    for fingerprint in ("a" * 16, "b" * 16):
        sink = store.sink(SPEC, fingerprint)
        sink.append(small_part(0, 2), b"")
        sink.finish({})
        ids.append(sink.id)
    assert resolve(store.records, "last") == ids[-1]
    assert resolve(store.records, "a" * 16) == ids[0]  # its whole fingerprint
    store.forget("last")
    assert resolve(store.records, "last") == ids[0]
    with pytest.raises(UnknownName):
        resolve(store.home / "nothing", "last")


def test_the_name_of_a_study_is_its_newest_result(store):
    store.put_study(study())
    newest = store.put_study(study(0.75, versions={"jax": "2"}))
    sink = store.sink(SPEC, PRINT, "networks", study="swing-by")  # a run of it, and newer
    sink.append(small_part(0, 2), b"")
    sink.finish({})
    assert resolve(store.records, "swing-by") == newest != resolve(store.records, "last")
    with pytest.raises(UnknownName):
        resolve(store.records, "swing")


def test_a_record_belongs_to_the_study_that_its_manifest_names(store):
    """Not to the one that a label begins with, but where records of before say no other."""
    ids = []
    for fingerprint, of in (("a" * 16, ""), ("b" * 16, "balance"), ("c" * 16, "")):
        sink = store.sink(SPEC, fingerprint, "swing-by test", study=of)
        sink.append(small_part(0, 2), b"")
        sink.finish({})
        ids.append(sink.id)
    before = {"study", "part_of"}
    path = store.records / ids[2] / NAME
    plain = {k: v for k, v in json.loads(path.read_text()).items() if k not in before}
    path.write_text(json.dumps(plain))
    for _ in ("read", "remembered"):
        assert {e.id: e.study for e in store.runs()} == dict(zip(ids, ("", "balance", "swing-by")))
        assert [e.id for e in store.runs(study="swing-by")] == [ids[2]]
    manifests = [store.manifest(id_) for id_ in ids]
    assert [m["study"] for m in manifests] == ["", "balance", "swing-by"]
    assert [m["part_of"] for m in manifests] == ["", "", None]
