"""Samples with targets: the loss, and a test set of the same kind.

The base of the tasks whose samples are a pair of arrays (inputs, targets), one row a sample.
`reduction` names the convention that every learning rate depends on: "mse" is the mean of
squared errors (zhu2024 ch. 4), "half" is half their sum (zhu2024 ch. 2 and 3); a rate in the second
is 2 / (samples x outputs) times the one in the first.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.core.errors import bad
from dynascope.tasks.base import Predict, Task

Labelled = tuple[jax.Array, jax.Array]  # inputs (n, input), targets (n, output)


@dataclass(frozen=True)
class Samples(Task):
    """Inputs with targets; squared error."""

    _: KW_ONLY
    reduction: Literal["mse", "half"] = "mse"

    @property
    def output_size(self) -> int:
        """One number."""
        return 1

    def test_set(self, context: Any) -> Labelled:
        """Inputs and targets that are not trained on."""
        raise NotImplementedError(f"{type(self).__name__} has no test set")

    def loss(self, predict: Predict, samples: Labelled) -> jax.Array:
        """The mean of squared errors, or half their sum."""
        x, y = samples
        squares = (predict(x) - y) ** 2
        return jnp.mean(squares) if self.reduction == "mse" else jnp.sum(squares) / 2

    def test_set_loss(self, predict: Predict, context: Any) -> jax.Array:
        """Mean squared error on the test set; half of it where the loss is the half sum."""
        x, y = self.test_set(context)
        mean = jnp.mean((predict(x) - y) ** 2)
        return mean if self.reduction == "mse" else mean / 2

    def test_set_accuracy(self, predict: Predict, context: Any) -> jax.Array:
        """Share of the test set on which output and target have the same sign."""
        x, y = self.test_set(context)
        return jnp.mean((predict(x) > 0) == (y > 0))


@dataclass(frozen=True, eq=False)
class ArraySamples(Samples):
    """A user's own arrays, held in memory; the fingerprint covers their values.

    Args:
        x: (samples, ...) inputs, flattened to rows.
        y: (samples,) or (samples, outputs) targets.
        x_test: Inputs of the test set, if there is one.
        y_test: Its targets.

    Example:
        >>> task = ArraySamples(np.eye(3), np.array([1.0, -1.0, 1.0]))
        >>> task.input_size, task.output_size
        (3, 1)
    """

    x: Any
    y: Any
    x_test: Any = None
    y_test: Any = None

    def check(self) -> None:
        """Bring the arrays to rows of float64; raise where they do not match."""
        if (self.x_test is None) != (self.y_test is None):
            raise bad("x_test", self.x_test, "x_test and y_test, both or neither")
        for inputs, targets in (("x", "y"), ("x_test", "y_test")):
            if getattr(self, inputs) is not None:
                x, y = _rows(inputs, getattr(self, inputs)), _rows(targets, getattr(self, targets))
                if len(x) != len(y):
                    raise bad(targets, f"{len(y)} rows", f"as many as {inputs} has, {len(x)}")
                object.__setattr__(self, inputs, x)
                object.__setattr__(self, targets, y)
        if self.x_test is not None and self.x_test.shape[1] != self.input_size:
            raise bad("x_test", self.x_test.shape, f"{self.input_size} inputs a row, as x has")

    @property
    def input_size(self) -> int:
        """Inputs of a row."""
        return self.x.shape[1]

    @property
    def output_size(self) -> int:
        """Targets of a row."""
        return self.y.shape[1]

    def samples(self, key: jax.Array) -> Labelled:
        """The training arrays, the same for every seed."""
        return pair(self.x, self.y)

    def test_set(self, context: Any) -> Labelled:
        """The test arrays."""
        if self.x_test is None:
            raise bad("x_test", None, "a test set", "give x_test and y_test")
        return pair(self.x_test, self.y_test)


def pair(x: np.ndarray, y: np.ndarray) -> Labelled:
    """Inputs and targets in the current precision; targets get a column axis."""
    form = jnp.result_type(float)
    return jnp.asarray(x, form), jnp.asarray(y.reshape(len(y), -1), form)


def _rows(name: str, values: Any) -> np.ndarray:
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise bad(name, values, "an array of numbers") from None
    if array.ndim < 1 or not array.size or not np.isfinite(array).all():
        raise bad(name, f"shape {array.shape}", "finite numbers, one row a sample")
    array = array.reshape(len(array), -1)
    array.setflags(write=False)
    return array
