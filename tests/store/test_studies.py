from __future__ import annotations

import os

import pytest

from dynascope.core.errors import DamagedRecord, FingerprintConflict

from .samples import PRINT, study

NAME = "fedcba98"


def test_a_study_comes_back_equal(store):
    assert store.put_study(study()) == NAME
    assert store.load(NAME) == study()
    assert store.find(study().fingerprint) == NAME
    [entry] = store.runs(kind="study")
    assert (entry.label, entry.outcome, entry.seconds) == ("swing-by smoke", "finished", 2.0)


def test_the_same_result_is_kept_once_whatever_time_it_took(store):
    store.put_study(study())
    before = store.manifest(NAME)
    assert store.put_study(study(seconds=99.0)) == NAME
    assert store.manifest(NAME) == before and len(store.runs()) == 1


def test_another_result_of_the_same_versions_is_a_conflict(store):
    store.put_study(study())
    with pytest.raises(FingerprintConflict, match=r"in claims\[0\].measured.value"):
        store.put_study(study(value=0.75))
    assert store.load(NAME) == study() and len(store.runs()) == 1


def test_other_versions_stand_beside(store):
    store.put_study(study())
    assert store.put_study(study(0.75, versions={"jax": "2"})) == f"{NAME}-2"
    compared = store.manifest(f"{NAME}-2")["compared"]
    assert (compared["with"], compared["within"]) == (NAME, False)
    assert len(store.runs(study="swing-by")) == 2


def test_a_run_of_the_same_fingerprint_is_nothing_to_compare_with(store, put):
    put(fingerprint=study().fingerprint)
    assert store.put_study(study()) == f"{NAME}-2"
    assert put(fingerprint=PRINT).id == PRINT[:8]


def test_damage_is_found(store):
    store.put_study(study())
    path = store.records / NAME / "study.json"
    path.write_text(path.read_text().replace("0.5", "0.6"))
    with pytest.raises(DamagedRecord, match="checksum"):
        store.load(NAME)
    assert store.put_study(study()) == f"{NAME}-2"


def test_a_study_leaves_nothing_but_its_record(store):
    store.put_study(study())
    assert os.listdir(store.records) == [NAME]
    assert os.listdir(store.home / "locks") == []
