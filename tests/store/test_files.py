from __future__ import annotations

import errno
import os
import stat

import pytest

from dynascope.core.errors import DamagedRecord, StoreError
from dynascope.store import files


def test_a_file_is_read_back_with_its_size_and_checksum(tmp_path):
    file = files.write(tmp_path, "a.bin", b"abc", rows=2)
    assert (file.name, file.bytes, file.rows) == ("a.bin", 3, 2)
    assert file.sha256.startswith("ba7816bf")  # NIST's test vector for "abc"
    assert files.read(tmp_path, file) == b"abc"
    assert os.listdir(tmp_path) == ["a.bin"]


@pytest.mark.parametrize(("harm", "told"), [
    (lambda p: p.write_bytes(b"ab"), "2 bytes instead of 3"),
    (lambda p: p.write_bytes(b"abd"), "checksum"),
    (lambda p: p.unlink(), "missing"),
])  # fmt: skip
def test_a_file_that_changed_is_told_in_one_line(tmp_path, harm, told):
    file = files.write(tmp_path, "a.bin", b"abc")
    harm(tmp_path / "a.bin")
    with pytest.raises(DamagedRecord, match=told) as caught:
        files.read(tmp_path, file)
    assert "\n" not in str(caught.value) and "forget" in str(caught.value)


def test_the_bytes_reach_the_disk_before_the_name_and_the_name_before_the_return(
    tmp_path, monkeypatch
):
    order, replace = [], os.replace
    kinds = {True: "folder", False: "bytes"}
    monkeypatch.setattr(
        os, "fsync", lambda fd: order.append(kinds[stat.S_ISDIR(os.fstat(fd).st_mode)])
    )
    monkeypatch.setattr(os, "replace", lambda *a: order.append("name") or replace(*a))
    files.write(tmp_path, "a.bin", b"abc")
    assert order == ["bytes", "name", "folder"]


@pytest.mark.parametrize("function", ["fsync", "replace"])
def test_a_failed_write_keeps_the_old_file_and_leaves_no_draft(tmp_path, monkeypatch, function):
    files.write(tmp_path, "a.bin", b"old")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, function, full)
    with pytest.raises(StoreError, match=r"a.bin: No space left on device; .*DYNASCOPE_HOME"):
        files.write(tmp_path, "a.bin", b"new")
    assert os.listdir(tmp_path) == ["a.bin"]
    assert (tmp_path / "a.bin").read_bytes() == b"old"


def test_what_an_interrupted_removal_left_goes_with_the_next(tmp_path):
    for name in ("a", ".trash-before"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").touch()
    files.discard(tmp_path / "a")
    assert os.listdir(tmp_path) == []
