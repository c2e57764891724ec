from __future__ import annotations

import os

import pytest

from dynascope.core.errors import FingerprintConflict

from .samples import PRINT, SPEC, VERSIONS, part
from .test_arrays import assert_same

NEWER = {**VERSIONS, "jax": "1.0"}


def test_the_same_bits_keep_the_stored_record_and_say_so(store, put):
    put()
    before = store.manifest(PRINT[:8])
    sink = put(again=True)
    assert sink.id == PRINT[:8]
    assert str(sink.agreement) == f"agrees bit for bit with {PRINT[:8]}"
    assert store.manifest(PRINT[:8]) == before
    assert os.listdir(store.home / "again") == []


def test_other_bits_of_the_same_versions_are_a_conflict_that_changes_nothing(store, put):
    put()
    with pytest.raises(FingerprintConflict, match=r"largest difference 0.25 in loss") as caught:
        put(again=True, shift=0.25)
    assert "\n" not in str(caught.value)
    assert_same(store.load(PRINT[:8]), part(0, 4))
    assert [e.id for e in store.runs()] == [PRINT[:8]]
    assert os.listdir(store.home / "again") == []


def test_a_single_bit_is_a_conflict(store, put):
    put()
    sink = store.sink(SPEC, PRINT, again=True)
    nudged = part(0, 4)
    nudged["loss"].values[1, 3] *= 1 + 2**-52
    sink.append(nudged, b"")
    with pytest.raises(FingerprintConflict, match="in loss"):
        sink.finish({"versions": VERSIONS})


def test_one_row_less_is_a_conflict(store, put):
    put()
    sink = store.sink(SPEC, PRINT, again=True)
    sink.append(part(0, 3), b"")
    with pytest.raises(FingerprintConflict, match="difference inf"):
        sink.finish({"versions": VERSIONS})


def test_without_again_a_stored_run_is_compared_just_the_same(store, put):
    put()
    assert put().agreement.same_origin
    with pytest.raises(FingerprintConflict):
        put(shift=1.0)


@pytest.mark.parametrize(("shift", "within"), [(0.0, True), (1e-9, True), (0.25, False)])
def test_other_versions_stand_beside_with_the_comparison(store, put, shift, within):
    put()
    sink = put(again=True, shift=shift, versions=NEWER)
    assert sink.id == f"{PRINT[:8]}-2" == store.find(PRINT)
    compared = store.manifest(sink.id)["compared"]
    assert (compared["with"], compared["within"]) == (PRINT[:8], within)
    if shift:
        [found] = compared["differences"]
        assert found["variable"] == "loss"
        assert found["largest"] == pytest.approx(shift)
    assert_same(store.load(PRINT[:8]), part(0, 4))
    assert_same(store.load(sink.id), part(0, 4, shift))


def test_each_origin_has_its_own_record_to_agree_with(store, put):
    put()
    put(again=True, shift=1e-9, versions=NEWER)
    assert put(again=True).agreement.id == PRINT[:8]
    assert put(again=True, shift=1e-9, versions=NEWER).agreement.id == f"{PRINT[:8]}-2"
    with pytest.raises(FingerprintConflict, match=f"record {PRINT[:8]}-2"):
        put(again=True, versions=NEWER)
    assert put(again=True, versions={"jax": "2"}).id == f"{PRINT[:8]}-3"


def test_a_damaged_record_cannot_forbid_a_new_one(store, put):
    put()
    [path] = (store.records / PRINT[:8]).glob("merged-*")
    path.write_bytes(b"")
    sink = put(again=True)
    assert (sink.id, sink.agreement) == (f"{PRINT[:8]}-2", None)
    assert_same(store.load(store.find(PRINT)), part(0, 4))


def test_an_interrupted_recomputation_goes_on_and_is_no_record(store, put):
    put()
    sink = store.sink(SPEC, PRINT, again=True)
    sink.append(part(0, 2), b"two")
    sink.finish({"outcome": "interrupted"})
    assert [e.id for e in store.runs()] == [PRINT[:8]] and sink.id is None
    sink = store.sink(SPEC, PRINT, again=True)
    assert sink.resume().checkpoint == b"two"
    sink.append(part(2, 4), b"four")
    sink.finish({"versions": VERSIONS})
    assert sink.agreement.id == PRINT[:8] and not sink.agreement.differences


def test_an_unreadable_leftover_of_a_recomputation_is_no_obstacle(store, put):
    put()
    folder = store.home / "again" / PRINT
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text("{")
    assert put(again=True).agreement.id == PRINT[:8]
