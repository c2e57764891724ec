"""What a step does to its batch: the batch's critical rate, its loss before and after.

zhu2024 chapter 4: a spike in the loss of SGD is a step whose rate exceeds b / lambda_1(K), K the
tangent kernel of the b samples of its batch. These probes see every step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import jax
import jax.numpy as jnp

from dynascope.core import quantities
from dynascope.core.errors import bad
from dynascope.core.quantities import Quantity
from dynascope.core.spec import static_field
from dynascope.models.base import Network
from dynascope.numerics.decompositions import eigvalsh
from dynascope.numerics.eigenpairs import MAX_PRODUCTS, TOLERANCE, starts, top_eigenpairs
from dynascope.numerics.layerwise import contract, factors, numbers_per_sample
from dynascope.numerics.products import flatten, hessian_product
from dynascope.probes.base import Snapshot, Step, StepProbe
from dynascope.probes.kernels import kernel_pairs, needs_pairs
from dynascope.tasks.base import Task
from dynascope.tasks.samples import Samples

MOMENTS = ("before", "after")
MARGIN = 1e-8  # by which a rate must exceed the critical one to count, zhu2024 section 4.4
DENSE_ENTRIES = 256  # outputs of a batch up to which its whole kernel is made
DENSE_NUMBERS = 2**25  # in the factors of a batch, about a tenth of a gigabyte


def kernel_norm(f: Callable[[Any, jax.Array], jax.Array], params: Any, x: jax.Array) -> jax.Array:
    """The largest eigenvalue of the tangent kernel on the rows of x, where jax traces already.

    Small batches have their whole kernel made; for the others it is found by products, and NaN
    where these do not converge.
    """
    outputs = jax.eval_shape(f, params, x)
    small = outputs.size <= DENSE_ENTRIES
    if small and len(x) * numbers_per_sample(f, params, x) <= DENSE_NUMBERS:
        ours = factors(f, params, x)
        return eigvalsh(contract(ours, ours))[-1]
    pairs = kernel_pairs(lambda p: f(p, x), params, 1, TOLERANCE, MAX_PRODUCTS)
    return jnp.where(pairs.converged[0], pairs.values[0], jnp.nan)


def batch_critical_rate(step: Step) -> jax.Array:
    """The critical rate of a step's batch: entries / lambda_1(K), or 2 / it for the half sum."""
    x, y = step.batch
    norm = kernel_norm(step.before.network.apply, step.before.params, x)
    entries = jnp.asarray(y.size if step.before.task.reduction == "mse" else 2, norm.dtype)  # type: ignore[attr-defined]
    return jnp.where(norm > 0, entries / norm, jnp.inf)


def batch_hessian_rate(step: Step) -> jax.Array:
    """2 / the largest eigenvalue of the Hessian of the batch's loss; NaN where not certified."""
    network, task = step.before.network, step.before.task
    product = hessian_product(lambda p: task.loss(network.bind(p), step.batch), step.before.params)
    vector, _ = flatten(step.before.params)
    begin = starts(1, vector.size, vector.dtype)
    pairs = top_eigenpairs(product, begin, tolerance=TOLERANCE, max_products=MAX_PRODUCTS)
    value = pairs.values[0]
    rate = jnp.where(value > 0, 2 / jnp.where(value > 0, value, 1), jnp.inf)
    return jnp.where(pairs.converged[0], rate, jnp.nan)


@dataclass(frozen=True)
class _OnBatches(StepProbe):
    """What these probes need: samples with targets and squared error."""

    def needs(self, task: Task, network: Network) -> str | None:
        """Squared error, whose critical rate the kernel gives."""
        return needs_pairs(task) if isinstance(task, Samples) else "a task with squared error"


@dataclass(frozen=True)
class BatchCriticalRate(_OnBatches):
    """Critical rate of the batch that the last step saw, at the parameters before that step.

    NaN before the first step. Recorded every step it is the thesis's eta_crit(X_batch), the
    value of row t + 1 belonging to the step from t. Cost: a kernel of the batch at every step;
    see `benchmarks/batch_critical_rate.py`. "hessian" is 2 / the largest eigenvalue of the batch
    loss's Hessian instead, by products, ten to thirty times as dear; the kernel leaves out
    the curvature of the model.
    """

    quantity: ClassVar[Quantity] = quantities.BATCH_CRITICAL_RATE
    undefined = "NaN before the first step and where not converged, infinite without curvature"

    definition: Literal["tangent_kernel", "hessian"] = "tangent_kernel"

    def memory(self, snapshot: Snapshot) -> jax.Array:
        """No step yet."""
        return jnp.asarray(jnp.nan)

    def observe(self, step: Step, memory: jax.Array) -> jax.Array:
        """The rate of this step's batch."""
        kernel = self.definition == "tangent_kernel"
        return batch_critical_rate(step) if kernel else batch_hessian_rate(step)

    def remeasure(self, snapshot: Snapshot, memory: jax.Array) -> tuple[jax.Array, jax.Array]:
        """What the last step had."""
        return memory, memory


@dataclass(frozen=True)
class SupercriticalSteps(_OnBatches):
    """How many steps so far had a rate above the critical one of their batch (zhu2024 4.4).

    The thesis's number of catapults is this at the best validation loss. Cost: see
    `BatchCriticalRate`. Misleads: steps are counted, not spikes; a catapult that lasts ten
    steps counts up to ten times.
    """

    quantity: ClassVar[Quantity] = quantities.SUPERCRITICAL_STEPS

    margin: float = static_field(MARGIN)

    def check(self) -> None:
        """Raise for a margin below zero."""
        if not 0 <= self.margin < float("inf"):
            raise bad("margin", self.margin, "a finite number of at least 0")

    def memory(self, snapshot: Snapshot) -> jax.Array:
        """None yet."""
        return jnp.asarray(0, jnp.int32)

    def observe(self, step: Step, memory: jax.Array) -> jax.Array:
        """One more if this step's rate is too large for its batch."""
        return memory + (step.rate - batch_critical_rate(step) > self.margin).astype(jnp.int32)

    def remeasure(self, snapshot: Snapshot, memory: jax.Array) -> tuple[jax.Array, jax.Array]:
        """The count."""
        return memory.astype(jnp.result_type(float)), memory


@dataclass(frozen=True)
class BatchLosses(_OnBatches):
    """Loss on the batch of the last step, before and after that step; NaN before the first.

    Cost: two forward passes over the batch at every step. Misleads: the next batch is another
    one, so the "after" of a step is not the "before" of the next.
    """

    quantity: ClassVar[Quantity] = quantities.BATCH_LOSSES
    undefined = "NaN before the first step"

    def coords(self, task: Task) -> dict[str, Any]:
        """The two moments by name."""
        return {"moment": list(MOMENTS)}

    def memory(self, snapshot: Snapshot) -> jax.Array:
        """No step yet."""
        return jnp.full(2, jnp.nan)

    def observe(self, step: Step, memory: jax.Array) -> jax.Array:
        """(2,) both losses."""
        network, task = step.before.network, step.before.task
        return jnp.stack([
            task.loss(network.bind(params), step.batch)
            for params in (step.before.params, step.after)
        ])

    def remeasure(self, snapshot: Snapshot, memory: jax.Array) -> tuple[jax.Array, jax.Array]:
        """What the last step had."""
        return memory, memory
