"""Pictures of a real data set and their classes: CIFAR-10, SVHN, the digits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.core.errors import bad
from dynascope.data import class_arrays, load
from dynascope.tasks.classes import Classes, Labelled


@dataclass(frozen=True)
class Pictures(Classes):
    """Tell the class of a picture; every seed trains on the same ones, which are held once.

    The settings name the data, so the fingerprint covers the name and not the bytes.

    Args:
        data: A data set as `dynascope.data.load` knows it.
        train: How many training pictures; None for all.
        test: How many test pictures; None for all.
        scaling: "raw" (0 to 1), "centred" (-1 to 1) or "channel" (mean 0, deviation 1).
        subset_seed: Which pictures; None takes the first ones of the files.

    Example:
        >>> task = Pictures("digits", train=100)
        >>> task.shape, task.input_size, task.output_size
        ((8, 8, 1), 64, 10)
    """

    offers: ClassVar[str | None] = "vectors"

    data: str = "cifar10"
    train: int | None = None
    test: int | None = None
    scaling: Literal["raw", "centred", "channel"] = "channel"
    subset_seed: int | None = None

    def check(self) -> None:
        """Raise for counts below one; what depends on the data is checked where it is read."""
        for name in ("train", "test"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise bad(name, value, "a whole number of at least 1, or None for all")

    @property
    def shape(self) -> tuple[int, ...]:
        """(height, width, channels)."""
        shape = load(self.data).x_train.shape[1:]
        return shape if len(shape) == 3 else (*shape, 1)

    @property
    def input_size(self) -> int:
        """Numbers in a picture."""
        return int(np.prod(self.shape))

    @property
    def output_size(self) -> int:
        """Number of classes."""
        return len(load(self.data).labels)

    @property
    def shared(self) -> bool:
        """The same pictures for every seed."""
        return True

    def _split(self) -> tuple[np.ndarray, ...]:
        return class_arrays(self.data, self.train, self.test, self.scaling, self.subset_seed)

    def samples(self, key: jax.Array) -> Labelled:
        """The training pictures, a row each, and their classes."""
        x, y, _, _ = self._split()
        return _held(x, y)

    def context(self, key: jax.Array) -> Labelled:
        """The test pictures, which are held once like the others."""
        _, _, x, y = self._split()
        return _held(x, y)

    def test_set(self, context: Any) -> Labelled:
        """The test pictures."""
        return context


def _held(x: np.ndarray, y: np.ndarray) -> Labelled:
    return jnp.asarray(x.reshape(len(x), -1), jnp.result_type(float)), jnp.asarray(y)
