"""Inputs with classes: tokens, pictures or vectors, and the cross-entropy of what is predicted.

Inputs keep the form in which they come: whole numbers for tokens, bytes or floats for pictures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.core.errors import bad
from dynascope.tasks.base import Predict, Task

Labelled = tuple[jax.Array, ...]  # inputs (n, ...), classes (n, ...), and their weights if any


def cross_entropy(logits: jax.Array, classes: jax.Array, weights: Any = None) -> jax.Array:
    """The mean of -log p(class) over all positions, weighted; 0 where all weights are 0.

    Args:
        logits: (..., classes).
        classes: (...) whole numbers.
        weights: (...) how much each position counts; 0 leaves it out. All alike by default.

    Returns:
        A number, in nats.

    Example:
        >>> even = jnp.zeros((2, 3, 4))  # two sequences of three positions, four classes
        >>> round(float(jnp.exp(cross_entropy(even, jnp.ones((2, 3), int)))), 5)
        4.0
    """
    logs = jax.nn.log_softmax(logits)
    losses = -jnp.take_along_axis(logs, classes[..., None], axis=-1)[..., 0]
    return weighted_mean(losses, weights)


def weighted_mean(values: jax.Array, weights: Any = None) -> jax.Array:
    """The mean over all positions; 0 where all weights are 0."""
    if weights is None:
        return jnp.mean(values)
    total = jnp.sum(weights)
    some = total > 0
    return jnp.where(some, jnp.sum(weights * values) / jnp.where(some, total, 1.0), 0.0)


def as_read(x: jax.Array) -> jax.Array:
    """Inputs as a model reads them: bytes of pictures as 0 to 1, all else as it is."""
    return x.astype(jnp.result_type(float)) / 255 if x.dtype == jnp.uint8 else x


@dataclass(frozen=True)
class Classes(Task):
    """Inputs with whole-number classes, one each or one for every position; cross-entropy.

    `samples` are (inputs, classes) or (inputs, classes, weights).
    """

    def test_set(self, context: Any) -> Labelled:
        """Inputs, classes and weights that are not trained on."""
        raise NotImplementedError(f"{type(self).__name__} has no test set")

    def loss(self, predict: Predict, samples: Labelled) -> jax.Array:
        """Weighted mean of the cross-entropy over all positions."""
        x, *target = samples
        return cross_entropy(predict(as_read(x)), *target)

    def test_set_loss(self, predict: Predict, context: Any) -> jax.Array:
        """Cross-entropy on the test set."""
        return self.loss(predict, self.test_set(context))

    def test_set_accuracy(self, predict: Predict, context: Any) -> jax.Array:
        """Weighted share of the test set's positions whose largest output is their class."""
        x, classes, *weights = self.test_set(context)
        right = jnp.argmax(predict(as_read(x)), axis=-1) == classes
        return weighted_mean(right.astype(jnp.result_type(float)), *weights)


@dataclass(frozen=True, eq=False)
class ArrayClasses(Classes):
    """A user's own tokens or pictures with classes; held once, whatever the number of seeds.

    Args:
        x: (samples, positions) whole numbers for tokens, (samples, height, width, channels)
            bytes or floats for pictures, or (samples, inputs) floats.
        y: (samples,) or (samples, positions) classes, whole numbers from 0.
        weights: Of every class in `y`; 0 leaves a position out of the loss.
        x_test: Inputs of the test set, if there is one.
        y_test: Its classes.
        weights_test: Its weights.
        classes: Number of classes; by default what `y`, and `x` of tokens, needs.

    Example:
        >>> text = np.frombuffer(b"abcabcab", np.uint8).astype(int) - ord("a")
        >>> task = ArrayClasses(text[None, :-1], text[None, 1:])  # the next letter
        >>> task.input_size, task.output_size
        (3, 3)
    """

    x: Any
    y: Any
    weights: Any = None
    x_test: Any = None
    y_test: Any = None
    weights_test: Any = None
    classes: int | None = None

    def check(self) -> None:
        """Bring the arrays to the form that is kept; raise where they do not match."""
        for end in ("", "_test"):
            x, y, w = (getattr(self, name + end) for name in ("x", "y", "weights"))
            if end and x is None and y is None and w is None:
                continue
            x, y = _inputs("x" + end, x), _whole("y" + end, y)
            if y.shape[0] != x.shape[0]:
                raise bad("y" + end, f"{len(y)} rows", f"as many as x{end} has, {len(x)}")
            if w is not None:
                w = _weights("weights" + end, w, y.shape)
            for name, array in (("x", x), ("y", y), ("weights", w)):
                object.__setattr__(self, name + end, array)
        if self.x_test is not None and self.x_test.shape[1:] != self.x.shape[1:]:
            raise bad("x_test", self.x_test.shape, f"samples of shape {self.x.shape[1:]}, as x has")
        needed = self._needed()
        if self.classes is None:
            object.__setattr__(self, "classes", needed)
        elif self.classes < needed:
            raise bad("classes", self.classes, f"at least {needed}, the largest class and 1")

    def _needed(self) -> int:
        tokens = (self.x, self.x_test) if self.of_tokens else ()
        held = [a for a in (self.y, self.y_test, *tokens) if a is not None]
        return 1 + max(int(a.max()) for a in held)

    @property
    def of_tokens(self) -> bool:
        """Whether the inputs are tokens."""
        return self.x.dtype == np.int32

    @property
    def shared(self) -> bool:
        """The same arrays for every seed."""
        return True

    @property
    def input_size(self) -> int:
        """Different tokens, or numbers in a sample."""
        return self.output_size if self.of_tokens else int(np.prod(self.x.shape[1:]))

    @property
    def output_size(self) -> int:
        """Number of classes."""
        return self.classes  # type: ignore[return-value]

    def samples(self, key: jax.Array) -> Labelled:
        """The training arrays."""
        return _held(self.x, self.y, self.weights)

    def context(self, key: jax.Array) -> Labelled | None:
        """The test arrays, which are held once like the others."""
        held = self.x_test is not None
        return _held(self.x_test, self.y_test, self.weights_test) if held else None

    def test_set(self, context: Any) -> Labelled:
        """The test arrays."""
        if context is None:
            raise bad("x_test", None, "a test set", "give x_test and y_test")
        return context


def _held(*arrays: np.ndarray | None) -> Labelled:
    return tuple(jnp.asarray(a) for a in arrays if a is not None)


def _inputs(name: str, values: Any) -> np.ndarray:
    """Whole numbers as tokens (int32), bytes as they are, all else as finite floats."""
    array = np.array(values)
    if array.dtype.kind in "iu" and array.dtype != np.uint8:
        array = _whole(name, array)
    elif array.dtype.kind == "f" and np.isfinite(array).all():
        array = np.asarray(array, np.float64 if array.dtype == np.float64 else np.float32)
    elif array.dtype != np.uint8:
        raise bad(name, f"{array.dtype} numbers", "whole numbers, bytes or finite floats")
    if array.ndim < 2 or not array.size:
        raise bad(name, f"shape {array.shape}", "one row a sample")
    array.setflags(write=False)
    return array


def _whole(name: str, values: Any) -> np.ndarray:
    array = np.asarray(values)
    if array.dtype.kind not in "iu" or not array.size or array.ndim < 1:
        raise bad(name, f"{array.dtype} of shape {array.shape}", "whole numbers, one row a sample")
    if array.min() < 0 or array.max() >= 2**31:
        raise bad(name, int(array.min()), "whole numbers from 0")
    array = array.astype(np.int32)
    array.setflags(write=False)
    return array


def _weights(name: str, values: Any, shape: tuple[int, ...]) -> np.ndarray:
    array = np.array(values, dtype=np.float64)
    if array.shape != shape:
        raise bad(name, f"shape {array.shape}", f"the classes' shape, {shape}")
    if not np.isfinite(array).all() or array.min() < 0 or not array.any():
        raise bad(name, float(array.min()), "finite numbers of at least 0, not all 0")
    array.setflags(write=False)
    return array
