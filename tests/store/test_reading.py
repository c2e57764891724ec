from __future__ import annotations

import pytest

from dynascope.core.errors import DamagedRecord, StoreError
from dynascope.store import files
from dynascope.store.manifest import Manifest, write_manifest

from .samples import PRINT, SPEC, part
from .test_arrays import assert_same


@pytest.mark.parametrize("harm", [
    lambda data: data[:-1],
    lambda data: data[: len(data) // 2] + b"\x00" + data[len(data) // 2 + 1 :],
    lambda data: b"",
])  # fmt: skip
def test_a_damaged_part_is_found_when_it_is_read(store, put, harm):
    put()
    [path] = (store.records / PRINT[:8]).glob("merged-*")
    path.write_bytes(harm(path.read_bytes()))
    with pytest.raises(DamagedRecord, match=f"record {PRINT[:8]} is damaged"):
        store.load(PRINT[:8])


def test_a_record_that_its_writer_finishes_meanwhile_is_read_all_the_same(store, monkeypatch):
    sink = store.sink(SPEC, PRINT)
    sink.append(part(0, 2), b"two")
    sink.append(part(2, 4), b"four")
    real, seen = files.read, []

    def finish_first(folder, file):
        if not seen:
            seen.append(file.name)
            sink.finish({})
        return real(folder, file)

    monkeypatch.setattr(files, "read", finish_first)
    run = store.load(PRINT[:8])
    assert seen[0].startswith("part-")
    assert_same(run, part(0, 4))


def test_a_record_without_rows_says_so(store):
    folder = store.records / PRINT[:8]
    folder.mkdir(parents=True)
    write_manifest(folder, Manifest("run", PRINT, "", SPEC))
    with pytest.raises(StoreError, match="no rows yet"):
        store.load(PRINT[:8])
