"""Two classes of a data set, labelled -1 and +1, as the theses take them; or all its classes."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from dynascope.core.errors import bad, unknown
from dynascope.data.loading import load
from dynascope.data.record import DataSet, Split
from dynascope.data.scaling import SCALINGS, pooled, scaled

# The pairs that the documents use (zhu2024 ch. 3 and 4, chen2025 ch. 3), or, where they do not say,
# the first and third class, which is their habit.
PAIRS: dict[str, tuple[int, int]] = {
    "digits": (0, 2),
    "mnist": (0, 2),
    "fashion_mnist": (0, 2),
    "cifar10": (0, 2),
    "svhn": (0, 2),
    "usps": (0, 2),
    "fsdd": (1, 3),
    "ag_news": (0, 2),
}


def two_classes(
    data: DataSet,
    classes: tuple[int, ...],
    train: int | None = None,
    test: int | None = None,
    *,
    scaling: str = "raw",
    seed: int | None = 0,
    pool: int = 1,
) -> Split:
    """Rows of two classes, flattened and scaled, with labels -1 (first class) and +1.

    Args:
        data: The data set.
        classes: Two of its labels.
        train: How many training rows; None for all of the two classes.
        test: How many test rows; None for all.
        scaling: See `scaled`; "channel" uses the whole training part's statistics.
        seed: Which rows: drawn without order or repetition from this seed, so that a smaller
            subset is the beginning of a larger one; None takes the first in file order.
        pool: Side of the blocks of pixels that are averaged first; 1 leaves pictures as they are.

    Returns:
        x_train (train, inputs), y_train (train,), x_test, y_test: float32.

    Example:
        >>> x, y, x_test, y_test = two_classes(load("digits"), (0, 1), 100, 50)
        >>> x.shape, y_test.shape, sorted(set(y.tolist()))
        ((100, 64), (50,), [-1.0, 1.0])
    """
    if scaling not in SCALINGS:
        raise unknown("scaling", scaling, SCALINGS)
    _check_classes(data, classes)
    parts = []
    for part, count in (("train", train), ("test", test)):
        x, y = getattr(data, f"x_{part}"), getattr(data, f"y_{part}")
        rows = _rows(y, classes, count, f"{part} samples of {data.name}", seed)
        base = pooled(data.x_train, pool) if scaling == "channel" else None
        inputs = scaled(pooled(x[rows], pool), scaling, base)
        signs = np.where(y[rows] == classes[1], 1, -1).astype(np.float32)
        parts += [inputs.reshape(len(rows), -1), signs]
    return tuple(parts)  # type: ignore[return-value]


def _check_classes(data: DataSet, classes: tuple[int, ...]) -> None:
    if len(classes) != 2 or classes[0] == classes[1]:
        raise bad("classes", classes, "two different classes")
    for label in classes:
        if label not in data.labels:
            raise bad("classes", label, f"a class of {data.name}: {_listed(data.labels)}")


def _listed(labels: tuple[int, ...]) -> str:
    return ", ".join(map(str, labels[:20])) + (" ..." if len(labels) > 20 else "")


def _rows(
    y: np.ndarray, classes: tuple[int, ...], count: int | None, what: str, seed: int | None
) -> np.ndarray:
    own = np.flatnonzero(np.isin(y, classes))
    count = len(own) if count is None else count
    if not 1 <= count <= len(own):
        of = f"classes {classes[0]} and {classes[1]} have" if len(classes) == 2 else "there are"
        raise bad(what, count, f"from 1 to {len(own)}: {of} no more")
    return own[:count] if seed is None else np.random.default_rng(seed).permutation(own)[:count]


@lru_cache(maxsize=16)
def two_class_arrays(
    name: str,
    features: str | None,
    classes: tuple[int, ...],
    train: int | None,
    test: int | None,
    scaling: str,
    seed: int | None,
    pool: int,
) -> Split:
    """`two_classes` of a set by name, worked out once for each choice."""
    data = load(name, features=features)
    return two_classes(data, classes, train, test, scaling=scaling, seed=seed, pool=pool)


@lru_cache(maxsize=4)
def class_arrays(
    name: str, train: int | None, test: int | None, scaling: str, seed: int | None, pool: int = 1
) -> Split:
    """All classes of a set by name: scaled pictures in their shape, classes from 0; read once.

    Args:
        name: As `load` knows it.
        train: How many training samples; None for all.
        test: How many test samples; None for all.
        scaling: See `scaled`; "channel" uses the whole training part's statistics.
        seed: Which rows, drawn without repetition; None takes the first in file order.
        pool: As in `two_classes`.

    Returns:
        x_train (train, ...), y_train (train,), x_test, y_test: float32 and int32.

    Example:
        >>> x, y, *_ = class_arrays("digits", 100, 50, "channel", 0)
        >>> x.shape, y.dtype.name
        ((100, 8, 8), 'int32')
    """
    data, parts = load(name), []
    base = pooled(data.x_train, pool) if scaling == "channel" else None
    for part, count in (("train", train), ("test", test)):
        x, y = getattr(data, f"x_{part}"), getattr(data, f"y_{part}")
        rows = _rows(y, data.labels, count, f"{part} samples of {name}", seed)
        parts.append(scaled(pooled(x[rows], pool), scaling, base))
        parts.append(np.searchsorted(data.labels, y[rows]).astype(np.int32))
    return tuple(parts)  # type: ignore[return-value]
