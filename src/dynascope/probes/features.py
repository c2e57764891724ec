"""Which inputs a network uses: the average gradient outer product, and its alignment.

zhu2024 (4.5), (4.6): G = (1/n) sum of grad f(x_i) grad f(x_i)^T, gradients in the input; with
several outputs the Jacobian's J^T J. The alignment is the cosine between G and the target
function's own, G* = E[grad f* grad f*^T].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.core import quantities
from dynascope.core.errors import bad
from dynascope.core.quantities import Quantity
from dynascope.models.base import Network
from dynascope.numerics.decompositions import eigvalsh
from dynascope.probes.base import Probe, Snapshot
from dynascope.probes.kernels import needs_pairs
from dynascope.tasks.base import Task


def agop(f: Callable[[Any, jax.Array], jax.Array], params: Any, x: Any) -> np.ndarray:
    """The average gradient outer product of a network.

    Args:
        f: `f(params, x)` on a batch, one row of outputs for each row of x by itself.
        params: A tree of arrays.
        x: (samples, inputs).

    Returns:
        (inputs, inputs), symmetric and positive semi-definite.

    Cost: one backward pass for each output, and an (inputs, inputs) product.

    Example:
        >>> agop(lambda w, x: x @ w, jnp.array([[3.0], [4.0]]), jnp.ones((5, 2))).tolist()
        [[9.0, 12.0], [12.0, 16.0]]
    """
    rows = jnp.asarray(x)
    if rows.ndim != 2 or not len(rows):
        raise bad("x", rows.shape, "(samples, inputs), at least one sample")
    return np.asarray(_agop(f, params, rows))


@partial(jax.jit, static_argnums=0)
def _agop(f: Callable, params: Any, x: jax.Array) -> jax.Array:
    return outer_product(lambda rows: f(params, rows), x)


def outer_product(f: Callable[[jax.Array], jax.Array], x: jax.Array) -> jax.Array:
    """The same where jax is tracing already; rows of f(x) depend on their own row of x alone."""
    outputs, gradient = _gradient_by_output(f, x)

    def add(number: jax.Array, total: jax.Array) -> jax.Array:
        rows = gradient(number)
        return total + rows.T @ rows

    size = x.size // len(x)
    total = jax.lax.fori_loop(0, outputs, add, jnp.zeros((size, size), x.dtype))
    return total / len(x)


def input_gradients(f: Callable[[jax.Array], jax.Array], x: jax.Array) -> jax.Array:
    """The gradient of every output of every sample in its own input: (outputs, samples, inputs).

    Example:
        >>> input_gradients(lambda x: x**2, jnp.array([[1.0, 3.0]])).tolist()
        [[[2.0, 0.0]], [[0.0, 6.0]]]
    """
    outputs, gradient = _gradient_by_output(f, x)
    return jax.lax.map(gradient, jnp.arange(outputs))


def _gradient_by_output(f: Callable, x: jax.Array) -> tuple[int, Callable[[Any], jax.Array]]:
    """How many outputs there are, and one output's gradients: number to (samples, inputs)."""
    out, pull = jax.vjp(lambda rows: f(rows).reshape(len(rows), -1), x)

    def gradient(number: Any) -> jax.Array:
        return pull(jnp.zeros_like(out).at[:, number].set(1))[0].reshape(len(x), -1)

    return out.shape[1], gradient


def agop_alignment(first: Any, second: Any) -> float:
    """The cosine between two matrices, Tr(A^T B) / (|A|_F |B|_F).

    Args:
        first: A matrix, such as a network's AGOP.
        second: Another of the same shape, such as the target's EGOP.

    Returns:
        From 0 to 1 for semi-definite matrices, 1 only for multiples of each other. NaN where
        one of them is zero: a network that is constant has no features to align.

    Misleads: a mean over all inputs, so two matrices with equal diagonals and nothing else in
    common are well aligned. `agop_correlation` is the centred number of other programs.

    Example:
        >>> round(agop_alignment(np.eye(100), np.diag([1.0, 1.0] + [0.0] * 98)), 4)  # sqrt(2)/10
        0.1414
    """
    a, b = _same_shape(first, second)
    below = np.linalg.norm(a) * np.linalg.norm(b)
    return float(np.sum(a * b) / below) if below > 0 else float("nan")


def agop_correlation(first: Any, second: Any) -> float:
    """Pearson's correlation of the entries of two matrices: the cosine after taking out means.

    Some programs report this as alignment; it is lower than `agop_alignment` wherever all
    entries share a constant.

    Example:
        >>> round(agop_correlation(np.eye(2), np.eye(2) + 5), 6)
        1.0
    """
    a, b = _same_shape(first, second)
    return agop_alignment(a - a.mean(), b - b.mean())


def _same_shape(first: Any, second: Any) -> tuple[np.ndarray, np.ndarray]:
    a, b = np.asarray(first, float), np.asarray(second, float)
    if a.shape != b.shape or a.ndim != 2:
        raise bad("second", b.shape, f"a matrix of shape {a.shape}, as the first has")
    return a, b


@dataclass(frozen=True)
class AGOP(Probe):
    """The average gradient outer product on the training inputs; see `agop`.

    Cost: as there, and an (inputs, inputs) matrix in every row of the record.
    """

    quantity: ClassVar[Quantity] = quantities.AGOP

    def needs(self, task: Task, network: Network) -> str | None:
        """Inputs and targets."""
        return needs_pairs(task)

    def measure(self, snapshot: Snapshot) -> jax.Array:
        """(inputs, inputs)."""
        predict = snapshot.network.bind(snapshot.params)
        return outer_product(lambda x: predict(x), snapshot.samples[0])


@dataclass(frozen=True)
class AGOPSpectrum(AGOP):
    """The largest eigenvalues of the AGOP on the training inputs.

    Cost: one backward pass for each output, and a dense eigendecomposition of the smaller of
    (inputs, inputs) and (samples x outputs, samples x outputs): G^T G and G G^T, with the
    gradients as the rows of G, have the same eigenvalues but for zeros.
    """

    quantity: ClassVar[Quantity] = quantities.AGOP_SPECTRUM

    count: int = 5

    def check(self) -> None:
        """Raise for no eigenvalue."""
        if self.count < 1:
            raise bad("count", self.count, "at least 1")

    def needs(self, task: Task, network: Network) -> str | None:
        """As many inputs as eigenvalues."""
        if task.input_size < self.count:
            return f"at least {self.count} inputs, one for each eigenvalue"
        return super().needs(task, network)

    def measure(self, snapshot: Snapshot) -> jax.Array:
        """(count,), largest first."""
        network, x = snapshot.network, snapshot.samples[0]

        def f(rows: jax.Array) -> jax.Array:
            return network.apply(snapshot.params, rows)

        outputs = jax.eval_shape(f, x).size // len(x)
        if len(x) * outputs < x.size // len(x):
            rows = input_gradients(f, x).reshape(len(x) * outputs, -1)
            values = eigvalsh(rows @ rows.T / len(x))
        else:
            values = eigvalsh(super().measure(snapshot))
        values = values[::-1][: self.count]
        return jnp.pad(values, (0, self.count - len(values)))  # the rest is zero


@dataclass(frozen=True)
class AGOPAlignment(AGOP):
    """The cosine between the AGOP on the training inputs and the task's EGOP.

    NaN where the AGOP is zero. Cost: see `agop`. Misleads: see `agop_alignment`.
    """

    quantity: ClassVar[Quantity] = quantities.AGOP_ALIGNMENT
    undefined = "NaN where the AGOP is zero"

    def needs(self, task: Task, network: Network) -> str | None:
        """A task whose expected gradient outer product is known."""
        if not hasattr(task, "egop"):
            return "a task with a known `egop` (LowRank)"
        return super().needs(task, network)

    def measure(self, snapshot: Snapshot) -> jax.Array:
        """The cosine."""
        own = super().measure(snapshot)
        target = jnp.asarray(snapshot.task.egop(), own.dtype)  # type: ignore[attr-defined]
        below = jnp.linalg.norm(own) * jnp.linalg.norm(target)
        return jnp.where(below > 0, jnp.sum(own * target) / below, jnp.nan)
