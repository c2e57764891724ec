"""Two classes of a real data set, told apart by the sign of one output (zhu2024 D8-D16)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Literal

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.core.errors import bad
from dynascope.data import PAIRS, DataSet, load, two_class_arrays
from dynascope.tasks.base import Predict
from dynascope.tasks.samples import Labelled, Samples, pair


@dataclass(frozen=True)
class TwoClasses(Samples):
    """Tell two classes of a data set apart; by default their targets are -1 and +1.

    Every seed trains on the same samples; `subset_seed` draws others. The settings name the
    data, so the fingerprint covers the name and not the bytes: `checksum` tells the bytes.

    Args:
        data: A data set as `dynascope.data.load` knows it.
        classes: Two of its labels; the documents' pair if not given, or its only two.
        train: How many training samples; None for all.
        test: How many test samples; None for all.
        scaling: "raw" (0 to 1), "centred" (-1 to 1), "channel" (mean 0, deviation 1) or
            "unit" (norm sqrt(inputs)).
        features: What a sample becomes where there is a choice; see `dynascope.data.load`.
        pool: Side of the blocks of pixels that are averaged; 1 leaves pictures as they are.
        subset_seed: Which samples; None takes the first ones of the files.
        most_varying: Keep only so many inputs, those that vary most over the training samples.
        input_factor: Multiplies all inputs; `dynascope.data.calibrate_scale` gives one.
        targets: What the first and the second class are to give.

    Example:
        >>> task = TwoClasses("digits", (0, 1), train=100)
        >>> task.input_size, task.sizes()
        (64, (100, 101))
    """

    offers: ClassVar[str | None] = "vectors"

    data: str = "digits"
    classes: tuple[int, int] | None = None
    train: int | None = 128
    test: int | None = None
    scaling: Literal["raw", "centred", "channel", "unit"] = "raw"
    features: str | None = None
    pool: int = 1
    subset_seed: int | None = 0
    most_varying: int | None = None
    input_factor: float = 1.0
    targets: tuple[float, float] = (-1.0, 1.0)

    def check(self) -> None:
        """Raise for counts below one; what depends on the data is checked where it is read."""
        for name in ("train", "test", "most_varying"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise bad(name, value, "a whole number of at least 1, or None for all")
        if self.pool < 1:
            raise bad("pool", self.pool, "a whole number of at least 1")
        if self.classes is not None and self.classes[0] == self.classes[1]:
            raise bad("classes", self.classes, "two different classes")

    @property
    def input_size(self) -> int:
        """Inputs of a sample, flattened row by row, channels last."""
        return self.arrays()[0].shape[1]

    def sizes(self) -> tuple[int, int]:
        """How many training and test samples there are."""
        x, _, x_test, _ = self.arrays()
        return len(x), len(x_test)

    def pair_of_classes(self) -> tuple[int, int]:
        """The classes that are told apart."""
        return self.classes or _default_classes(self.source())

    def source(self) -> DataSet:
        """The whole data set, with licence and note."""
        return load(self.data, features=self.features)

    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """x_train (n, input), y_train (n,), x_test, y_test before the factor; read once."""
        split = two_class_arrays(
            self.data, self.features, self.pair_of_classes(), self.train, self.test,
            self.scaling, self.subset_seed, self.pool,
        )  # fmt: skip
        if self.most_varying is None:
            return split
        chosen = _most_varying(split[0], self.most_varying)
        return split[0][:, chosen], split[1], split[2][:, chosen], split[3]

    def samples(self, key: jax.Array) -> Labelled:
        """The training samples, the same for every seed."""
        x, y, _, _ = self.arrays()
        return self._scaled(pair(x, y))

    def test_set(self, context: Any) -> Labelled:
        """The test samples; constants of the compiled program, so that lanes share them."""
        _, _, x, y = self.arrays()
        return self._scaled(pair(x, y))

    def test_set_accuracy(self, predict: Predict, context: Any) -> jax.Array:
        """Share of the test set whose output lies on its target's side of the middle."""
        x, y = self.test_set(context)
        middle = (self.targets[0] + self.targets[1]) / 2
        return jnp.mean((predict(x) > middle) == (y > middle))

    def _scaled(self, rows: Labelled) -> Labelled:
        low, high = self.targets
        return rows[0] * self.input_factor, low + (high - low) * (rows[1] + 1) / 2


@lru_cache(maxsize=16)
def _default_classes(data: DataSet) -> tuple[int, int]:
    if data.name in PAIRS:
        return PAIRS[data.name]
    if len(data.labels) != 2:
        shown = f"{len(data.labels)} labels"
        raise bad(f"labels of {data.name}", shown, "two classes", "choose two: classes=(a, b)")
    return data.labels


def _most_varying(x: np.ndarray, count: int) -> np.ndarray:
    """The columns of the largest deviation, in their order; ties go to the first."""
    if count > x.shape[1]:
        raise bad("most_varying", count, f"at most {x.shape[1]}, the number of inputs")
    return np.sort(np.argsort(-x.std(axis=0), kind="stable")[:count])
