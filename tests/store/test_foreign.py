"""A record from elsewhere cannot reach outside the store, run code, or ask for the impossible."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os

import numpy as np
import pytest

from dynascope.core.errors import BadInput, DamagedRecord, StoreError
from dynascope.store import Store
from dynascope.store.arrays import pack, unpack
from dynascope.store.lock import Lock
from dynascope.store.manifest import NAME, Manifest, read_manifest
from dynascope.store.reading import read_record

from .samples import PRINT, SPEC, part, small_part, study
from .tampering import (
    OUTSIDE,
    WRONG,
    change,
    change_study,
    manifest,
    pickling_zarr,
    replace_part,
    unzipped,
    zipped,
)


@pytest.fixture
def victim(tmp_path):
    """A file beside the store that no record may touch."""
    path = tmp_path / "victim" / "precious"
    path.parent.mkdir()
    path.write_bytes(b"precious")
    yield path
    assert path.read_bytes() == b"precious" and os.listdir(path.parent) == ["precious"]


@pytest.mark.parametrize("name", [
    OUTSIDE, "../../victim/precious", "/etc/passwd", "..", "", "a/b", "a\\b", "C:x", ".hidden",
    "a\0b", "x" * 300, "manifest.json", 5, None, ["part"],
])  # fmt: skip
def test_a_part_is_a_plain_file_in_the_records_own_folder(store, put, victim, name):
    folder = store.records / put().id
    [file] = manifest(folder)["parts"]
    change(folder, parts=[{**file, "name": name}])
    with pytest.raises(DamagedRecord, match="damaged"):
        store.load(folder.name)
    [entry] = store.runs()
    assert entry.damaged and "\n" not in entry.damaged
    assert store.forget(folder.name) == folder.name


@pytest.mark.parametrize("fingerprint", [OUTSIDE, "../../victim/precious", "", "0123", 5, "g" * 16])
def test_a_fingerprint_is_hexadecimal_digits(store, put, victim, fingerprint):
    folder = store.records / put().id
    change(folder, fingerprint=fingerprint)
    with pytest.raises(DamagedRecord):
        store.load(folder.name)
    store.forget(folder.name)
    assert not folder.exists()


def test_only_hexadecimal_digits_are_written_either(store):
    with pytest.raises(BadInput, match="hexadecimal"):
        store.sink(SPEC, OUTSIDE)
    with pytest.raises(BadInput, match="hexadecimal"):
        store.computation(SPEC, OUTSIDE)
    with pytest.raises(BadInput, match="hexadecimal"):
        store.put_study(dataclasses.replace(study(), fingerprint=OUTSIDE))


def test_folders_whose_name_is_no_id_are_left_alone(store, put):
    put()
    for name in ("notes", "\x1b[2J", "0123", "zzzzzzzz"):
        (store.records / name).mkdir()
    assert [e.id for e in store.runs()] == [PRINT[:8]]


@pytest.mark.parametrize("what", ["part", "manifest", "folder"])
def test_links_are_not_followed(store, put, victim, tmp_path, what):
    folder = store.records / put().id
    path = {"manifest": folder / NAME, "folder": folder}.get(what, next(folder.glob("merged-*")))
    elsewhere = tmp_path / "elsewhere"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    with pytest.raises(DamagedRecord, match="link"):
        store.load(PRINT[:8])
    store.forget(PRINT[:8])
    assert elsewhere.exists() and os.listdir(store.records) == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
def test_a_pipe_in_place_of_a_file_does_not_make_the_reader_wait(store, put):
    folder = store.records / put().id
    (folder / NAME).unlink()
    os.mkfifo(folder / NAME)
    with pytest.raises(DamagedRecord, match="no plain file"):
        store.load(folder.name)


def test_links_where_something_will_be_written_are_not_followed(store, victim):
    sink = store.sink(SPEC, PRINT)
    sink.append(small_part(0, 2), b"two")
    folder = store.records / sink.id
    del sink
    for name in (f".{NAME}.draft", ".part-000003.zarr.zip.draft", ".checkpoint-000004.bin.draft"):
        (folder / name).symlink_to(victim)
    (store.home / "locks" / PRINT).symlink_to(victim)
    sink = store.sink(SPEC, PRINT)
    assert sink.resume() is not None
    sink.append(small_part(2, 4), b"four")
    sink.finish({})
    assert store.load(PRINT[:8]).sizes["step"] == 4


def test_a_lock_that_is_a_link_does_not_empty_what_it_points_to(tmp_path, victim):
    (tmp_path / "lock").symlink_to(victim)
    Lock(tmp_path / "lock").release()


def test_a_recomputation_that_is_a_link_is_not_followed(store, put, victim):
    put()
    (store.home / "again").mkdir()
    (store.home / "again" / PRINT).symlink_to(victim.parent)
    assert put(again=True).agreement.differences == ()
    assert not (store.home / "again" / PRINT).exists()


@pytest.mark.parametrize("field", [f.name for f in dataclasses.fields(Manifest)])
def test_a_mistyped_field_is_one_line(store, put, field):
    folder = store.records / put().id
    before = manifest(folder)
    for value in WRONG:
        change(folder, **{**before, field: value})
        for read in (read_manifest, read_record):
            try:
                read(folder)
            except StoreError as error:
                assert "\n" not in str(error) and len(str(error)) < 400
        [entry] = store.runs()
        assert entry.damaged is None or "\n" not in entry.damaged


@pytest.mark.parametrize("depth", [65, 900, 200_000])
@pytest.mark.parametrize("field", ["spec", "attrs", "layout"])
def test_deep_nesting_is_one_line(store, put, field, depth):
    folder = store.records / put().id
    text = (folder / NAME).read_text()
    plain = json.loads(text)
    deep = '{"a":' * depth + "1" + "}" * depth
    (folder / NAME).write_text(json.dumps({**plain, field: "HERE"}).replace('"HERE"', deep))
    with pytest.raises(DamagedRecord, match="nested"):
        store.load(folder.name)


@pytest.fixture
def unpickling(monkeypatch):
    """numcodecs as it was before it refused to unpickle by itself."""
    import numcodecs.pickles

    monkeypatch.setattr(numcodecs.pickles, "ALLOW_UNSAFE_PICKLE_DECODE", True, raising=False)


def test_a_stored_array_cannot_unpickle(store, put, tmp_path, unpickling):
    folder = store.records / put().id
    replace_part(folder, pickling_zarr(tmp_path / "ran"))
    with pytest.raises(DamagedRecord):
        store.load(folder.name)
    assert not (tmp_path / "ran").exists()


def test_the_pickling_array_would_run_without_the_check(tmp_path, unpickling):
    """The control: zarr itself does unpickle it."""
    import zarr
    from zarr.buffer.cpu import Buffer
    from zarr.storage import MemoryStore

    files = unzipped(pickling_zarr(tmp_path / "ran"))
    group = zarr.open_group(MemoryStore({k: Buffer.from_bytes(v) for k, v in files.items()}))
    with contextlib.suppress(Exception):  # what was unpickled is no text
        group["loss"][...]
    assert (tmp_path / "ran").exists()


@pytest.mark.parametrize(("key", "value"), [
    ("shape", [10**12]), ("shape", ["x"]), ("codecs", [{"name": "numcodecs.pickle"}]),
    ("codecs", 5), ("data_type", "object"), ("data_type", {"name": "x"}), ("zarr_format", 2),
    ("node_type", "other"), ("chunk_grid", None), ("shape", [-1]),
])  # fmt: skip
def test_an_array_that_cannot_be_ours_is_damage(store, put, key, value):
    folder = store.records / put().id
    [file] = manifest(folder)["parts"]
    members = unzipped((folder / file["name"]).read_bytes())
    about = json.loads(members["loss/zarr.json"])
    members["loss/zarr.json"] = json.dumps({**about, key: value}).encode()
    replace_part(folder, zipped(members))
    with pytest.raises(DamagedRecord) as caught:
        store.load(folder.name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("data", [b"", b"PK", b"\0" * 100, zipped({"../../evil": b""}),
                                  zipped({"zarr.json": b"[" * 100_000})])  # fmt: skip
def test_bytes_that_are_no_dataset_are_damage(store, put, data):
    folder = store.records / put().id
    replace_part(folder, data)
    with pytest.raises(DamagedRecord):
        store.load(folder.name)


def test_a_part_that_unpacks_to_more_than_there_is_is_refused(store, put, monkeypatch):
    folder = store.records / put().id
    monkeypatch.setenv("DYNASCOPE_MEMORY", "1K")
    with pytest.raises(DamagedRecord, match="bytes of memory"):
        store.load(folder.name)


def test_what_we_write_ourselves_passes(store, put):
    assert unpack(pack(part(0, 4))).identical(part(0, 4))
    assert store.load(put().id).identical(part(0, 4).assign_attrs(store.load(PRINT[:8]).attrs))


@pytest.mark.parametrize("data", [b"", b"PK\3\4", zipped({"tree.json": b"{}"}),
                                  zipped({"tree.json": b"[" * 100_000}),
                                  zipped({"tree.json": b'{"array": 0}'}),
                                  zipped({"tree.json": b"5", "../x.npy": b""})])  # fmt: skip
def test_an_item_of_a_computation_that_is_odd_is_damage(store, data):
    from dynascope.core.encoding import decode, encode

    sink = store.computation(SPEC, PRINT)
    sink.append(encode(np.arange(3)), 0.1)
    folder = store.records / sink.finish({})
    replace_part(folder, data)
    with pytest.raises(StoreError) as caught:
        store.load(folder.name)
        decode(store.items(folder.name)[0], float)
    assert "\n" not in str(caught.value)


def test_a_study_that_is_odd_is_damage_in_one_line(store):
    id_ = store.put_study(study())
    folder = store.records / id_
    [file] = manifest(folder)["parts"]
    good = json.loads((folder / file["name"]).read_text())
    for path in (*good, "claims.0", "claims.0.measured", "charts.0", "charts.0.panels.0",
                 "charts.0.panels.0.marks.0", "charts.0.panels.0.marks.0.x"):  # fmt: skip
        for value in WRONG:
            change_study(folder, lambda _: placed(good, path.split("."), value))  # noqa: B023
            try:
                store.load(id_)
            except StoreError as error:
                assert "\n" not in str(error) and len(str(error)) < 500


def placed(plain, path, value):
    """A copy with another value at a path."""
    copy = json.loads(json.dumps(plain))
    node = copy
    for key in path[:-1]:
        node = node[int(key) if isinstance(node, list) else key]
    node[int(path[-1]) if isinstance(node, list) else path[-1]] = value
    return copy


@pytest.mark.parametrize("name", [OUTSIDE, "/etc/passwd", "", ".", "..", "a\\b", "a\0"])
def test_a_chart_has_the_name_of_a_file(store, name):
    id_ = store.put_study(study())

    def rename(plain):
        plain["charts"][0]["name"] = name

    change_study(store.records / id_, rename)
    with pytest.raises(DamagedRecord, match=r"chart\.name"):
        store.load(id_)


def test_another_store_has_nothing_to_do_with_it(tmp_path, put):
    put()
    assert Store(tmp_path / "other").runs() == []
