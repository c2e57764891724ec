"""The residual in the eigenspaces of the tangent kernel, and the kernel's alignment with targets.

Gradient descent shrinks each part of the residual at the rate of its eigenvalue; past the
critical rate the part in the top eigenspace grows instead, which is a catapult (zhu2024 ch. 3, 4).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.core import quantities
from dynascope.core.errors import bad
from dynascope.core.quantities import Quantity
from dynascope.core.spec import static_field
from dynascope.models.base import Network
from dynascope.numerics.decompositions import eigh
from dynascope.numerics.eigenpairs import MAX_PRODUCTS, TOLERANCE
from dynascope.probes.base import Probe, Snapshot, WarmProbe
from dynascope.probes.curvature import check_effort
from dynascope.probes.kernels import TangentKernel, kernel_pairs, needs_pairs, pairs_of
from dynascope.tasks.base import Task

PARTS = ("top", "rest")


def eigenspace_split(kernel: Any, residual: Any, top: int = 1) -> tuple[float, float]:
    """The squared length of a residual, within the kernel's top eigenspace and outside.

    Args:
        kernel: A symmetric matrix, (entries, entries).
        residual: Outputs less targets, as many numbers.
        top: The dimension of the eigenspace.

    Returns:
        Two numbers that add to |residual|^2.

    Cost: a dense eigendecomposition; `ResidualSplit` needs none. Misleads: where the eigenvalues
    number `top` and `top` + 1 are equal the split is arbitrary.

    Example:
        >>> eigenspace_split(np.diag([1.0, 5.0, 2.0]), [1.0, 2.0, 3.0])
        (4.0, 10.0)
    """
    matrix, vector = np.asarray(kernel, float), np.asarray(residual, float).ravel()
    if matrix.shape != (vector.size, vector.size):
        raise bad("kernel", matrix.shape, f"({vector.size}, {vector.size}), as the residual has")
    if not 1 <= top <= vector.size:
        raise bad("top", top, f"from 1 to {vector.size}, the size of the kernel")
    along = np.linalg.eigh(matrix)[1][:, -top:].T @ vector
    inside = float(along @ along)
    return inside, max(float(vector @ vector) - inside, 0.0)


def kernel_alignment(kernel: Any, targets: Any) -> float:
    """The cosine between a kernel and that of the targets: y^T K y / (|K|_F |y|^2).

    Args:
        kernel: A symmetric matrix, (entries, entries).
        targets: As many numbers.

    Returns:
        A number from -1 to 1; 1 for K = y y^T. NaN where kernel or targets are zero.

    Misleads: targets and kernel are not centred; with a constant part in both it is large for
    that alone. Subtract means first for the centred alignment.

    Example:
        >>> round(kernel_alignment(np.eye(4), np.ones(4)), 4)  # 4 / (2 x 4)
        0.5
    """
    matrix, y = np.asarray(kernel, float), np.asarray(targets, float).ravel()
    if matrix.shape != (y.size, y.size):
        raise bad("kernel", matrix.shape, f"({y.size}, {y.size}), as many as targets")
    below = np.linalg.norm(matrix) * (y @ y)
    return float(y @ matrix @ y / below) if below > 0 else float("nan")


def _needs_alike(task: Task) -> str | None:
    """None for a task whose targets are compared with outputs number by number."""
    found = pairs_of(task)
    if found and int(np.prod(found[1].shape)) != found[1].shape[0] * task.output_size:
        return "targets with as many numbers as outputs"
    return needs_pairs(task)


@dataclass(frozen=True)
class ResidualSplit(WarmProbe):
    """Mean squared residual on the training set within the kernel's top eigenspace, and outside.

    The eigenspace is that of the moment, spanned by `top` vectors; NaN where one of them is not
    certified. Cost: see `tangent_kernel_top`. Misleads: see `eigenspace_split`.
    """

    quantity: ClassVar[Quantity] = quantities.RESIDUAL_SPLIT
    undefined = "NaN where the eigenvectors have not converged"

    top: int = 1
    tolerance: float = static_field(TOLERANCE)
    max_products: int = MAX_PRODUCTS

    def check(self) -> None:
        """Raise for a dimension, tolerance or number of products that gives nothing."""
        check_effort(self.tolerance, self.max_products)
        if self.top < 1:
            raise bad("top", self.top, "at least 1 direction")

    def needs(self, task: Task, network: Network) -> str | None:
        """Inputs and targets, at least as many as directions."""
        found = pairs_of(task)
        if found and found[0].shape[0] * task.output_size < self.top:
            return f"at least {self.top} outputs, one for each direction"
        return _needs_alike(task)

    def coords(self, task: Task) -> dict[str, Any]:
        """The two parts by name."""
        return {"part": list(PARTS)}

    def memory(self, snapshot: Snapshot) -> jax.Array:
        """No eigenvectors yet."""
        shape = jax.eval_shape(snapshot.network.apply, snapshot.params, snapshot.samples[0])
        return jnp.zeros((self.top, shape.size), shape.dtype)

    def remeasure(self, snapshot: Snapshot, memory: jax.Array) -> tuple[jax.Array, jax.Array]:
        """(2,) the two parts, and the eigenvectors."""
        x, y = snapshot.samples
        outputs = lambda p: snapshot.network.apply(p, x)  # noqa: E731
        pairs = kernel_pairs(
            outputs, snapshot.params, self.top, self.tolerance, self.max_products, memory
        )
        there = outputs(snapshot.params)
        residual = (there - y.reshape(there.shape)).reshape(-1)
        whole = jnp.mean(residual**2)
        inside = jnp.sum((pairs.vectors @ residual) ** 2) / residual.size
        parts = jnp.stack([inside, jnp.maximum(whole - inside, jnp.zeros_like(whole))])
        return jnp.where(pairs.converged.all(), parts, jnp.nan), pairs.vectors


@dataclass(frozen=True)
class KernelSplit(Probe):
    """Norm of the tangent kernel with the two parts of the residual, from the whole kernel.

    The same numbers as `TangentKernelNorm` and `ResidualSplit`. Cost: that of the whole kernel
    and its eigenvectors at every record; below some hundred outputs that is less than products
    for several eigenvectors. Misleads: see `eigenspace_split`.
    """

    quantity: ClassVar[Quantity] = quantities.KERNEL_SPLIT

    top: int = 1

    def check(self) -> None:
        """Raise for a dimension that gives nothing."""
        if self.top < 1:
            raise bad("top", self.top, "at least 1 direction")

    def needs(self, task: Task, network: Network) -> str | None:
        """Inputs and targets, at least as many as directions."""
        return ResidualSplit(self.top).needs(task, network)

    def coords(self, task: Task) -> dict[str, Any]:
        """The three numbers by name."""
        return {"kernel_part": ["norm", *PARTS]}

    def measure(self, snapshot: Snapshot) -> jax.Array:
        """(3,) norm, top and rest."""
        x, y = snapshot.samples
        values, vectors = eigh(TangentKernel().measure(snapshot))
        there = snapshot.network.apply(snapshot.params, x)
        residual = (there - y.reshape(there.shape)).reshape(-1)
        parts = (vectors.T @ residual) ** 2 / residual.size  # the largest eigenvalue last
        return jnp.stack([values[-1], parts[-self.top :].sum(), parts[: -self.top].sum()])


@dataclass(frozen=True)
class KernelAlignment(Probe):
    """The cosine between tangent kernel and targets on the training set; see `kernel_alignment`.

    Cost: that of the whole kernel (`TangentKernel`) at every record; for small training sets.
    """

    quantity: ClassVar[Quantity] = quantities.KERNEL_ALIGNMENT
    undefined = "NaN where the residual or the kernel is zero"

    def needs(self, task: Task, network: Network) -> str | None:
        """Inputs and targets."""
        return _needs_alike(task)

    def measure(self, snapshot: Snapshot) -> jax.Array:
        """The cosine."""
        kernel = TangentKernel().measure(snapshot)
        y = snapshot.samples[1].reshape(-1).astype(kernel.dtype)
        return y @ kernel @ y / (jnp.linalg.norm(kernel) * (y @ y))
