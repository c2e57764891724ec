from __future__ import annotations

import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.graphs import read_values


@pytest.mark.parametrize(
    ("name", "text", "expected", "kind"),
    [
        ("v.txt", "1\n2\n3\n", [1, 2, 3], "i"),
        ("v.txt", "1\n2.5\n3\n", [1.0, 2.5, 3.0], "f"),
        ("v.txt", "red\nblue\n3\n", ["red", "blue", "3"], "U"),
        ("v.csv", "label\nred\nblue\nred\n", ["red", "blue", "red"], "U"),
        ("v.csv", "a,b\n1,2\n3,4\n5,6\n", [[1, 2], [3, 4], [5, 6]], "i"),
        ("v.txt", "New York\nParis\nRome\n", ["New York", "Paris", "Rome"], "U"),
    ],
)
def test_numbers_stay_numbers_and_text_stays_text(tmp_path, name, text, expected, kind):
    (tmp_path / name).write_text(text)
    values = read_values(tmp_path / name, 3)
    assert values.tolist() == expected and values.dtype.kind == kind


def test_arrays_come_back_as_saved(tmp_path):
    np.save(tmp_path / "v.npy", np.array([1.5, 2.5]))
    assert read_values(tmp_path / "v.npy", 2).tolist() == [1.5, 2.5]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\n2\n", "2 values.*3, one for each node"),
        ("1\n2\n3\n4\n", "4 values"),
        ("1,2\n3\n4,5\n", "line 2: got '3', expected 2 values"),
        ("1,2\n3,\n4,5\n", "line 2"),
        ("a,b\nc,d\ne,f\n", "text in several columns"),
        ("", "0 values"),
    ],
)
def test_files_that_do_not_fit_are_refused_in_one_line(tmp_path, text, message):
    (tmp_path / "v.txt").write_text(text)
    with pytest.raises(BadInput, match=message) as error:
        read_values(tmp_path / "v.txt", 3)
    assert "\n" not in str(error.value)


def test_unknown_missing_and_pickled_files_are_refused(tmp_path):
    with pytest.raises(BadInput, match="exists"):
        read_values(tmp_path / "v.txt", 3)
    (tmp_path / "v.json").write_text("[]")
    with pytest.raises(BadInput, match=r"\.txt, \.csv or \.npy"):
        read_values(tmp_path / "v.json", 3)
    np.save(tmp_path / "v.npy", np.array([{}, {}], dtype=object), allow_pickle=True)
    with pytest.raises(BadInput, match="array of numbers or text"):
        read_values(tmp_path / "v.npy", 2)
    np.save(tmp_path / "cube.npy", np.zeros((2, 2, 2)))
    with pytest.raises(BadInput, match=r"shape \(2, 2, 2\)"):
        read_values(tmp_path / "cube.npy", 2)


@pytest.mark.parametrize(
    "content", [b"", b"PK\x03\x04 no archive", b"\x80\x04K\x01.", b"\x93NUMPY\x01"]
)
def test_other_bytes_in_a_npy_file_are_one_line(tmp_path, content):
    (tmp_path / "v.npy").write_bytes(content)
    with pytest.raises(BadInput, match=r"v\.npy") as caught:
        read_values(tmp_path / "v.npy", 2)
    assert "\n" not in str(caught.value)


def test_an_archive_is_no_array(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.ones(2))
    (tmp_path / "a.npz").rename(tmp_path / "v.npy")
    with pytest.raises(BadInput, match=r"v\.npy"):
        read_values(tmp_path / "v.npy", 2)
