"""AG News: hashed words, and the split when only the test file is there."""

from __future__ import annotations

import csv
import subprocess
import sys

import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.data import load, news


def _write(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows(rows)


def test_words_fall_into_the_same_buckets_in_every_process():
    code = (
        "from dynascope.data.news import hashed_words as h; "
        "print(h('oil prices rise').nonzero()[0].tolist())"
    )
    shown = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert shown == {str(news.hashed_words("Oil PRICES, rise!").nonzero()[0].tolist())}


def test_rows_have_length_one_and_empty_texts_stay_zero():
    assert np.linalg.norm(news.hashed_words("a b a")) == pytest.approx(1)
    assert not news.hashed_words("...").any()


def test_both_files_are_the_official_split(tmp_path):
    _write(tmp_path / "train.csv", [(1, "a", "b"), (4, "c", 'd "quoted", e')])
    _write(tmp_path / "test.csv", [(2, "a", "b")])
    (x, y, _, y_test), note = news.read_ag_news(tmp_path)
    assert x.shape == (2, 1024) and y.tolist() == [0, 3] and y_test.tolist() == [1] and note == ""


def test_the_test_file_alone_is_split_and_says_so(tmp_path):
    _write(tmp_path / "test.csv", [(1 + i % 4, f"title {i}", "text") for i in range(19)])
    (x, y, x_test, _), note = news.read_ag_news(tmp_path)
    assert (len(x), len(x_test)) == (15, 4) and y[:5].tolist() == [0, 1, 2, 3, 0]
    assert "split of the test file" in note and "15 rows" in note


@pytest.mark.parametrize("row", [(5, "a", "b"), (1, "a"), ("x", "a", "b")])
def test_other_rows_are_refused(tmp_path, row):
    _write(tmp_path / "test.csv", [row])
    with pytest.raises(BadInput, match="class from 1 to 4"):
        news.read_ag_news(tmp_path)


def test_the_real_test_file_is_balanced(real):
    real("ag_news")
    data = load("ag_news")
    assert np.bincount(np.concatenate([data.y_train, data.y_test])).tolist() == [1900] * 4
