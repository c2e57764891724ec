"""The three terms that move the Jacobian of the symmetric model, (4.3): growth, suppression, noise.

Each is a rate per unit of PAPER time, as printed; the true gradient flow is twice as fast,
so dW/d(true time) = 2 (growth - suppression - noise). Cost: the matrix W and three products
of its size. Assumptions: the tied model, second moments that are those of the population,
and the loss (2.1). Misleads: for any other linear model the three are numbers without a law
(W is not symmetric and moves otherwise), and finite samples add entries off A's diagonal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import jax

from dynascope.core import quantities
from dynascope.core.quantities import Quantity
from dynascope.models.base import Network
from dynascope.probes.base import Probe, Snapshot
from dynascope.tasks.base import Task
from dynascope.theories.swing_by.entry_flow import FlowTerms, flow_terms


@dataclass(frozen=True)
class _FlowTerm(Probe):
    """What the three have in common: W in the task's own coordinates, and the signal a."""

    def needs(self, task: Task, network: Network) -> str | None:
        """A linear model on a task with known second moments."""
        if network.matrix is None:
            return "a linear model, best TiedLinear"
        return None if hasattr(task, "moments") else "a task with moments (IdentityMapping)"

    def _terms(self, snapshot: Snapshot) -> FlowTerms:
        task: Any = snapshot.task
        return flow_terms(snapshot.predict.affine()[0], task.moments())


@dataclass(frozen=True)
class Growth(_FlowTerm):
    """G_ij = w_ij (a_i + a_j): every entry grows at the strength of its two directions."""

    quantity: ClassVar[Quantity] = quantities.GROWTH

    def measure(self, snapshot: Snapshot) -> jax.Array:
        """The growth term, (output, input), per paper time."""
        return self._terms(snapshot).growth


@dataclass(frozen=True)
class Suppression(_FlowTerm):
    """S_ij: what the major entries of its row and column take from an entry's growth."""

    quantity: ClassVar[Quantity] = quantities.SUPPRESSION

    def measure(self, snapshot: Snapshot) -> jax.Array:
        """The suppression term, (output, input), per paper time."""
        return self._terms(snapshot).suppression


@dataclass(frozen=True)
class Noise(_FlowTerm):
    """N_ij: what products of minor entries take from an entry, or give where signs differ."""

    quantity: ClassVar[Quantity] = quantities.NOISE

    def measure(self, snapshot: Snapshot) -> jax.Array:
        """The noise term, (output, input), per paper time."""
        return self._terms(snapshot).noise
