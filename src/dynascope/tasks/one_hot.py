"""All classes of a real data set by squared error: one output a class (zhu2024 Figs. C.5, C.11)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.core.errors import bad
from dynascope.core.spec import later_field
from dynascope.data import class_arrays, load
from dynascope.data.scaling import pooled
from dynascope.tasks.base import Predict
from dynascope.tasks.samples import Labelled, Samples, pair


@dataclass(frozen=True)
class OneHot(Samples):
    """Give 1 for a picture's class and 0 for the others; the mean is over samples and classes.

    Args:
        data: A data set as `dynascope.data.load` knows it.
        train: How many training samples; None for all.
        test: How many test samples; None for all.
        scaling: "raw" (0 to 1), "centred" (-1 to 1) or "channel" (mean 0, deviation 1).
        subset_seed: Which samples; None takes the first ones of the files.
        pool: Side of the blocks of pixels that are averaged; 1 leaves pictures as they are.

    Example:
        >>> task = OneHot("digits", train=100)
        >>> task.input_size, task.output_size, float(task.samples(jax.random.key(0))[1].sum())
        (64, 10, 100.0)
    """

    data: str = "digits"
    train: int | None = 128
    test: int | None = None
    scaling: Literal["raw", "centred", "channel"] = "channel"
    subset_seed: int | None = 0
    pool: int = later_field(1)

    def check(self) -> None:
        """Raise for counts below one; what depends on the data is checked where it is read."""
        if self.pool < 1:
            raise bad("pool", self.pool, "a whole number of at least 1")
        for name in ("train", "test"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise bad(name, value, "a whole number of at least 1, or None for all")

    @property
    def input_size(self) -> int:
        """Numbers in a picture."""
        return pooled(load(self.data).x_train[:1], self.pool).size

    @property
    def output_size(self) -> int:
        """Number of classes."""
        return len(load(self.data).labels)

    def _split(self) -> tuple[np.ndarray, ...]:
        chosen = (self.train, self.test, self.scaling, self.subset_seed, self.pool)
        return class_arrays(self.data, *chosen)

    def samples(self, key: jax.Array) -> Labelled:
        """The training samples, the same for every seed."""
        x, y, _, _ = self._split()
        return pair(x.reshape(len(x), -1), np.eye(self.output_size)[y])

    def test_set(self, context: Any) -> Labelled:
        """The test samples."""
        _, _, x, y = self._split()
        return pair(x.reshape(len(x), -1), np.eye(self.output_size)[y])

    def test_set_accuracy(self, predict: Predict, context: Any) -> jax.Array:
        """Share of the test set whose largest output is its class."""
        x, y = self.test_set(context)
        return jnp.mean(jnp.argmax(predict(x), axis=-1) == jnp.argmax(y, axis=-1))
