"""Official picture files: idx (MNIST, Fashion-MNIST), CIFAR, SVHN .mat, USPS in libsvm form."""

from __future__ import annotations

import bz2
import gzip
import pickle
import tarfile
from pathlib import Path
from typing import Any

import numpy as np

from dynascope.core.errors import BadInput, bad
from dynascope.data.record import Split

CIFAR_TRAINING = tuple(f"data_batch_{i}" for i in range(1, 6))
# What an array in a pickle of Python 2 is rebuilt from, and where numpy 2 keeps it.
ALLOWED = {
    ("numpy.core.multiarray", "_reconstruct"): ("numpy._core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "_reconstruct"): ("numpy._core.multiarray", "_reconstruct"),
    ("numpy", "ndarray"): ("numpy", "ndarray"),
    ("numpy", "dtype"): ("numpy", "dtype"),
    ("_codecs", "encode"): ("_codecs", "encode"),
}


def read_idx_set(place: Path) -> Split:
    """The four gzipped idx files of MNIST's format: (n, 28, 28) and (n,)."""
    names = ("train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1")
    a, b, c, d = (read_idx(place / f"{name}-ubyte.gz") for name in names)
    return a, b.astype(np.int64), c, d.astype(np.int64)


def read_idx(path: Path) -> np.ndarray:
    """One gzipped idx file of bytes: magic 0 0 8 dims, big-endian sizes, then the values."""
    content = _unzipped(path)
    if content[:3] != b"\x00\x00\x08":
        raise bad(path.name, content[:4], "an idx file of bytes (it begins with 0 0 8)")
    dims = content[3]
    shape = np.frombuffer(content, ">i4", dims, 4).astype(int)
    values = np.frombuffer(content, np.uint8, offset=4 + 4 * dims)
    if values.size != shape.prod():
        raise bad(path.name, f"{values.size} values", f"{shape.prod()} values, as its head says")
    return values.reshape(shape).copy()


def _unzipped(path: Path) -> bytes:
    try:
        return gzip.decompress(path.read_bytes())
    except (gzip.BadGzipFile, EOFError, OSError) as error:
        raise bad(path.name, str(error), "a whole gzip file", "delete it and load again") from None


class _ArraysOnly(pickle.Unpickler):
    """Builds arrays and containers; refuses every other name before it is imported."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in ALLOWED:
            raise bad("pickle", f"{module}.{name}", "nothing but arrays", "the file is refused")
        return super().find_class(*ALLOWED[module, name])


def read_cifar10(place: Path) -> Split:
    """CIFAR-10 from its official archive: (n, 32, 32, 3) bytes, channels last."""
    return _cifar(place / "cifar-10-python.tar.gz", CIFAR_TRAINING, "test_batch", b"labels")


def read_cifar100(place: Path) -> Split:
    """CIFAR-100 with its 100 fine classes, in the same form."""
    return _cifar(place / "cifar-100-python.tar.gz", ("train",), "test", b"fine_labels")


def _cifar(path: Path, training: tuple[str, ...], test: str, labels: bytes) -> Split:
    """The batches of an archive whose names are given; `labels` is what they call the classes."""
    batches: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                name = member.name.rpartition("/")[2]
                if name in (*training, test):
                    batches[name] = _cifar_batch(archive.extractfile(member), labels)
        x, y = (np.concatenate([batches[name][i] for name in training]) for i in (0, 1))
        return x, y, *batches[test]
    except (tarfile.TarError, EOFError, OSError, KeyError) as error:
        wanted = f"the official archive with {', '.join((*training, test))}"
        raise bad(path.name, str(error), wanted, "delete it and load again") from None


def _cifar_batch(file: Any, labels: bytes) -> tuple[np.ndarray, np.ndarray]:
    try:
        batch = _ArraysOnly(file, encoding="bytes").load()
        planes = np.asarray(batch[b"data"], np.uint8).reshape(-1, 3, 32, 32)
        classes = np.asarray(batch[labels], np.int64)
    except BadInput:
        raise
    except Exception as error:  # a damaged pickle can raise nearly anything
        raise bad("batch", str(error), "a batch of CIFAR") from None
    return np.ascontiguousarray(planes.transpose(0, 2, 3, 1)), classes


def read_svhn(place: Path) -> Split:
    """The cropped digits of the official .mat files; they write the digit 0 as 10."""
    parts = []
    for part in ("train", "test"):
        x, y = _mat(place / f"{part}_32x32.mat")
        parts += [np.ascontiguousarray(x.transpose(3, 0, 1, 2)), y.ravel().astype(np.int64) % 10]
    return tuple(parts)  # type: ignore[return-value]


def _mat(path: Path) -> tuple[np.ndarray, np.ndarray]:
    from scipy.io import loadmat

    try:
        content = loadmat(path)
        return content["X"], content["y"]
    except (KeyError, ValueError, OSError, NotImplementedError, TypeError) as error:
        raise bad(path.name, str(error), "an official SVHN .mat file with X and y") from None


def read_usps(place: Path) -> Split:
    """USPS in libsvm form, labels 1 to 10 for the digits 0 to 9; inputs brought to 0..1."""
    return (*read_libsvm(place / "usps.bz2", 256), *read_libsvm(place / "usps.t.bz2", 256))


def read_libsvm(path: Path, inputs: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows "label index:value ..." with indices from 1 and values from -1 to 1."""
    x, y = [], []
    try:
        for line in bz2.decompress(path.read_bytes()).decode("ascii").splitlines():
            label, *pairs = line.split()
            row = np.zeros(inputs, np.float32)
            for pair in pairs:
                index, value = pair.split(":")
                row[int(index) - 1] = float(value)
            x.append(row)
            y.append(int(float(label)) - 1)
    except (ValueError, IndexError, OSError, EOFError) as error:
        raise bad(path.name, str(error), f"rows of a label and {inputs} index:value") from None
    side = int(inputs**0.5)
    return (np.stack(x).reshape(-1, side, side) + 1) / 2, np.asarray(y, np.int64)
