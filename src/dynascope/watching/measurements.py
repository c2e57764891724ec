"""What is measured on a watched model, by preset; each remembers where it left off.

A measurement has `names` (of its variables, with their axes) and `measure(now)`, which gives
numbers for all of them. Vectors found last are the starts of the next search.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from dynascope.core.errors import BadInput, bad, unknown
from dynascope.watching.eigenpairs import BASIS, TOLERANCE
from dynascope.watching.rules import UpdateRule

PRESETS = ("light", "standard", "full")
KERNEL_COUNT, DRIFT_VECTORS = 3, 4
SAMPLES = 16  # of a batch, for kernels and outer products, unless somebody asks for more
CERTIFICATE = ("residual", "products", "converged")  # beside every eigenvalue
# Vectors in memory that a scaled search has beside its basis, which is so much smaller: D^(1/2),
# and where the search for the plain sharpness starts next time.
BESIDE = 2
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
    root: Any = None  # D^(1/2), D the scaling of a preconditioned rule or of several rates; or None
    _parts: dict[int, Any] = field(default_factory=dict)

    def few(self, count: int) -> Any:
        """The model on the first samples of the batch; the same for all who ask."""
        if count not in self._parts:
            self._parts[count] = self._few(count)
        return self._parts[count]

    def _few(self, count: int) -> Any:
        part = first_samples(self.batch, count)
        if part is self.batch:
            return self.point
        with self.model.at(part, self.params) as point:
            return point


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
        tolerance: Largest residual that counts as converged.
    """

    def __init__(self, both: bool, tolerance: float = TOLERANCE) -> None:
        self._both, self._tolerance = both, tolerance
        self._plain = self._scaled = None
        values = ("sharpness", "scaled_sharpness", "critical_learning_rate", "rate_over_critical")
        certified = ("sharpness", "scaled_sharpness", "critical_learning_rate")
        beside = [f"{name}_{what}" for name in certified for what in CERTIFICATE]
        self.names: dict[str, tuple[str, ...]] = dict.fromkeys((*values, *beside), ())

    def measure(self, now: Now) -> dict[str, Any]:
        """NaN stands for what was not measured."""
        row: dict[str, Any] = dict.fromkeys(self.names, np.nan)
        kept = {} if now.root is None else {"most": BASIS - BESIDE}
        if now.root is None or self._both:
            found = now.point.sharpness(self._plain, self._tolerance, **kept)
            self._plain = _next_start(found)
            row["sharpness"] = found.value
            row |= _certificate("sharpness", found)
        if now.root is not None:
            found = now.point.sharpness(self._scaled, self._tolerance, root=now.root, **kept)
            self._scaled = _next_start(found)
            row["scaled_sharpness"] = found.value
            row |= _certificate("scaled_sharpness", found)
        elif now.rule.preconditioned:  # no second moments yet
            return row
        limit = now.rule.limit
        if np.isnan(limit):  # a rule that is not known
            return row
        row |= _certificate("critical_learning_rate", found)
        row["critical_learning_rate"] = np.inf if found.value <= 0 else limit / found.value
        row["rate_over_critical"] = now.rate * max(found.value, 0.0) / limit
        return row


class UpdateRanks:
    """Stable rank |W - W_0|_F^2 / |W - W_0|_2^2 of the change of every weight matrix.

    Kernels of convolutions count as matrices of outputs x everything else. NaN where nothing has
    changed yet, and where a run has diverged: those have no rank. W_0 is the weight at the start
    of watching; where the model is a function of jax, at the first measurement.
    """

    def __init__(self, weights: dict[str, Any]) -> None:
        self.weights: list[str] = []
        self._first: dict[str, Any] = {}
        self._starts: dict[str, Any] = {}
        self.names: dict[str, tuple[str, ...]] = {"update_stable_rank": ("weight",)}
        self._begin(weights)

    def _begin(self, weights: dict[str, Any]) -> None:
        self.weights += [name for name, w in weights.items() if _matrix_shape(w) is not None]
        self._first = {name: _copy(weights[name]) for name in self.weights}

    def measure(self, now: Now) -> dict[str, Any]:
        """One rank per matrix."""
        weights = now.model.weights()
        if not self.weights:  # a function of jax: its weights come with the calls
            self._begin(weights)
        ranks = [self._rank(now.model, name, weights[name]) for name in self.weights]
        return {"update_stable_rank": np.array(ranks)}

    def _rank(self, model: Any, name: str, weight: Any) -> float:
        change = (weight - self._first[name]).reshape(weight.shape[0], -1)
        flat = change.reshape(-1)
        squares = float(flat @ flat)
        if not 0 < squares < np.inf:
            return float("nan")
        top, self._starts[name] = model.top_square(change, self._starts.get(name))
        return squares / top


class Kernel:
    """Top of the tangent kernel, the share of dL/df in it, and the kernel's drift.

    `top_space_share` is |P dL/df|^2 / |dL/df|^2 for the projection P on the top eigenvector; for a
    squared error that is the share of the loss. `kernel_drift` is |K - K_0| / |K_0| on samples of
    the first batch, estimated from products with a few fixed random vectors.

    Args:
        samples: Of the batch, the first so many are taken.
        tolerance: Largest residual that counts as converged.
    """

    def __init__(self, samples: int = SAMPLES, tolerance: float = TOLERANCE) -> None:
        self._samples, self._tolerance = samples, tolerance
        self._starts: Any = None
        self._first: tuple[Any, Any, Any] | None = None
        norm, spectrum = "tangent_kernel_norm", "tangent_kernel_spectrum"
        self.names: dict[str, tuple[str, ...]] = {
            spectrum: ("rank",),
            f"{spectrum}_residual": ("rank",),
            f"{spectrum}_converged": ("rank",),
            **dict.fromkeys((norm, *(f"{norm}_{what}" for what in CERTIFICATE)), ()),
            "top_space_share": (),
            "kernel_drift": (),
        }

    def measure(self, now: Now) -> dict[str, Any]:
        """All of them; the spectrum is padded with NaN for tiny batches."""
        point = now.few(self._samples)
        starts = self._starts if self._fits(point) else None
        found = point.kernel_top(starts, KERNEL_COUNT, self._tolerance)
        slope = point.output_gradient
        self._starts = found.vectors if np.isfinite(found.values).all() else None
        total = float((slope**2).sum())
        inside = sum(float((v * slope).sum()) ** 2 for v in found.vectors[:TOP_SPACE])
        return {
            "tangent_kernel_spectrum": _padded(found.values),
            "tangent_kernel_spectrum_residual": _padded(found.residuals),
            "tangent_kernel_spectrum_converged": _padded(found.converged),
            "tangent_kernel_norm": float(found.values[0]),
            "tangent_kernel_norm_residual": float(found.residuals[0]),
            "tangent_kernel_norm_products": float(found.products),
            "tangent_kernel_norm_converged": float(found.converged[0]),
            "top_space_share": inside / total if total else np.nan,
            "kernel_drift": self._drift(now),
        }

    def _fits(self, point: Any) -> bool:
        return self._starts is not None and self._starts.shape[1] == len(point.output_gradient)

    def _drift(self, now: Now) -> float:
        if self._first is None:
            point = now.few(self._samples)
            size = len(point.output_gradient)
            random = np.random.default_rng(0).standard_normal((DRIFT_VECTORS, size))
            vectors = point.like_outputs(random)
            images = point.kernel_products(vectors)
            self._first = first_samples(now.batch, self._samples), vectors, images
            return 0.0
        batch, vectors, images = self._first
        with now.model.at(batch, now.params) as point:
            changes = point.kernel_products(vectors) - images
        return float((changes**2).sum() / (images**2).sum()) ** 0.5


class Features:
    """Cosine between the average gradient outer product and a target.

    The outer product is G^T G; it is not formed, only G is kept, with at most as many rows as there
    are inputs: the inner product of two is |G F^T|^2, that with a matrix M the sum of G M * G.

    Args:
        target: A matrix inputs x inputs; the first measurement by default.
        samples: Of the batch, the first so many are averaged over.
    """

    def __init__(self, target: Any = None, samples: int = SAMPLES) -> None:
        self._samples, self._target = samples, target
        self._first: Any = None
        self.names: dict[str, tuple[str, ...]] = {"agop_alignment": ()}

    def measure(self, now: Now) -> dict[str, Any]:
        """NaN where one of the matrices is zero, and for tokens: there is no such cosine."""
        point = now.few(self._samples)
        slopes = point.input_slopes()
        if slopes is None:
            return {"agop_alignment": np.nan}
        if self._target is None and self._first is None:
            self._first = slopes
        inside, length = self._compared(slopes, point)
        norms = _length(slopes @ slopes.T) * length
        return {"agop_alignment": inside / norms if norms else np.nan}

    def _compared(self, slopes: Any, point: Any) -> tuple[float, float]:
        """The inner product with the target, and the target's length."""
        if self._first is not None:
            return _length(slopes @ self._first.T) ** 2, _length(self._first @ self._first.T)
        target, inputs = point.like_outputs(self._target), slopes.shape[1]
        if tuple(target.shape) != (inputs, inputs):
            got = tuple(target.shape)
            raise BadInput(f"target: got {got}, expected {(inputs, inputs)}, inputs x inputs")
        return float(((slopes @ target) * slopes).sum()), _length(target)


class Own:
    """A function of the user's: `function(model, batch)`, or of (params, batch) for jax."""

    def __init__(self, function: Callable) -> None:
        self._function = function
        name = getattr(function, "__name__", None)
        if name is None:
            raise bad("probes", type(function).__name__, "functions, which have a name")
        self.names: dict[str, tuple[str, ...]] = {name: ()}

    def measure(self, now: Now) -> dict[str, Any]:
        """What it returns, as a number."""
        first = now.params if now.params is not None else getattr(now.model, "module", None)
        (name,) = self.names
        return {name: float(self._function(first, now.batch))}


def preset(
    name: str,
    model: Any,
    tolerance: float = TOLERANCE,
    target: Any = None,
    samples: int = SAMPLES,
) -> list[Measurement]:
    """The measurements of a preset for a model; see `CriticalRate`, `Kernel` and `Features`."""
    if name not in PRESETS:
        raise unknown("preset", name, PRESETS)
    found: list[Measurement] = [GradientNorm(), CriticalRate(name != "light", tolerance)]
    if name != "light":
        found.append(UpdateRanks(model.weights()))
    if name == "full":
        found += [Kernel(samples, tolerance), Features(target, samples)]
    return found


def first_samples(batch: Any, count: int) -> Any:
    """The first samples of a batch as a copy; small batches themselves.

    Samples lie along the first axis of the first array; other arrays of that length go with it.

    Example:
        >>> x, y = first_samples((np.ones((64, 3)), [np.ones(64), np.ones(5)]), 16)
        >>> x.shape, y[0].shape, y[1].shape
        ((16, 3), (16,), (5,))
    """
    lengths = [len(leaf) for leaf in _arrays(batch) if getattr(leaf, "ndim", 0)]
    if not lengths or lengths[0] <= count:
        return batch

    def cut(part: Any) -> Any:
        if isinstance(part, Mapping):
            return {key: cut(item) for key, item in part.items()}
        if isinstance(part, tuple | list):
            return type(part)(cut(item) for item in part)
        if not getattr(part, "ndim", 0) or len(part) != lengths[0]:
            return part
        return part[:count].detach().clone() if hasattr(part, "detach") else part[:count].copy()

    return cut(batch)


def _arrays(batch: Any) -> list[Any]:
    if isinstance(batch, Mapping):
        return _arrays(list(batch.values()))
    if isinstance(batch, tuple | list):
        return [leaf for part in batch for leaf in _arrays(part)]
    return [batch]


def _next_start(found: Any) -> Any:
    """The vector to start from next time; none where a run has left finite numbers."""
    return found.vector if np.isfinite(found.value) else None


def _certificate(name: str, found: Any) -> dict[str, float]:
    return {f"{name}_{what}": float(getattr(found, what)) for what in CERTIFICATE}


def _length(matrix: Any) -> float:
    return float((matrix * matrix).sum()) ** 0.5


def _padded(numbers: Any) -> np.ndarray:
    full = np.full(KERNEL_COUNT, np.nan)
    full[: len(numbers)] = numbers
    return full


def _matrix_shape(weight: Any) -> tuple[int, int] | None:
    shape = tuple(weight.shape)
    if len(shape) < 2:
        return None
    rest = int(np.prod(shape[1:]))
    return (shape[0], rest) if min(shape[0], rest) > 1 else None


def _copy(weight: Any) -> Any:
    return weight.clone() if hasattr(weight, "clone") else weight
