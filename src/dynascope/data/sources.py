"""The data sets that are known by name: official files, addresses, checksums, licences.

A table, so that a new set of a known format is one entry. Names are those of the folders.
Checksums are the publishers' own; FSDD and the plain layout have none.
"""

from __future__ import annotations

from typing import NamedTuple

from dynascope.core.errors import unknown


class Official(NamedTuple):
    """One file of a data set: its name on disk, where it is published, and its checksum."""

    file: str
    address: str
    checksum: str  # "md5:..." or "sha256:..."


class Source(NamedTuple):
    """A data set: files, licence, and what to do where they cannot be fetched."""

    title: str
    licence: str
    sizes: tuple[int, int]  # training and test samples of the whole set
    files: tuple[Official, ...] = ()
    by_hand: str = ""  # how to get it where no checksum is published


def _idx(base: str, sums: tuple[str, str, str, str]) -> tuple[Official, ...]:
    """The four gzipped idx files of MNIST and of the sets that copy its format."""
    names = (
        "train-images-idx3-ubyte.gz",
        "train-labels-idx1-ubyte.gz",
        "t10k-images-idx3-ubyte.gz",
        "t10k-labels-idx1-ubyte.gz",
    )
    return tuple(Official(n, base + n, f"md5:{s}") for n, s in zip(names, sums, strict=True))


def _files(base: str, sums: dict[str, str]) -> tuple[Official, ...]:
    return tuple(Official(name, base + name, checksum) for name, checksum in sums.items())


FSDD_COMMIT = "26eb9aaf76e81b692f806f9140c2d2777410d7a1"
SOURCES: dict[str, Source] = {
    "digits": Source("UCI optical digits, 8x8, built in", "CC BY 4.0", (1297, 500)),
    "mnist": Source(
        "MNIST",
        "CC BY-SA 3.0",
        (60_000, 10_000),
        _idx(
            "https://ossci-datasets.s3.amazonaws.com/mnist/",
            (
                "f68b3c2dcbeaaa9fbdd348bbdeb94873",
                "d53e105ee54ea40749a09fcbcd1e9432",
                "9fb629c4189551a2d022fa330f9573f3",
                "ec29112dd5afa0611ce80d1b7f02629c",
            ),
        ),
    ),
    "fashion_mnist": Source(
        "Fashion-MNIST",
        "MIT",
        (60_000, 10_000),
        _idx(
            "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
            (
                "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
                "25c81989df183df01b3e8a0aad5dffbe",
                "bef4ecab320f06d8554ea6380940ec79",
                "bb300cfdad3c16e7a12a480ee83cd310",
            ),
        ),
    ),
    "cifar10": Source(
        "CIFAR-10",
        "none stated",
        (50_000, 10_000),
        _files(
            "https://www.cs.toronto.edu/~kriz/",
            {
                "cifar-10-python.tar.gz": "sha256:"
                "6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce"
            },
        ),
    ),
    "cifar100": Source(
        "CIFAR-100",
        "none stated",
        (50_000, 10_000),
        _files(
            "https://www.cs.toronto.edu/~kriz/",
            {
                "cifar-100-python.tar.gz": "sha256:"
                "85cd44d02ba6437773c5bbd22e183051d648de2e7d6b014e1ef29b855ba677a7"
            },
        ),
    ),
    "svhn": Source(
        "SVHN",
        "non-commercial use only",
        (73_257, 26_032),
        _files(
            "http://ufldl.stanford.edu/housenumbers/",
            {
                "train_32x32.mat": "md5:e26dedcc434d2e4c54c9b2d4a06d8373",
                "test_32x32.mat": "md5:eb5a983be6a315427106f1b164d9cef3",
            },
        ),
    ),
    "usps": Source(
        "USPS",
        "none stated",
        (7_291, 2_007),
        _files(
            "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass/",
            {
                "usps.bz2": "md5:ec16c51db3855ca6c91edd34d0e9b197",
                "usps.t.bz2": "md5:8ea070ee2aca1ac39742fdd1ef5ed118",
            },
        ),
    ),
    "ag_news": Source(
        "AG News",
        "research and other non-commercial use",
        (120_000, 7_600),
        _files(
            "https://raw.githubusercontent.com/mhjabreel/CharCnn_Keras/master/data/ag_news_csv/",
            {
                "train.csv": "md5:b1a00f826fdfbd249f79597b59e1dc12",
                "test.csv": "md5:d52ea96a97a2d943681189a97654912d",
            },
        ),
    ),
    "fsdd": Source(
        "Free Spoken Digit Dataset",
        "CC BY-SA 4.0",
        (2_700, 300),
        by_hand="clone https://github.com/Jakobovski/free-spoken-digit-dataset "
        f"(commit {FSDD_COMMIT[:10]}) there as fsdd",
    ),
}

TEXTS: dict[str, Source] = {
    "tinyshakespeare": Source(
        "Tiny Shakespeare",
        "public domain",
        (1_003_854, 111_540),  # bytes
        _files(
            "https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/",
            {
                "input.txt": "sha256:"
                "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed"
            },
        ),
    ),
    "wikitext2_valid_test": Source(
        "WikiText-2, validation and test parts",
        "CC BY-SA 3.0",
        (1_121_681, 1_256_449),
        by_hand="get WikiText-2 from https://huggingface.co/datasets/Salesforce/wikitext and "
        "put valid.txt and test.txt",
    ),
    "wikitext103": Source(
        "WikiText-103",
        "CC BY-SA 3.0",
        (540_656_522, 1_305_088),
        by_hand="get WikiText-103 from https://huggingface.co/datasets/Salesforce/wikitext and "
        "put train.txt and test.txt",
    ),
}


def source(name: str) -> Source:
    """The entry of a known data set.

    Example:
        >>> source("mnist").files[1].checksum
        'md5:d53e105ee54ea40749a09fcbcd1e9432'
    """
    if name not in SOURCES:
        raise unknown("data set", name, SOURCES)
    return SOURCES[name]
