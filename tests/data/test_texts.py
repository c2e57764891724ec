"""Texts: splits, compressed parts, and what is said where there is none."""

from __future__ import annotations

import gzip

import pytest

from dynascope.core.errors import BadInput, MissingData
from dynascope.data import absence, load, load_text, there


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("DYNASCOPE_DATA", str(tmp_path))
    return tmp_path


def test_a_text_of_ones_own_is_cut_at_nine_tenths(folder):
    (folder / "own").mkdir()
    (folder / "own" / "book.txt").write_bytes(b"abcdefghij" * 10)
    text = load_text("own")
    assert text.train + text.test == b"abcdefghij" * 10 and len(text.test) == 10
    assert text.licence == "the user's own" and "last tenth" in text.note


def test_files_of_a_split_stay_apart(folder):
    (folder / "parts").mkdir()
    (folder / "parts" / "valid.txt.gz").write_bytes(gzip.compress(b"learn this"))
    (folder / "parts" / "test.txt").write_bytes(b"not this")
    text = load_text("parts")
    assert (text.train, text.test) == (b"learn this", b"not this")


def test_what_is_not_there_is_said_in_one_line(folder):
    assert not there("tinyshakespeare")
    assert "tinyshakespeare is not there" in absence("tinyshakespeare")
    with pytest.raises(MissingData, match=r"is not there: .*fetches it, or put input\.txt into"):
        load_text("tinyshakespeare", download=False)
    with pytest.raises(MissingData, match="wikitext103 is not there: get WikiText-103"):
        load_text("wikitext103")
    with pytest.raises(BadInput, match="not a path"):
        load_text("../x")
    with pytest.raises(BadInput, match="load_text"):
        load("tinyshakespeare")


def test_the_real_texts(real):
    """Sizes and letters as published."""
    real("tinyshakespeare")
    text = load_text("tinyshakespeare")
    assert len(text.train) + len(text.test) == 1_115_394
    assert len(set(text.train)) == 65 and text.licence == "public domain"
    real("wikitext2_valid_test")
    assert len(load_text("wikitext2_valid_test").train) == 1_121_681
