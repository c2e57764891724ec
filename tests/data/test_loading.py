"""`load`: built-in digits, the plain layout, real sets where they are, and what is missing."""

from __future__ import annotations

import lzma
import subprocess
import sys

import numpy as np
import pytest

from dynascope.core.errors import BadInput, MissingData, UnknownName
from dynascope.data import absence, load, there


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A data folder with one set in the plain layout."""
    monkeypatch.setenv("DYNASCOPE_DATA", str(tmp_path))
    place = tmp_path / "mine"
    place.mkdir()
    rng = np.random.default_rng(0)
    with lzma.open(place / "x_train.npy.xz", "wb") as file:
        np.save(file, rng.integers(0, 256, (6, 4, 4, 3), dtype=np.uint8))
    np.save(place / "y_train.npy", np.arange(6) % 3)
    np.save(place / "x_test.npy", rng.integers(0, 256, (2, 4, 4, 3), dtype=np.uint8))
    np.save(place / "y_test.npy", np.array([0, 2]))
    return place


def test_the_plain_layout_is_a_way_to_bring_arrays(own):
    (own / "SOURCE.md").write_text("# Mine (made here)\nmore\n")
    data = load("mine")
    assert data.x_train.shape == (6, 4, 4, 3) and data.x_train.dtype == np.uint8
    assert data.labels == (0, 1, 2) and data.licence == "the user's own"
    assert data.note == "6 + 2 samples in the plain layout; Mine (made here)"


def test_part_of_a_known_set_is_called_a_subset(own):
    own.rename(own.parent / "cifar10")
    assert "6 + 2 samples in the plain layout, a subset of 50,000 + 10,000" in load("cifar10").note


def test_a_missing_array_is_named(own):
    (own / "y_test.npy").unlink()
    with pytest.raises(BadInput, match=r"no y_test\.npy"):
        load("mine")


@pytest.mark.parametrize(
    "part, array, reason",
    [
        ("y_train", np.arange(5), "one label for every sample"),
        ("x_test", np.zeros((2, 5)), "of one shape"),
        ("y_test", np.array(["a", "b"]), "an array of numbers"),
    ],
)
def test_arrays_that_do_not_match_are_refused(own, part, array, reason):
    np.save(own / f"{part}.npy", array)
    with pytest.raises(BadInput, match=reason):
        load("mine")


def test_a_damaged_array_is_refused_and_nothing_is_unpickled(own):
    np.save(own / "y_test.npy", np.array([{}, {}]), allow_pickle=True)
    with pytest.raises(BadInput, match="pickle"):
        load("mine")
    (own / "y_test.npy").write_bytes(b"nothing")
    with pytest.raises(BadInput, match="mine/y_test"):
        load("mine")


def test_arrays_are_shared_and_locked():
    digits = load("digits")
    assert load("digits") is digits
    with pytest.raises(ValueError, match="read-only"):
        digits.x_train[0] = 1


def test_the_built_in_digits_say_what_they_are():
    digits = load()
    assert digits.name == "digits" and "built in" in digits.note and digits.licence == "CC BY 4.0"
    assert digits.x_train.min() == 0 and digits.x_train.max() == 1
    assert np.bincount(np.concatenate([digits.y_train, digits.y_test])).tolist() == [
        178, 182, 177, 183, 181, 182, 181, 179, 174, 180,
    ]  # fmt: skip


def test_the_checksum_follows_the_numbers(own):
    before = load("mine").checksum()
    np.save(own / "y_test.npy", np.array([1, 2]))
    from dynascope.data import loading

    loading._read.cache_clear()
    assert load("mine").checksum() != before


def test_what_is_missing_is_said_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setenv("DYNASCOPE_DATA", str(tmp_path))
    monkeypatch.setenv("DYNASCOPE_HOME", str(tmp_path / "home"))
    for name, advice in (
        ("usps", r"usps\.bz2, usps\.t\.bz2 into"),
        ("fsdd", "clone https://github.com/Jakobovski"),
        ("my_own_set", r"put x_train\.npy"),
    ):
        assert not there(name)
        with pytest.raises(MissingData, match=advice) as caught:
            load(name, download=False)
        assert str(caught.value) == absence(name) and "\n" not in absence(name)


def test_a_name_nearly_right_gets_the_nearest():
    with pytest.raises(UnknownName, match="did you mean 'mnist'"):
        load("mnits")


@pytest.mark.parametrize("name", ["", "a/b", "../mnist"])
def test_a_path_is_no_name(name):
    with pytest.raises(BadInput, match="not a path"):
        load(name)


def test_unknown_features_give_the_nearest():
    with pytest.raises(UnknownName, match="did you mean 'log_spectrogram'"):
        load("fsdd", features="spectrogram")
    with pytest.raises(BadInput, match="taken as it is"):
        load("digits", features="waveform")


def test_mnist_is_complete(real):
    real("mnist")
    data = load("mnist")
    assert data.x_train.shape == (60000, 28, 28) and data.x_test.shape == (10000, 28, 28)
    assert data.y_train[:5].tolist() == [5, 0, 4, 1, 9]
    assert float(data.x_train.mean()) == pytest.approx(255 * 0.1307, rel=1e-3)  # as published


def test_cifar10_begins_as_published(real):
    real("cifar10")
    data = load("cifar10")
    assert data.y_train[:10].tolist() == [6, 9, 9, 4, 1, 1, 2, 7, 8, 3]
    assert data.x_train[0, 0, 0].tolist() == [59, 62, 63]


def test_svhn_begins_as_published(real):
    real("svhn")
    data = load("svhn")
    assert data.y_train[:10].tolist() == [1, 9, 2, 3, 2, 5, 9, 3, 3, 1]


def test_the_data_room_does_not_import_jax():
    use = "import sys, dynascope.data as d; d.two_classes(d.load(), (0, 1))"
    code = f"{use}; print('jax' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
