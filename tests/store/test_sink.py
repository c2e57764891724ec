from __future__ import annotations

import errno
import json
import os

import pytest

from dynascope.core.attributes import as_text, as_values
from dynascope.core.errors import BadInput, DamagedRecord, StoreError
from dynascope.store import merge

from .samples import PRINT, SPEC, part, small_part
from .test_arrays import assert_same


def test_a_new_run_has_nothing_to_resume_and_leaves_no_record_before_its_first_rows(store):
    sink = store.sink(SPEC, PRINT)
    assert sink.resume() is None
    sink.finish({"outcome": "interrupted"})
    assert store.runs() == [] and sink.id is None


def test_a_finished_run_is_all_that_was_appended(store, put):
    sink = put()
    run = store.load(sink.id)
    assert_same(run, part(0, 4))
    assert run["diverged"].values.tolist() == [-1, 4]  # the newest part's
    assert sink.id == PRINT[:8] == store.find(PRINT)


def test_attributes_come_back_nested_as_text(store):
    attrs = {"outcome": "finished", "spec": SPEC, "versions": {"jax": "1"}, "seed": 3, "none": None}
    sink = store.sink(SPEC, PRINT)
    sink.append(part(0, 2).assign_attrs(early=[1, 2]), b"")
    sink.finish(attrs)
    loaded = store.load(sink.id).attrs
    assert {**loaded, "early": json.loads(loaded["early"])} == {"early": [1, 2], **as_text(attrs)}
    assert as_values(loaded)["spec"] == SPEC


def test_a_finished_record_is_two_files_and_no_checkpoint(store, put):
    sink = put()
    assert sink.agreement is None
    assert sorted(p.name.split("-")[0] for p in (store.records / PRINT[:8]).iterdir()) == [
        "manifest.json",
        "merged",
    ]
    assert store.manifest(PRINT[:8])["checkpoint"] is None
    assert os.listdir(store.home / "locks") == []


def test_an_interrupted_run_is_readable_and_goes_on(store):
    first = store.sink(SPEC, PRINT)
    first.append(part(0, 3), b"three")
    first.finish({"outcome": "interrupted", "note": "Ctrl-C"})
    assert store.find(PRINT) is None
    partial = store.load(PRINT[:8])
    assert_same(partial, part(0, 3))
    assert partial.attrs == {"outcome": "interrupted", "note": "Ctrl-C"}

    second = store.sink(SPEC, PRINT)
    saved = second.resume()
    assert saved.checkpoint == b"three"
    assert_same(saved.part, part(0, 3))
    second.append(part(3, 4), b"four")
    second.finish({"outcome": "finished"})
    assert_same(store.load(PRINT[:8]), part(0, 4))
    assert [s["from_row"] for s in store.manifest(PRINT[:8])["sessions"]] == [0, 3]
    assert [e.outcome for e in store.runs()] == ["finished"]


def test_a_run_abandoned_by_an_exception_is_unfinished_and_can_be_taken_over(store):
    first = store.sink(SPEC, PRINT)
    first.append(part(0, 2), b"two")
    assert store.load(PRINT[:8]).attrs == {"outcome": "unfinished"}
    second = store.sink(SPEC, PRINT)
    assert second.resume().checkpoint == b"two"
    with pytest.raises(StoreError, match="taken over"):
        first.append(part(2, 4), b"four")
    second.append(part(2, 4), b"four")
    second.finish({})
    assert_same(store.load(PRINT[:8]), part(0, 4))


def test_who_does_not_resume_starts_over_and_replaces_the_rows_in_one_move(store):
    first = store.sink(SPEC, PRINT)
    first.append(part(0, 2), b"two")
    second = store.sink(SPEC, PRINT)
    second.append(part(0, 1), b"one")
    assert_same(store.load(PRINT[:8]), part(0, 1))
    assert len(os.listdir(store.records / PRINT[:8])) == 3  # manifest, part, checkpoint


def test_again_resumes_only_what_again_began(store):
    plain = store.sink(SPEC, PRINT)
    plain.append(part(0, 2), b"two")
    fresh = store.sink(SPEC, PRINT, again=True)
    assert fresh.resume() is None
    fresh.append(part(0, 1), b"one")
    assert store.sink(SPEC, PRINT, again=True).resume().checkpoint == b"one"


def test_an_append_writes_only_what_is_new(store, monkeypatch):
    from dynascope.store import files

    written = []
    real = files.write

    def count(folder, name, data, rows=0):
        written.append((name.split("-")[0], len(data)))
        return real(folder, name, data, rows)

    monkeypatch.setattr(files, "write", count)
    sink = store.sink(SPEC, PRINT)
    for i in range(20):
        sink.append(small_part(10 * i, 10 * i + 10), b"state")
    sizes = [n for name, n in written if name == "part"]
    assert len(sizes) == 20 and max(sizes) < 1.1 * min(sizes)
    assert sum(1 for name, _ in written if name == "merged") == 0


def test_many_parts_are_merged_on_the_way_and_read_back_the_same(store, monkeypatch):
    monkeypatch.setattr(merge, "_MANY", 4)
    sink = store.sink(SPEC, PRINT)
    for i in range(10):
        sink.append(small_part(i, i + 1), str(i).encode())
    kinds = [p["name"].split("-")[0] for p in store.manifest(PRINT[:8])["parts"]]
    assert kinds == ["merged", "merged", "part", "part"]
    assert_same(store.load(PRINT[:8]), small_part(0, 10))
    assert store.sink(SPEC, PRINT).resume().checkpoint == b"9"


def test_finishing_removes_what_earlier_kills_left_behind(store, put):
    store.sink(SPEC, PRINT).append(part(0, 2), b"two")
    folder = store.records / PRINT[:8]
    for name in ("part-000009.zarr.zip", ".manifest.json.draft"):
        (folder / name).touch()
    put()
    assert len(os.listdir(folder)) == 2


@pytest.mark.parametrize("failing", [1, 2, 3])  # the part, the checkpoint, the manifest
def test_a_disk_that_fills_up_during_an_append_loses_no_earlier_row(store, monkeypatch, failing):
    sink = store.sink(SPEC, PRINT)
    sink.append(part(0, 2), b"two")
    with monkeypatch.context() as patch:
        fill_disk(patch, failing)
        with pytest.raises(StoreError, match="No space left on device; what was recorded") as told:
            sink.append(part(2, 4), b"four")
    assert "\n" not in str(told.value)
    assert_same(store.load(PRINT[:8]), part(0, 2))
    resumed = store.sink(SPEC, PRINT)
    assert resumed.resume().checkpoint == b"two"
    resumed.append(part(2, 4), b"four")
    resumed.finish({})
    assert_same(store.load(PRINT[:8]), part(0, 4))


@pytest.mark.parametrize("failing", [1, 2])  # the merged part, the manifest
def test_a_disk_that_fills_up_at_the_end_loses_no_row(store, monkeypatch, failing):
    sink = store.sink(SPEC, PRINT)
    sink.append(part(0, 2), b"two")
    sink.append(part(2, 4), b"four")
    with monkeypatch.context() as patch:
        fill_disk(patch, failing)
        with pytest.raises(StoreError, match="No space left on device"):
            sink.finish({})
    resumed = store.sink(SPEC, PRINT)
    assert_same(resumed.resume().part, part(0, 4))
    resumed.finish({})
    assert_same(store.load(store.find(PRINT)), part(0, 4))


def fill_disk(monkeypatch, failing):
    """Refuse the n-th file from now on, and all after it."""
    calls, real = [], os.replace

    def replace(*args):
        calls.append(args)
        if len(calls) >= failing:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(*args)

    monkeypatch.setattr(os, "replace", replace)


def test_a_part_without_rows_moves_the_checkpoint_alone(store):
    sink = store.sink(SPEC, PRINT)
    sink.append(part(0, 0), b"start")
    sink.append(part(0, 2), b"two")
    sink.append(part(2, 2), b"later")
    sink.finish({"outcome": "interrupted"})
    saved = store.sink(SPEC, PRINT).resume()
    assert saved.checkpoint == b"later"
    assert_same(saved.part, part(0, 2))


def test_bad_parts_and_outcomes_are_refused_and_change_nothing(store):
    sink = store.sink(SPEC, PRINT)
    with pytest.raises(StoreError, match="without any rows"):
        store.sink(SPEC, "f" * 16).finish({})
    sink = store.sink(SPEC, PRINT)
    sink.append(part(0, 2), b"two")
    with pytest.raises(BadInput, match="earlier parts"):
        sink.append(part(2, 4).drop_vars("loss"), b"four")
    with pytest.raises(BadInput, match="attrs: got"):
        sink.append(part(2, 4).assign_attrs(odd=object()), b"four")
    with pytest.raises(BadInput, match="outcome: got 'done'"):
        sink.finish({"outcome": "done"})
    sink.append(part(2, 4), b"four")
    sink.finish({})
    assert_same(store.load(PRINT[:8]), part(0, 4))


def test_a_damaged_part_is_not_resumed(store):
    store.sink(SPEC, PRINT).append(part(0, 2), b"two")
    [path] = (store.records / PRINT[:8]).glob("part-*")
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(DamagedRecord, match="bytes instead of"):
        store.sink(SPEC, PRINT).resume()


def test_seconds_add_up_over_sessions_or_follow_the_run(store):
    sink = store.sink(SPEC, PRINT)
    sink.append(part(0, 2), b"")
    sink.finish({"seconds": 1000.0})  # computed before the sink was opened
    [entry] = store.runs()
    assert entry.seconds == 1000.0


@pytest.mark.parametrize("fingerprint", ["", "0123", "xyzxyzxyz", "../../etc", "0123ABCD"])
def test_a_fingerprint_is_hexadecimal(store, fingerprint):
    with pytest.raises(BadInput, match="eight hexadecimal digits"):
        store.sink(SPEC, fingerprint)
