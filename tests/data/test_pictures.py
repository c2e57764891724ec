"""Official picture formats, on small files written here."""

from __future__ import annotations

import bz2
import gzip
import io
import pickle
import tarfile

import numpy as np
import pytest
from scipy.io import savemat

from dynascope.core.errors import BadInput
from dynascope.data import pictures


def _idx(array):
    head = bytes([0, 0, 8, array.ndim]) + np.asarray(array.shape, ">i4").tobytes()
    return gzip.compress(head + array.astype(np.uint8).tobytes())


def test_idx_files_give_back_what_was_written(tmp_path):
    images = np.arange(2 * 3 * 4).reshape(2, 3, 4)
    (tmp_path / "a.gz").write_bytes(_idx(images))
    assert np.array_equal(pictures.read_idx(tmp_path / "a.gz"), images)


@pytest.mark.parametrize(
    "content, reason",
    [
        (b"no gzip", "a whole gzip file"),
        (gzip.compress(b"\x01\x02\x03\x04"), "begins with 0 0 8"),
        (gzip.compress(bytes([0, 0, 8, 1, 0, 0, 0, 9, 1, 2])), "9 values, as its head says"),
        (_idx(np.zeros((100, 3)))[:-12], "a whole gzip file"),
    ],
    ids=["plain", "other head", "too few values", "cut short"],  # gzip writes the time
)
def test_damaged_idx_files_are_refused_in_one_line(tmp_path, content, reason):
    (tmp_path / "a.gz").write_bytes(content)
    with pytest.raises(BadInput, match=reason) as caught:
        pictures.read_idx(tmp_path / "a.gz")
    assert "\n" not in str(caught.value)


def _archive(path, batches):
    with tarfile.open(path, "w:gz") as archive:
        for name, content in batches.items():
            member = tarfile.TarInfo(f"cifar-10-batches-py/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def _batch(first, labels=b"labels"):
    """Two pictures, constant but for a pixel, pickled as Python 2 did: bytes as keys."""
    data = np.repeat(np.arange(first, first + 6, dtype=np.uint8), 1024).reshape(2, 3072)
    data[0, 2 * 32 + 5] = 200  # one red pixel in row 2, column 5
    content = pickle.dumps({b"data": data, labels: [first % 10, 1], b"filenames": []}, 2)
    return content.replace(b"numpy._core.multiarray", b"numpy.core.multiarray")


def test_cifar_batches_become_pictures_with_channels_last(tmp_path):
    names = [*pictures.CIFAR_TRAINING, "test_batch"]
    batches = {name: _batch(10 * i) for i, name in enumerate(names)}
    _archive(tmp_path / "cifar-10-python.tar.gz", {**batches, "readme.html": b"x"})
    x, y, x_test, y_test = pictures.read_cifar10(tmp_path)
    assert x.shape == (10, 32, 32, 3) and x_test.shape == (2, 32, 32, 3)
    assert x[0, 2, 5].tolist() == [200, 1, 2] and x[0, 5, 2].tolist() == [0, 1, 2]
    assert x[0, 5, 7].tolist() == [0, 1, 2] and x[9, 0, 0].tolist() == [43, 44, 45]
    assert y.tolist() == [0, 1] * 5 and x_test[1, 31, 31].tolist() == [53, 54, 55]
    assert y_test.dtype == np.int64


def test_cifar_100_has_fine_classes_in_two_batches(tmp_path):
    fine = {name: _batch(10 * i, b"fine_labels") for i, name in enumerate(("train", "test"))}
    _archive(tmp_path / "cifar-100-python.tar.gz", {**fine, "meta": b"x"})
    x, y, x_test, y_test = pictures.read_cifar100(tmp_path)
    assert x.shape == x_test.shape == (2, 32, 32, 3) and x[0, 2, 5].tolist() == [200, 1, 2]
    assert y.tolist() == y_test.tolist() == [0, 1] and x_test[1, 0, 0].tolist() == [13, 14, 15]


def test_a_cifar_pickle_that_names_anything_else_is_refused(tmp_path):
    class Evil:
        def __reduce__(self):
            return print, ("reached",)

    batches = {name: pickle.dumps(Evil(), 2) for name in [*pictures.CIFAR_TRAINING, "test_batch"]}
    _archive(tmp_path / "cifar-10-python.tar.gz", batches)
    with pytest.raises(BadInput, match=r"print.*the file is refused"):
        pictures.read_cifar10(tmp_path)


def test_a_cifar_archive_without_a_batch_is_refused(tmp_path):
    _archive(tmp_path / "cifar-10-python.tar.gz", {"test_batch": _batch(0)})
    with pytest.raises(BadInput, match=r"archive with data_batch_1, .*, test_batch"):
        pictures.read_cifar10(tmp_path)


def test_svhn_ten_is_the_digit_zero(tmp_path):
    x = np.arange(2 * 2 * 3 * 4, dtype=np.uint8).reshape(2, 2, 3, 4)
    for part in ("train", "test"):
        savemat(tmp_path / f"{part}_32x32.mat", {"X": x, "y": np.array([[10], [1], [9], [10]])})
    got, y, _, _ = pictures.read_svhn(tmp_path)
    assert got.shape == (4, 2, 2, 3) and np.array_equal(got[1], x[..., 1])
    assert y.tolist() == [0, 1, 9, 0]


def test_a_mat_file_that_is_none_is_refused(tmp_path):
    for part in ("train", "test"):
        (tmp_path / f"{part}_32x32.mat").write_bytes(b"not a mat file at all" * 20)
    with pytest.raises(BadInput, match="official SVHN"):
        pictures.read_svhn(tmp_path)


def test_usps_rows_become_pictures_from_zero_to_one(tmp_path):
    text = b"1 1:-1 2:1 256:0.5\n10 1:0\n"
    for name in ("usps.bz2", "usps.t.bz2"):
        (tmp_path / name).write_bytes(bz2.compress(text))
    x, y, _, y_test = pictures.read_usps(tmp_path)
    assert x.shape == (2, 16, 16) and y.tolist() == y_test.tolist() == [0, 9]
    assert x[0, 0, 0] == 0 and x[0, 0, 1] == 1 and x[0, 15, 15] == 0.75 and x[1, 3, 3] == 0.5


def test_damaged_usps_rows_are_refused(tmp_path):
    (tmp_path / "usps.bz2").write_bytes(bz2.compress(b"1 300:1\n"))
    with pytest.raises(BadInput, match="index:value"):
        pictures.read_libsvm(tmp_path / "usps.bz2", 256)
