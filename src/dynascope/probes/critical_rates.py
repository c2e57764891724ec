"""The critical learning rate, 2 over the largest eigenvalue, in all its definitions.

Gradient descent on a quadratic diverges exactly from there on. Whose eigenvalue, of which loss,
with which reduction and on which batch differs by a factor of hundreds between papers, so
every value says it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Literal

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.core import quantities
from dynascope.core.errors import bad, unknown
from dynascope.core.quantities import Quantity
from dynascope.core.spec import static_field
from dynascope.models.base import Network
from dynascope.numerics.eigenpairs import (
    MAX_PRODUCTS,
    TOLERANCE,
    Eigenpairs,
    starts,
    top_eigenpairs,
)
from dynascope.numerics.products import flatten, gauss_newton_product, hessian_product
from dynascope.probes.base import Snapshot, WarmProbe
from dynascope.probes.certificates import Certified, certify
from dynascope.probes.curvature import check_effort, loss_hessian_pairs, unknown_vector
from dynascope.probes.kernels import kernel_pairs, needs_pairs, unknown_outputs
from dynascope.tasks.base import Task

Definition = Literal["hessian", "gauss_newton", "tangent_kernel"]


def _cross_entropy(outputs: jax.Array, y: jax.Array) -> jax.Array:
    """Mean over samples of -log softmax(outputs)[class]; y is one-hot, or any distribution."""
    return -jnp.mean(jnp.sum(y * jax.nn.log_softmax(outputs, axis=-1), axis=-1))


LOSSES: dict[str, Callable[[jax.Array, jax.Array], jax.Array]] = {
    "mse": lambda outputs, y: jnp.mean((outputs - y) ** 2),
    "half": lambda outputs, y: jnp.sum((outputs - y) ** 2) / 2,
    "cross_entropy": _cross_entropy,
}
_LOSS_WORDS = {
    "mse": "mean squared error over {entries}",
    "half": "half the sum of squared errors",
    "cross_entropy": "mean cross-entropy over {entries}",
}
_DEFINITION_WORDS = {
    "hessian": "2 / largest eigenvalue of the loss Hessian",
    "gauss_newton": "2 / largest eigenvalue of the Gauss-Newton matrix",
    "tangent_kernel": "{factor} / largest eigenvalue of the tangent kernel",
}


def critical_learning_rate(
    f: Callable[[Any, jax.Array], jax.Array],
    params: Any,
    x: Any,
    y: Any,
    loss: Literal["mse", "half", "cross_entropy"] = "mse",
    definition: Definition = "hessian",
    batch: Any = None,
    *,
    start: Any = None,
    tolerance: float = TOLERANCE,
    max_products: int = MAX_PRODUCTS,
) -> Certified:
    """The learning rate above which a step of gradient descent overshoots.

    Args:
        f: `f(params, x)` on a batch.
        params: A tree of floating arrays.
        x: Inputs, one row a sample.
        y: Targets with as many numbers as `f(params, x)`; for cross-entropy also classes from
            0, one whole number a sample.
        loss: "mse", the mean of squared errors over all samples and outputs, or "half", half
            their sum. With n samples and c outputs a rate for "half" is 2/(n c) of one for "mse".
            "cross_entropy" of a softmax, mean over samples; the kernel alone does not give its
            rate, so the definition is "hessian" or "gauss_newton".
        definition: "hessian", 2 / the largest eigenvalue of the loss's Hessian; "gauss_newton",
            the same without the curvature of f; "tangent_kernel", n c / largest eigenvalue of
            the kernel for "mse" and 2 / it for "half", the same number as "gauss_newton".
        batch: Numbers of the rows that the step sees; all by default.
        start: A vector to start from, such as that of the last record; random by default.
        tolerance: Largest residual of the eigenpair that counts as converged.
        max_products: Most products.

    Returns:
        The rate with the eigenpair's certificate. If the largest eigenvalue is not positive the
        rate is infinite, and `definition` says so. The vector has the shape of `params`, or
        of the outputs for the tangent kernel.

    Cost: see `sharpness`. Misleads: at this rate the loss of a network need not diverge, it may
    rise for some steps and settle where the curvature is smaller.

    Example:
        >>> line = lambda w, x: x @ w
        >>> x, y = jnp.array([[2.0], [0.0]]), jnp.zeros(2)
        >>> critical_learning_rate(line, jnp.ones(1), x, y, loss="half").value  # 2 / 2^2
        0.5
        >>> critical_learning_rate(line, jnp.ones(1), x, y, loss="mse").value  # 2 / (2/2 2^2)
        0.5
    """
    if loss not in LOSSES:
        raise unknown("loss", str(loss), LOSSES)
    if definition not in _DEFINITION_WORDS:
        raise unknown("definition", str(definition), _DEFINITION_WORDS)
    if loss == "cross_entropy":
        if definition == "tangent_kernel":
            raise bad(
                "definition", definition, '"hessian" or "gauss_newton" for cross-entropy',
                "its curvature in the outputs is not a multiple of the identity",
            )  # fmt: skip
        y = _one_hot(f, params, x, y)
    inputs, targets, seen = _rows(f, params, x, y, batch)
    shaped = targets if definition == "tangent_kernel" else params
    warm = None if start is None else _flat_start(start, shaped)
    pairs = _pairs(f, loss, definition, tolerance, max_products, params, inputs, targets, warm)
    restore = (lambda v: v.reshape(targets.shape)) if shaped is targets else flatten(params)[1]
    factor = 2.0 if definition != "tangent_kernel" else kernel_factor(loss, targets.size)
    text = _words(loss, definition, targets, seen)
    (record,) = certify(pairs, restore, text)
    return _rate(record, pairs, factor)


def kernel_factor(loss: str, entries: int) -> float:
    """What stands over the kernel's largest eigenvalue, for n c entries."""
    return 2.0 if loss == "half" else float(entries)


def _rate(record: Certified, pairs: Eigenpairs, factor: float) -> Certified:
    """The rate in place of the eigenvalue."""
    rate = rate_of(pairs, factor)
    if isinstance(rate, jax.core.Tracer):
        return replace(record, value=rate)  # type: ignore[arg-type]
    text = record.definition
    if np.isinf(rate):
        text += "; infinite, because that is not positive"
    return replace(record, value=float(rate), definition=text)


def rate_of(pairs: Eigenpairs, factor: Any) -> jax.Array:
    """Factor over the first eigenvalue; infinite if that is not positive beyond rounding."""
    value = pairs.values[0]
    safe = jnp.where(pairs.positive()[0], value, jnp.ones_like(value))
    rate = jnp.where(pairs.positive()[0], factor / safe, jnp.inf)
    return jnp.where(jnp.isnan(value), value, rate)


@partial(jax.jit, static_argnums=(0, 1, 2, 3, 4))
def _pairs(
    f: Callable, loss: str, definition: str, tolerance: float, most: int,
    params: Any, x: jax.Array, y: jax.Array, warm: jax.Array | None,
) -> Eigenpairs:  # fmt: skip
    outputs = lambda p: f(p, x)  # noqa: E731
    if definition == "tangent_kernel":
        return kernel_pairs(outputs, params, 1, tolerance, most, warm)
    measure = lambda out: LOSSES[loss](out, y)  # noqa: E731
    if definition == "hessian":
        product = hessian_product(lambda p: measure(outputs(p)), params)
    else:
        product = gauss_newton_product(measure, outputs, params)
    vector, _ = flatten(params)
    begin = starts(1, vector.size, vector.dtype, warm)
    return top_eigenpairs(product, begin, tolerance=tolerance, max_products=most)


def _one_hot(f: Callable, params: Any, x: Any, y: Any) -> Any:
    """Classes as rows with a single 1; targets that are rows already as they are."""
    targets = jnp.asarray(y)
    if not jnp.issubdtype(targets.dtype, jnp.integer):
        return targets
    outputs = jax.eval_shape(f, params, jnp.asarray(x)).shape
    if len(outputs) != 2 or targets.shape != outputs[:1]:
        raise bad("y", f"classes of shape {targets.shape}", f"one for each row of {outputs}")
    if targets.min() < 0 or targets.max() >= outputs[1]:
        raise bad("y", f"class {int(targets.max())}", f"classes from 0 to {outputs[1] - 1}")
    return jax.nn.one_hot(targets, outputs[1])


def _rows(f: Callable, params: Any, x: Any, y: Any, batch: Any) -> tuple:
    """Inputs and targets of the batch, targets shaped as the outputs; and the batch's size."""
    inputs, targets = jnp.asarray(x), jnp.asarray(y)
    shape = jax.eval_shape(f, params, inputs)
    same = shape.shape == targets.shape
    # A column beside a row would broadcast to a square of errors.
    if not same and (shape.shape[:1] != targets.shape[:1] or shape.size != targets.size):
        raise bad("y", f"targets of shape {targets.shape}", f"the outputs' shape {shape.shape}")
    targets = targets.reshape(shape.shape).astype(shape.dtype)
    if batch is None:
        return inputs, targets, None
    rows = np.asarray(batch)
    if rows.ndim != 1 or not rows.size or not np.issubdtype(rows.dtype, np.integer):
        raise bad("batch", batch, "numbers of rows", "such as numpy.arange(32)")
    if rows.min() < 0 or rows.max() >= len(inputs):
        raise bad("batch", int(rows.max()), f"numbers of rows below {len(inputs)}")
    return inputs[rows], targets[rows], (len(rows), len(inputs))


def _flat_start(start: Any, shaped: Any) -> jax.Array:
    got, expected = jax.tree.map(jnp.shape, start), jax.tree.map(jnp.shape, shaped)
    if got != expected:
        raise bad("start", got, f"a vector of shape {expected}")
    return flatten(start)[0][None]


def _words(loss: str, definition: str, y: jax.Array, seen: tuple[int, int] | None) -> str:
    entries = f"{len(y)} samples"
    if y.size != len(y):
        entries += f" x {y.size // len(y)} outputs"
    factor = kernel_factor(loss, y.size)
    of = _DEFINITION_WORDS[definition].format(factor=f"{factor:g}")
    batch = f"batch of {seen[0]} of {seen[1]} samples" if seen else f"all {len(y)} samples"
    return f"{of}; loss: {_LOSS_WORDS[loss].format(entries=entries)}; {batch}"


@dataclass(frozen=True)
class CriticalLearningRate(WarmProbe):
    """The critical learning rate of the training objective, on the whole training set.

    The loss is the task's own. "gauss_newton" leaves out the curvature of the model;
    "tangent_kernel" is the same by way of the kernel, for losses that are a multiple of the
    squared error, and NaN for others. Infinite where the curvature is nowhere positive, NaN
    where the eigenvalue is not certified. Cost and when it misleads: see
    `critical_learning_rate` and `Sharpness`.
    """

    quantity: ClassVar[Quantity] = quantities.CRITICAL_LEARNING_RATE
    undefined = "infinite where no curvature is positive, NaN where none has converged"

    definition: Definition = "hessian"
    tolerance: float = static_field(TOLERANCE)
    max_products: int = MAX_PRODUCTS

    def check(self) -> None:
        """Raise for a tolerance or a number of products that certifies nothing."""
        check_effort(self.tolerance, self.max_products)

    def needs(self, task: Task, network: Network) -> str | None:
        """Inputs and targets, unless the loss's Hessian is enough."""
        return None if self.definition == "hessian" else needs_pairs(task)

    def memory(self, snapshot: Snapshot) -> jax.Array:
        """No eigenvector yet."""
        kernel = self.definition == "tangent_kernel"
        return unknown_outputs(snapshot, 1) if kernel else unknown_vector(snapshot)

    def remeasure(self, snapshot: Snapshot, memory: jax.Array) -> tuple[jax.Array, jax.Array]:
        """The rate, infinite or NaN, and the vector."""
        pairs, factor = self._pairs(snapshot, memory)
        return jnp.where(pairs.converged[0], rate_of(pairs, factor), jnp.nan), pairs.vectors

    def _pairs(self, snapshot: Snapshot, warm: jax.Array) -> tuple[Eigenpairs, Any]:
        if self.definition == "hessian":
            return loss_hessian_pairs(snapshot, warm, self.tolerance, self.max_products), 2.0
        params, x = snapshot.params, snapshot.samples[0]
        outputs = lambda p: snapshot.network.apply(p, x)  # noqa: E731
        measure = lambda out: snapshot.task.loss(_Given(out), snapshot.samples)  # noqa: E731
        if self.definition == "tangent_kernel":
            pairs = kernel_pairs(outputs, params, 1, self.tolerance, self.max_products, warm)
            return pairs, 2.0 / _squared_factor(measure, outputs(params))
        product = gauss_newton_product(measure, outputs, params)
        vector, _ = flatten(params)
        begin = starts(1, vector.size, vector.dtype, warm)
        effort = {"tolerance": self.tolerance, "max_products": self.max_products}
        return top_eigenpairs(product, begin, **effort), 2.0  # type: ignore[arg-type]


class _Given:
    """A `predict` whose outputs are given, so that a loss becomes a function of them."""

    def __init__(self, outputs: jax.Array) -> None:
        self.outputs = outputs

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.outputs

    linear = False

    def affine(self) -> tuple[jax.Array, jax.Array | None]:
        raise TypeError("given outputs have no matrix")


def _squared_factor(measure: Callable, outputs: jax.Array) -> jax.Array:
    """The d of a loss whose Hessian in the outputs is d times the identity, else NaN."""
    test = starts(1, outputs.size, outputs.dtype).reshape(outputs.shape)
    image = jax.jvp(jax.grad(measure), (outputs,), (test,))[1]
    factor = jnp.sum(test * image)
    same = jnp.abs(image - factor * test).max() <= 1e-4 * jnp.abs(factor) * jnp.abs(test).max()
    return jnp.where(same, factor, jnp.nan)
