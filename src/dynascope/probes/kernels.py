"""The empirical tangent kernel K = J J^T: the matrix itself, or its top eigenpairs without it.

None of these functions moves parameters or touches the caller's jax configuration: they
compute in the dtype of the parameters. Rows are sample-major, as `f(params, x).reshape(-1)`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.core import quantities
from dynascope.core.errors import BadInput, bad
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
from dynascope.numerics.layerwise import contract, factors, numbers_per_sample
from dynascope.numerics.products import flatten, kernel_product
from dynascope.probes.base import Probe, Snapshot, WarmProbe
from dynascope.probes.certificates import Certified, certify
from dynascope.probes.curvature import check_count, check_effort
from dynascope.runtime.memory import available_bytes
from dynascope.tasks.base import Task

# Factors of a block of samples; two blocks and their product exist at once. Every pair of blocks
# makes both anew: with 32 MB the kernel of a CNN takes 2.7 times as long.
BLOCK_BYTES = 2**28
GIGABYTE = 2**30


def tangent_kernel(
    f: Callable[[Any, jax.Array], jax.Array],
    params: Any,
    x: Any,
    z: Any = None,
    *,
    memory: float | None = None,
) -> jax.Array:
    """The empirical tangent kernel, sum over parameters of df(x_i) df(x_j).

    Args:
        f: `f(params, x)` on a batch: one row of outputs for each row of x, independent of the
            other rows.
        params: A tree of floating arrays.
        x: Inputs, one row a sample.
        z: Other inputs, for the kernel between x and z; x itself by default.
        memory: Most gigabytes to use; by default 0.8 of what is available. A kernel predicted
            to need more is refused before it starts.

    Returns:
        The kernel, (n, n) for one output, (n c, n c) for c outputs, rows as in
        `f(params, x).reshape(-1)`; (n c, m c) between x and z.

    Cost: one backward pass for each output of each sample, then a contraction, block by block,
    so that memory stays near that of the kernel. Weights that multiply one vector a sample are
    contracted layer by layer, without their Jacobian. Misleads: in float32, eigenvalues
    below 1e-6 of the largest are rounding.

    Example:
        >>> tangent_kernel(lambda w, x: x @ w, jnp.zeros(2), jnp.array([[1.0, 0.0], [2.0, 3.0]]))
        Array([[ 1.,  2.],
               [ 2., 13.]], dtype=float32)
    """
    rows = jnp.asarray(x)
    others = None if z is None else jnp.asarray(z)
    flatten(params)
    for name, value in (("x", rows), ("z", others)):
        if value is not None:
            _check_rows(f, params, value, name)
    size = kernel_size(f, params, rows, others)
    allowed = 0.8 * available_bytes() if memory is None else memory * GIGABYTE
    if size.bytes > allowed:
        raise BadInput(
            f"a tangent kernel of {size.shape[0]:,} x {size.shape[1]:,} would take about "
            f"{size.bytes / GIGABYTE:.3g} GB, more than {allowed / GIGABYTE:.3g} GB: take fewer "
            "samples or outputs, or tangent_kernel_top for eigenvalues without the matrix"
        )
    return _kernel(f, size.block, params, rows, others)


class KernelSize(NamedTuple):
    """Size of a kernel, samples in a block, and the memory that it will take at its peak."""

    shape: tuple[int, int]
    block: int
    bytes: int


def kernel_size(f: Callable, params: Any, x: jax.Array, z: jax.Array | None = None) -> KernelSize:
    """How a kernel would be computed, from shapes alone."""
    outputs = jax.eval_shape(f, params, x[:1]).size
    width = flatten(params)[0].dtype.itemsize
    per_sample = width * numbers_per_sample(f, params, x)
    samples = (len(x), len(x) if z is None else len(z))
    square = math.isqrt(BLOCK_BYTES // width) // outputs  # the product of two blocks is small too
    most = max(1, min(BLOCK_BYTES // per_sample, square, max(samples)))
    blocks = -(-max(samples) // most)
    block = -(-max(samples) // blocks)
    shape = (samples[0] * outputs, samples[1] * outputs)
    # The kernel and its copy without padding; two blocks of factors, each with the backward
    # pass that makes it; the product of a block.
    copies = 1 if blocks == 1 else 2
    peak = copies * shape[0] * shape[1] * width + 4 * block * per_sample
    return KernelSize(shape, block, peak + 3 * (block * outputs) ** 2 * width)


@partial(jax.jit, static_argnums=(0, 1))
def _kernel(f: Callable, block: int, params: Any, x: jax.Array, z: jax.Array | None) -> jax.Array:
    """Block after block, each made of the factors of its rows and of its columns."""
    symmetric = z is None
    others = x if z is None else z
    if block >= max(len(x), len(others)):
        ours = factors(f, params, x)
        kernel = contract(ours, ours if symmetric else factors(f, params, others))
        return (kernel + kernel.T) / 2 if symmetric else kernel
    outputs = jax.eval_shape(f, params, x[:1]).size
    rows, columns = -(-len(x) // block), -(-len(others) // block)
    places = [(i, j) for i in range(rows) for j in range(i + 1 if symmetric else columns)]
    wide_x, wide_z = _padded(x, rows * block), _padded(others, columns * block)
    side = block * outputs

    def fill(n: jax.Array, kernel: jax.Array) -> jax.Array:
        i, j = jnp.asarray(places)[n]
        ours = factors(f, params, jax.lax.dynamic_slice_in_dim(wide_x, i * block, block))
        theirs = factors(f, params, jax.lax.dynamic_slice_in_dim(wide_z, j * block, block))
        part = contract(ours, theirs)
        kernel = jax.lax.dynamic_update_slice(kernel, part, (i * side, j * side))
        if symmetric:
            part = jnp.where(i == j, (part + part.T) / 2, part.T)
            kernel = jax.lax.dynamic_update_slice(kernel, part, (j * side, i * side))
        return kernel

    empty = jnp.zeros((rows * side, columns * side), flatten(params)[0].dtype)
    kernel = jax.lax.fori_loop(0, len(places), fill, empty)
    return kernel[: len(x) * outputs, : len(others) * outputs]


def _padded(x: jax.Array, rows: int) -> jax.Array:
    """The rows, the last repeated until there are so many."""
    return jnp.concatenate([x, jnp.repeat(x[-1:], rows - len(x), axis=0)])


def _check_rows(f: Callable, params: Any, x: jax.Array, name: str) -> None:
    """Raise unless there is a row of outputs for each row of x, by itself."""
    if x.ndim == 0 or not len(x):
        raise bad(name, x.shape, "at least one sample, one row each")
    shape = jax.eval_shape(f, params, x).shape
    if not shape or shape[0] != len(x):
        raise bad("f", f"outputs of shape {shape}", f"one row for each of {len(x)} samples")
    if isinstance(x, jax.core.Tracer) or isinstance(flatten(params)[0], jax.core.Tracer):
        return
    half = len(x) // 2
    changed = x.at[half:].set(x[:1])
    first, again = (np.asarray(f(params, v))[:half] for v in (x, changed))
    if half and np.abs(first - again).max() > 1e-3 * np.abs(first).max():
        raise bad(
            "f", "outputs that depend on other rows", "a function of each row by itself",
            "fix batch statistics, or use tangent_kernel_top, which takes f as it is",
        )  # fmt: skip


def tangent_kernel_top(
    f: Callable[[Any, jax.Array], jax.Array],
    params: Any,
    x: Any,
    count: int = 1,
    *,
    start: Any = None,
    tolerance: float = TOLERANCE,
    max_products: int = MAX_PRODUCTS,
) -> tuple[Certified, ...]:
    """Top eigenpairs of the tangent kernel by products J (J^T v), without forming it.

    Args:
        f: `f(params, x)` on a batch; rows may depend on each other.
        params: A tree of floating arrays.
        x: Inputs, one row a sample.
        count: How many eigenvalues.
        start: Vectors to start from, (count, ...) with the outputs' shape; random by default.
        tolerance: Largest residual that counts as converged.
        max_products: Most products for each.

    Returns:
        One record per eigenvalue, largest first; vectors have the shape of `f(params, x)`.

    Cost: 5 to 30 products for each, a product like a forward and a backward pass.

    Example:
        >>> (pair,) = tangent_kernel_top(lambda w, x: x @ w, jnp.zeros(2), jnp.eye(2) * 3)
        >>> round(pair.value, 4)
        9.0
    """
    shape = jax.eval_shape(f, params, jnp.asarray(x)).shape
    check_count(count, int(np.prod(shape)))
    flatten(params)
    warm = None if start is None else jnp.reshape(jnp.asarray(start), (count, -1))
    pairs = _kernel_pairs(f, count, tolerance, max_products, params, jnp.asarray(x), warm)
    return certify(pairs, lambda v: v.reshape(shape), "largest eigenvalue of the tangent kernel")


@partial(jax.jit, static_argnums=(0, 1, 2, 3))
def _kernel_pairs(
    f: Callable, count: int, tolerance: float, most: int, params: Any, x: Any, warm: Any
) -> Eigenpairs:
    return kernel_pairs(lambda p: f(p, x), params, count, tolerance, most, warm)


def kernel_pairs(
    outputs: Callable[[Any], jax.Array],
    params: Any,
    count: int,
    tolerance: float,
    max_products: int,
    warm: jax.Array | None = None,
) -> Eigenpairs:
    """Top eigenpairs of the kernel of all outputs, for use where jax is tracing already."""
    shape = jax.eval_shape(outputs, params)
    begin = starts(count, shape.size, shape.dtype, warm)
    product = kernel_product(outputs, params)
    return top_eigenpairs(product, begin, tolerance=tolerance, max_products=max_products)


def pairs_of(task: Task) -> tuple[jax.ShapeDtypeStruct, jax.ShapeDtypeStruct] | None:
    """Shapes of a task's inputs and targets; None if its samples are not rows of such pairs."""
    if task.exact:
        return None
    samples = jax.eval_shape(task.samples, jax.random.key(0))
    if not isinstance(samples, tuple) or len(samples) != 2:
        return None
    x, y = samples
    whole = all(isinstance(a, jax.ShapeDtypeStruct) and a.shape for a in (x, y))
    # Bytes of pictures are not what the model reads.
    return (x, y) if whole and x.shape[0] == y.shape[0] and x.dtype != jnp.uint8 else None


def needs_pairs(task: Task) -> str | None:
    """None for a task of inputs and targets, else what is needed."""
    return None if pairs_of(task) else "a task whose samples are (inputs, targets), row by row"


@dataclass(frozen=True)
class TangentKernel(Probe):
    """The whole tangent kernel on the training inputs.

    Cost: see `tangent_kernel`, at every record, and a matrix in every row of the
    record; for small training sets. `TangentKernelNorm` is for the others.
    """

    quantity: ClassVar[Quantity] = quantities.TANGENT_KERNEL

    def needs(self, task: Task, network: Network) -> str | None:
        """Inputs and targets."""
        return needs_pairs(task)

    def measure(self, snapshot: Snapshot) -> jax.Array:
        """The kernel, rows sample-major."""
        x = snapshot.samples[0]
        size = kernel_size(snapshot.network.apply, snapshot.params, x)
        return _kernel(snapshot.network.apply, size.block, snapshot.params, x, None)


@dataclass(frozen=True)
class TangentKernelSpectrum(WarmProbe):
    """The largest eigenvalues of the tangent kernel on the training inputs, certified or NaN.

    Cost: see `tangent_kernel_top`, for each eigenvalue. Misleads: neighbours that differ by less
    than the tolerance may change places from one record to the next.
    """

    quantity: ClassVar[Quantity] = quantities.TANGENT_KERNEL_SPECTRUM
    undefined = "NaN where the eigenvalue has not converged"

    count: int = 5
    tolerance: float = static_field(TOLERANCE)
    max_products: int = MAX_PRODUCTS

    def check(self) -> None:
        """Raise for a count, tolerance or number of products that gives nothing."""
        check_effort(self.tolerance, self.max_products)
        if self.count < 1:
            raise bad("count", self.count, "at least 1")

    def needs(self, task: Task, network: Network) -> str | None:
        """Inputs and targets, as many as eigenvalues."""
        found = pairs_of(task)
        if found and found[0].shape[0] * task.output_size < self.count:
            return f"at least {self.count} outputs, one for each eigenvalue"
        return needs_pairs(task)

    def memory(self, snapshot: Snapshot) -> jax.Array:
        """No eigenvectors yet."""
        return unknown_outputs(snapshot, self.count)

    def remeasure(self, snapshot: Snapshot, memory: jax.Array) -> tuple[jax.Array, jax.Array]:
        """(count,) eigenvalues, largest first, and their vectors."""
        return _certified(snapshot, memory, self.tolerance, self.max_products)


@dataclass(frozen=True)
class TangentKernelNorm(WarmProbe):
    """The largest eigenvalue of the tangent kernel on the training inputs, certified or NaN.

    Cost: see `tangent_kernel_top`. Misleads: the kernel of all samples; a batch has its own.
    """

    quantity: ClassVar[Quantity] = quantities.TANGENT_KERNEL_NORM
    undefined = "NaN where the eigenvalue has not converged"

    tolerance: float = static_field(TOLERANCE)
    max_products: int = MAX_PRODUCTS

    def check(self) -> None:
        """Raise for a tolerance or a number of products that certifies nothing."""
        check_effort(self.tolerance, self.max_products)

    def needs(self, task: Task, network: Network) -> str | None:
        """Inputs and targets."""
        return needs_pairs(task)

    def memory(self, snapshot: Snapshot) -> jax.Array:
        """No eigenvector yet."""
        return unknown_outputs(snapshot, 1)

    def remeasure(self, snapshot: Snapshot, memory: jax.Array) -> tuple[jax.Array, jax.Array]:
        """The norm or NaN, and its vector."""
        values, vectors = _certified(snapshot, memory, self.tolerance, self.max_products)
        return values[0], vectors


def unknown_outputs(snapshot: Snapshot, count: int) -> jax.Array:
    """(count, outputs) zeros: what `starts` takes for no vectors at all."""
    shape = jax.eval_shape(snapshot.network.apply, snapshot.params, snapshot.samples[0])
    return jnp.zeros((count, shape.size), shape.dtype)


def _certified(
    snapshot: Snapshot, warm: jax.Array, tolerance: float, max_products: int
) -> tuple[jax.Array, jax.Array]:
    x = snapshot.samples[0]
    pairs = kernel_pairs(
        lambda p: snapshot.network.apply(p, x),
        snapshot.params, len(warm), tolerance, max_products, warm,
    )  # fmt: skip
    return jnp.where(pairs.converged, pairs.values, jnp.nan), pairs.vectors
