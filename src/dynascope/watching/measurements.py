"""What is measured on a watched model, by preset; each remembers where it left off.

A measurement has `names` (of its variables, with their axes) and `measure(now)`, which gives
numbers for all of them. Vectors found last are the starts of the next search.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from dynascope.core.errors import BadInput, unknown
from dynascope.watching.eigenpairs import TOLERANCE
from dynascope.watching.rules import UpdateRule

PRESETS = ("light", "standard", "full")
KERNEL_COUNT, DRIFT_VECTORS = 5, 4
DENSE = 200  # rows from which on a whole spectrum takes longer than Lanczos
TOP_SPACE = 1  # eigenvectors of the kernel that count as its top eigenspace


@dataclass(frozen=True)
class Now:
    """The moment of a call: the model on its batch, and what the loop says about its step."""

    model: Any  # TorchModel or JaxModel
    point: Any  # of the batch
    batch: Any
    params: Any
    rule: UpdateRule
    rate: float  # of the first group; NaN if nobody said
    scaling: Any = None  # D of a preconditioned rule or of several rates, or None


class Measurement(Protocol):
    """One or more numbers of a snapshot."""

    names: dict[str, tuple[str, ...]]  # variable -> axes beside `step`

    def measure(self, now: Now) -> dict[str, Any]:
        """Numbers for all names; parameters are left alone."""
        ...


class GradientNorm:
    """The length of the loss's gradient on the batch."""

    def __init__(self) -> None:
        self.names: dict[str, tuple[str, ...]] = {"gradient_norm": ()}

    def measure(self, now: Now) -> dict[str, Any]:
        """|dL/dw|."""
        return {"gradient_norm": now.point.gradient_norm}


class CriticalRate:
    """Sharpness on the batch, the rate at which this rule overshoots, and how near the rate is.

    With a preconditioner, or several rates, the curvature that counts is that of D^(1/2) H D^(1/2)
    (`scaled_sharpness`); `critical_learning_rate` is then the first group's rate at which, all
    groups scaled alike, a step overshoots. Each has the residual of its eigenpair.

    Args:
        both: Whether to measure the plain sharpness where the scaled one decides.
    """

    def __init__(self, both: bool) -> None:
        self._both = both
        self._plain = self._scaled = None
        values = ("sharpness", "scaled_sharpness", "critical_learning_rate", "rate_over_critical")
        residuals = ("sharpness_residual", "critical_learning_rate_residual")
        self.names: dict[str, tuple[str, ...]] = dict.fromkeys((*values, *residuals), ())

    def measure(self, now: Now) -> dict[str, Any]:
        """NaN stands for what was not measured."""
        row: dict[str, Any] = dict.fromkeys(self.names, np.nan)
        if now.scaling is None or self._both:
            found = now.point.sharpness(self._plain, TOLERANCE)
            self._plain = found.vector
            row["sharpness"], row["sharpness_residual"] = found.value, found.residual
        if now.scaling is not None:
            found = now.point.sharpness(self._scaled, TOLERANCE, now.scaling)
            self._scaled = found.vector
            row["scaled_sharpness"] = found.value
        elif now.rule.preconditioned:  # no second moments yet
            return row
        row["critical_learning_rate_residual"] = found.residual
        limit = now.rule.limit
        row["critical_learning_rate"] = limit / found.value if found.value > 0 else np.inf
        row["rate_over_critical"] = now.rate * max(found.value, 0.0) / limit
        return row


class UpdateRanks:
    """Stable rank |W - W_0|_F^2 / |W - W_0|_2^2 of the change of every weight matrix.

    Kernels of convolutions count as matrices of outputs x everything else. NaN where nothing has
    changed yet, and where a run has diverged: those have no rank.
    """

    def __init__(self, weights: dict[str, Any]) -> None:
        self.weights = [name for name, w in weights.items() if _matrix_shape(w) is not None]
        self._first = {name: _copy(weights[name]) for name in self.weights}
        self.names: dict[str, tuple[str, ...]] = {"update_stable_rank": ("weight",)}

    def measure(self, now: Now) -> dict[str, Any]:
        """One rank per matrix."""
        ranks = [self._rank(w, self._first[name]) for name, w in self._matrices(now)]
        return {"update_stable_rank": np.array(ranks)}

    def _matrices(self, now: Now) -> list[tuple[str, Any]]:
        weights = now.model.weights()
        return [(name, weights[name]) for name in self.weights]

    @staticmethod
    def _rank(weight: Any, first: Any) -> float:
        change = (weight - first).reshape(weight.shape[0], -1)
        change = np.asarray(change.float().cpu() if hasattr(change, "cpu") else change)
        if not change.any() or not np.isfinite(change).all():
            return float("nan")
        wide = change if change.shape[0] <= change.shape[1] else change.T
        squares = (wide @ wide.T).astype(np.float64)
        return float(np.trace(squares) / _largest(squares))


class Kernel:
    """Top of the batch's tangent kernel, the share of dL/df in it, and the kernel's drift.

    `top_space_share` is |P dL/df|^2 / |dL/df|^2 for the projection P on the top eigenvector; for
    a squared error that is the share of the loss. `kernel_drift` is |K - K_0| / |K_0| on the first
    batch, estimated from products with a few fixed random vectors.
    """

    def __init__(self) -> None:
        self._starts: Any = None
        self._first: tuple[Any, Any, Any] | None = None
        self.names: dict[str, tuple[str, ...]] = {
            "tangent_kernel_spectrum": ("rank",),
            "tangent_kernel_norm": (),
            "tangent_kernel_norm_residual": (),
            "top_space_share": (),
            "kernel_drift": (),
        }

    def measure(self, now: Now) -> dict[str, Any]:
        """All of them; the spectrum is padded with NaN for tiny batches."""
        starts = self._starts if self._fits(now) else None
        pairs = now.point.kernel_top(starts, KERNEL_COUNT, TOLERANCE)
        self._starts = [pair.vector for pair in pairs]
        spectrum = np.full(KERNEL_COUNT, np.nan)
        spectrum[: len(pairs)] = [pair.value for pair in pairs]
        slope = now.point.output_gradient
        total = float((slope**2).sum())
        inside = sum(float((pair.vector * slope).sum()) ** 2 for pair in pairs[:TOP_SPACE])
        return {
            "tangent_kernel_spectrum": spectrum,
            "tangent_kernel_norm": pairs[0].value,
            "tangent_kernel_norm_residual": pairs[0].residual,
            "top_space_share": inside / total if total else np.nan,
            "kernel_drift": self._drift(now),
        }

    def _fits(self, now: Now) -> bool:
        sizes = self._starts and len(self._starts[0])
        return bool(sizes) and sizes == len(now.point.output_gradient)

    def _drift(self, now: Now) -> float:
        if self._first is None:
            size = len(now.point.output_gradient)
            random = np.random.default_rng(0).standard_normal((DRIFT_VECTORS, size))
            vectors = [now.point.like_outputs(row) for row in random]
            images = [now.point.kernel_product(v) for v in vectors]
            self._first = now.batch, vectors, images
            return 0.0
        batch, vectors, images = self._first
        with now.model.at(batch, now.params) as point:
            changes = [point.kernel_product(v) - old for v, old in zip(vectors, images)]
        square = lambda parts: sum(float((part**2).sum()) for part in parts)  # noqa: E731
        return (square(changes) / square(images)) ** 0.5


class Features:
    """Cosine between the average gradient outer product on the batch and a target.

    Args:
        target: A matrix inputs x inputs; the first measurement by default.
    """

    def __init__(self, target: Any = None) -> None:
        self._target = None if target is None else np.asarray(target, np.float64)
        self.names: dict[str, tuple[str, ...]] = {"agop_alignment": ()}

    def measure(self, now: Now) -> dict[str, Any]:
        """NaN where one of the matrices is zero, and for tokens: there is no such cosine."""
        found = now.point.agop()
        if found is None:
            return {"agop_alignment": np.nan}
        found = np.asarray(found.cpu() if hasattr(found, "cpu") else found, np.float64)
        if self._target is None:
            self._target = found
        if self._target.shape != found.shape:
            raise BadInput(
                f"target: got {self._target.shape}, expected {found.shape}, inputs x inputs"
            )
        norms = np.linalg.norm(found) * np.linalg.norm(self._target)
        cosine = (found * self._target).sum() / norms if norms else np.nan
        return {"agop_alignment": float(cosine)}


class Own:
    """A function of the user's: `function(model, batch)`, or of (params, batch) for jax."""

    def __init__(self, function: Callable) -> None:
        self._function = function
        self.names: dict[str, tuple[str, ...]] = {function.__name__: ()}

    def measure(self, now: Now) -> dict[str, Any]:
        """What it returns, as a number."""
        first = now.params if now.params is not None else getattr(now.model, "module", None)
        (name,) = self.names
        return {name: float(self._function(first, now.batch))}


def preset(name: str, model: Any, target: Any = None) -> list[Measurement]:
    """The measurements of a preset for a model."""
    if name not in PRESETS:
        raise unknown("preset", name, PRESETS)
    found: list[Measurement] = [GradientNorm(), CriticalRate(both=name != "light")]
    if name != "light":
        found.append(UpdateRanks(model.weights()))
    if name == "full":
        found += [Kernel(), Features(target)]
    return found


def _largest(matrix: np.ndarray) -> float:
    """The largest eigenvalue of a symmetric matrix; by Lanczos where all of them would be slow."""
    if len(matrix) < DENSE:
        return float(np.linalg.eigvalsh(matrix)[-1])
    from scipy.sparse.linalg import eigsh

    start = matrix.sum(1) + matrix.diagonal()  # no random numbers of the loop's are used up
    return float(eigsh(matrix, 1, which="LA", v0=start, tol=1e-6, return_eigenvectors=False)[0])


def _matrix_shape(weight: Any) -> tuple[int, int] | None:
    shape = tuple(weight.shape)
    if len(shape) < 2:
        return None
    rest = int(np.prod(shape[1:]))
    return (shape[0], rest) if min(shape[0], rest) > 1 else None


def _copy(weight: Any) -> Any:
    return weight.clone() if hasattr(weight, "clone") else weight
