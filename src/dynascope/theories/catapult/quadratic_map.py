"""One training example and a quadratic model: gradient descent in two numbers, exactly.

The output g and the tangent kernel lambda of the quadratic model of a two-layer ReLU network,
and of a two-layer linear network, move by `quadratic_steps.quadratic_step` and by nothing else
(zhu2024 section 3.3). So does each eigendirection of one-dimensional data (`quadratic_directions`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from dynascope.core.errors import bad
from dynascope.core.spec import Spec
from dynascope.theories.catapult import scans
from dynascope.theories.catapult.steps import Reduced

Regime = Literal["monotone", "catapult", "diverges", "undecided"]


class Trajectory(NamedTuple):
    """Arrays of shape (..., steps + 1); what follows a divergence is NaN."""

    residual: np.ndarray  # g - y
    kernel: np.ndarray  # lambda
    loss: np.ndarray
    diverged: np.ndarray  # (...), the step, or -1


class DescentSummary(NamedTuple):
    """What a descent showed, arrays of one shape."""

    regime: np.ndarray  # words: monotone, catapult, diverges, undecided
    peak_loss: np.ndarray  # highest loss before divergence
    peak_step: np.ndarray
    loss: np.ndarray  # at the end; infinite where it diverged
    kernel: np.ndarray  # at the end; NaN where it diverged
    diverged: np.ndarray  # the step, or -1


@dataclass(frozen=True)
class QuadraticMap(Spec):
    """Descent of a quadratic model on one example; every field may be swept by `over`.

    Args:
        learning_rate: eta, for the loss (g - y)^2 / 2.
        width: m; for a general quadratic model 1 / gamma^2.
        label: y.
        input_scale: |x|^2 / d.
        output: g at the start.
        kernel: The tangent kernel lambda at the start.

    Example:
        >>> descent = QuadraticMap(learning_rate=2.5, width=1e5, label=1.0)
        >>> descent.critical_rate, descent.predicted_regime()
        (2.0, 'catapult')
        >>> seen = descent.outcome(200)
        >>> str(seen.regime), int(seen.peak_step), round(float(seen.kernel), 3)
        ('catapult', 12, 0.513)
    """

    learning_rate: float
    width: float
    label: float = 0.0
    input_scale: float = 1.0
    output: float = 0.3
    kernel: float = 1.0

    def check(self) -> None:
        """Raise for numbers that describe no model."""
        for name in ("learning_rate", "width", "input_scale", "kernel"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise bad(name, value, "a finite number above 0")
        for name in ("label", "output"):
            if not math.isfinite(getattr(self, name)):
                raise bad(name, getattr(self, name), "a finite number")

    @property
    def curvature(self) -> float:
        """C = |x|^2 / (m d), the size of the model's second derivative, squared."""
        return self.input_scale / self.width

    @property
    def critical_rate(self) -> float:
        """2 / lambda: above it the linear model diverges."""
        return 2 / self.kernel

    @property
    def largest_rate(self) -> float:
        """4 / lambda: above it the quadratic model diverges; exact for label 0."""
        return 4 / self.kernel

    @property
    def realisable(self) -> bool:
        """Whether weights with this output and kernel exist: eta sqrt(c) |g| <= eta lambda / 2."""
        return 2 * math.sqrt(self.curvature) * abs(self.output) <= self.kernel

    def reduced(self) -> Reduced:
        """The start in the variables u, v, w."""
        r, size = self.output - self.label, self.curvature * self.learning_rate**2
        return Reduced(
            size * r * r, self.learning_rate * self.kernel, size * r * self.label, float(np.sign(r))
        )

    def predicted_regime(self) -> Regime:
        """What the theorems say for large width: the rate against 2 / lambda and 4 / lambda."""
        v = self.learning_rate * self.kernel
        return "monotone" if v < 2 else "catapult" if v < 4 else "diverges"

    def predicted_peak(self) -> tuple[float, float]:
        """Highest loss and its step in closed form, for 2 < eta lambda < 4.

        The slow limit of the map (delta = eta lambda - 2 small) is ds/dt = -u (2 - s),
        du/dt = 2 s u with s = v - 2. Its peak is -2 delta - 4 log(1 - delta / 2), reached after
        log(2 delta^2 / u) / (2 log(1 + delta)) steps from a small u.

        Returns:
            Loss and step. Within 15% and one step up to eta lambda = 3, an estimate beyond.

        Example:
            >>> loss, when = QuadraticMap(2.2, 1e6, label=1.0).predicted_peak()
            >>> round(loss), round(when)
            (2215, 29)
        """
        delta, start = self.learning_rate * self.kernel - 2, self.reduced()
        if not (0 < delta < 2 and start.u > 0):
            rates = f"{self.critical_rate:g} and {self.largest_rate:g}"
            hint = "there is a peak only there"
            raise bad("learning_rate", self.learning_rate, f"a rate between {rates}", hint)
        top = -2 * delta - 4 * math.log(1 - delta / 2)
        when = math.log(2 * delta**2 / start.u) / (2 * math.log(1 + delta))
        return top / (2 * self.curvature * self.learning_rate**2), max(when, 0.0)

    def trajectory(self, steps: int, **over: Any) -> Trajectory:
        """Every step of the descent.

        Args:
            steps: Number of steps.
            **over: Fields given as arrays, which broadcast against each other.

        Returns:
            Residual, kernel and loss, each (..., steps + 1).

        Example:
            >>> path = QuadraticMap(1.0, 1e4).trajectory(50, learning_rate=[0.5, 4.2])
            >>> path.loss.shape, path.diverged.tolist()
            ((2, 51), [-1, 12])
        """
        values = self.arrays(over)
        residual, kernel, diverged = scans.paths(values, _whole(steps))
        return Trajectory(residual, kernel, residual**2 / 2, diverged)

    def outcome(self, steps: int, **over: Any) -> DescentSummary:
        """What the descent shows within so many steps; nothing on the way is kept."""
        values = self.arrays(over)
        return judge(values, scans.ends(values, _whole(steps)))

    def divergence_rate(self, steps: int = 1000, **over: Any) -> np.ndarray:
        """Lowest rate that diverges within so many steps, by repeated sections.

        Between 1 / lambda and 16 / lambda, to a relative 1e-10; the learning rate itself is
        not used. Past it convergence may return in places: it is the first, not the last.

        Example:
            >>> round(float(QuadraticMap(1.0, 1e3).divergence_rate()), 8)
            4.0
        """
        if "learning_rate" in over:
            raise bad("over", "learning_rate", "other fields: the rate is what is sought")
        return scans.first_divergence(self.arrays(over), _whole(steps))

    def arrays(self, over: dict[str, Any]) -> dict[str, np.ndarray]:
        """The fields as arrays of one shape, some replaced and checked."""
        names = ("learning_rate", "width", "label", "input_scale", "output", "kernel")
        for name, given in over.items():
            if name not in names:
                raise bad("over", name, f"one of {', '.join(names)}")
            low = -math.inf if name in ("label", "output") else 0.0
            values = np.asarray(given, float)
            if not (np.isfinite(values).all() and (values > low).all()):
                raise bad(name, given, "finite numbers" + (" above 0" if low == 0 else ""))
        given = [np.asarray(over.get(name, getattr(self, name)), float) for name in names]
        return dict(zip(names, np.broadcast_arrays(*given), strict=True))


def judge(values: dict[str, np.ndarray], ends: scans.Ends) -> DescentSummary:
    """Words for the ends of descents."""
    start = (values["output"] - values["label"]) ** 2 / 2
    loss = np.where(ends.diverged >= 0, math.inf, ends.residual**2 / 2)
    rose, fell = ends.peak**2 / 2 > start * (1 + 1e-12), loss < start
    words = np.where(
        ends.diverged >= 0,
        "diverges",
        np.where(rose, np.where(fell, "catapult", "undecided"), "monotone"),
    )
    kernel = np.where(ends.diverged >= 0, math.nan, ends.kernel)
    return DescentSummary(words, ends.peak**2 / 2, ends.peak_step, loss, kernel, ends.diverged)


def _whole(steps: int) -> int:
    if isinstance(steps, bool) or int(steps) != steps or not 1 <= steps < 2**31:
        raise bad("steps", steps, "a whole number of at least 1")
    return int(steps)
