from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import pytest

from dynascope.core.errors import BadInput, StoreError, UnknownName
from dynascope.store import Store
from dynascope.store.manifest import NAME, read_plain

from .samples import PRINT, SPEC, part, study
from .test_arrays import assert_same


def test_the_home_is_the_argument_or_the_environment_or_the_users_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("DYNASCOPE_HOME", str(tmp_path / "chosen"))
    assert Store(tmp_path / "given").home == tmp_path / "given"
    assert Store().home == tmp_path / "chosen"
    monkeypatch.delenv("DYNASCOPE_HOME")
    assert Store().home.name == "dynascope"


def test_an_address_that_is_no_local_folder_is_refused():
    with pytest.raises(BadInput, match="expected a local folder"):
        Store("s3://bucket/results")


def test_looking_makes_no_folder(store):
    assert store.runs() == [] and store.find(PRINT) is None
    assert store.sizes() == {"records": 0, "compiled": 0, "again": 0}
    with pytest.raises(UnknownName, match="Known: none"):
        store.load("0123")
    assert not store.home.exists()


@pytest.mark.parametrize("write", [
    lambda store: store.sink(SPEC, PRINT),
    lambda store: store.put_study(study()),
])  # fmt: skip
def test_a_folder_that_cannot_be_written_is_told_in_one_line(tmp_path, write):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"cannot write .*DYNASCOPE_HOME=") as caught:
        write(Store(tmp_path / "file" / "home"))
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_told_in_one_line(tmp_path):
    (tmp_path / "closed").mkdir(mode=0o500)
    with pytest.raises(StoreError, match="Permission denied"):
        Store(tmp_path / "closed" / "home").sink(SPEC, PRINT)


def test_a_record_is_found_by_the_beginning_of_its_id(store, put):
    put()
    put(fingerprint="01ffffffffffffff")
    assert_same(store.load("012"), part(0, 4))
    with pytest.raises(BadInput, match="could be any of"):
        store.load("01")


def test_runs_lists_the_newest_first_and_filters(store, put):
    put()
    put(fingerprint="f" * 16, study="")
    store.put_study(study())
    assert [e.id for e in store.runs()] == ["fedcba98", "ffffffff", PRINT[:8]]
    assert [e.id for e in store.runs(kind="run")] == ["ffffffff", PRINT[:8]]
    assert [e.id for e in store.runs(study="swing-by")] == ["fedcba98", PRINT[:8]]
    assert all(e.damaged is None and e.size > 300 for e in store.runs())


def harm_manifest(folder):
    path = folder / NAME
    path.write_text(path.read_text()[:40])


def make_newer(folder):
    plain = {**read_plain(folder), "format": 99}
    (folder / NAME).write_text(json.dumps(plain))


def cut_part(folder):
    [path] = folder.glob("merged-*")
    path.write_bytes(path.read_bytes()[:10])


@pytest.mark.parametrize(("harm", "told"), [
    (harm_manifest, "not readable JSON"),
    (make_newer, "format 99"),
    (cut_part, "10 bytes instead of"),
    (lambda f: (f / NAME).unlink(), "there is no manifest.json"),
])  # fmt: skip
def test_a_damaged_record_is_listed_and_harms_no_other(store, put, harm, told):
    put()
    put(fingerprint="f" * 16)
    harm(store.records / PRINT[:8])
    damaged = {e.id: e.damaged for e in store.runs()}
    assert told in damaged[PRINT[:8]] and damaged["ffffffff"] is None
    assert_same(store.load("ffffffff"), part(0, 4))
    with pytest.raises(StoreError, match=told):
        store.load(PRINT[:8])
    assert put().id == (PRINT[:8] + "-2" if harm is cut_part else PRINT[:9])  # makes it anew
    assert store.forget(PRINT[:8]) == PRINT[:8]
    assert PRINT[:8] not in os.listdir(store.records)


def test_forget_removes_one_record_and_its_half_done_recomputation(store, put):
    put()
    put(fingerprint="f" * 16)
    store.sink(SPEC, PRINT, again=True).append(part(0, 1), b"one")
    assert store.sizes()["again"] > 0
    assert store.forget("0123") == PRINT[:8]
    assert os.listdir(store.records) == ["ffffffff"]
    assert store.sizes()["again"] == 0 and store.find(PRINT) is None
    with pytest.raises(UnknownName):
        store.forget("0123")


def test_sizes_are_bytes_on_disk(store, put):
    put()
    (store.home / "compiled").mkdir()
    (store.home / "compiled" / "program").write_bytes(b"x" * 1234)
    sizes = store.sizes()
    assert sizes["compiled"] == 1234
    assert sizes["records"] == sum(p.stat().st_size for p in (store.records).glob("*/*"))


def test_listing_needs_neither_xarray_nor_zarr_nor_jax(store, put):
    put()
    code = (
        "import sys; from dynascope.store import Store; print(len(Store(sys.argv[1]).runs())); "
        "print([m for m in ('jax', 'xarray', 'zarr', 'pandas') if m in sys.modules])"
    )
    command = [sys.executable, "-c", code, str(store.home)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["1", "[]"]


def test_a_thousand_records_are_listed(store, put):
    put()
    text = (store.records / PRINT[:8] / NAME).read_bytes()
    [data] = (store.records / PRINT[:8]).glob("merged-*")
    for n in range(999):
        folder = store.records / f"{n:08x}"
        folder.mkdir()
        (folder / NAME).write_bytes(text)
        os.link(data, folder / data.name)
    begun = time.perf_counter()
    found = store.runs()
    print(f"1,000 records listed in {time.perf_counter() - begun:.3f} s")
    assert len(found) == 1000 and all(e.damaged is None for e in found)
