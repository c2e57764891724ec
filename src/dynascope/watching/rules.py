"""For which learning rate a step overshoots, by update rule.

Rules keep a momentum m and move against a mixture of it and the gradient g,

    m <- momentum * m + intake * g,    w <- w - rate * (direct * g + through * m).

At the edge of stability every step turns round: w and m change sign, so m = intake * g / (1 +
momentum), and on a quadratic with curvature lambda

    2 w = rate * (direct + through * intake / (1 + momentum)) * lambda * w.

So descent diverges from rate 2 / lambda on, heavy-ball momentum b from (2 + 2b) / lambda,
Nesterov's from (2 + 2b) / ((1 + 2b) lambda). Rules that divide by the root of a second moment see
the curvature of the preconditioned loss; Adam's momentum is an average, of intake 1 - b, so that
its factor is (2 + 2b) / (1 - b).

Where parameters come in groups, each with a rule of its own, the same holds with a bracket for
each: 2 w = D H w, D the diagonal of rates times brackets. Nothing else becomes unstable first. A
motion w z^t obeys h_i(z) w_i = -rate_i (H w)_i, where h(z) is z - 1 over what the rule makes of a
gradient z^t; so the sum of h_i(z) |w_i|^2 / rate_i is -w^T H w, which is real. For |z| = 1 the
imaginary part of every h_i has the sign of that of z, so z is real: 1, or the -1 from above.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class UpdateRule:
    """What of an optimiser decides where it becomes unstable.

    Attributes:
        name: As it is called.
        momentum: Share of the momentum that a step keeps; zero without.
        intake: Of a gradient, what the momentum takes in: 1 where it is a sum, 1 - momentum where
            it is an average of gradients (Adam).
        direct: Of a gradient, what goes into the step beside the momentum (Nesterov).
        through: Of the momentum, what goes into the step; NaN for a rule that is not known.
        preconditioned: Whether the gradient is divided by the root of its second moment.
    """

    name: str = "gradient descent"
    momentum: float = 0.0
    intake: float = 1.0
    direct: float = 0.0
    through: float = 1.0
    preconditioned: bool = False

    @property
    def limit(self) -> float:
        """Rate times curvature at which the rule becomes unstable; 2 for plain descent.

        Example:
            >>> rules = UpdateRule("", momentum=0.9), UpdateRule("Adam", momentum=0.9, intake=0.1)
            >>> [round(rule.limit, 9) for rule in rules]
            [3.8, 38.0]
        """
        return 2 / (self.direct + self.through * self.intake / (1 + self.momentum))

    def words(self) -> str:
        """For whom the limit holds, and what it is."""
        if math.isnan(self.limit):
            return f"not known for {self.name}; the sharpness is measured"
        of = "preconditioned sharpness" if self.preconditioned else "sharpness"
        return f"{self.limit:.4g} / {of}, for {self.name}"


def sums(name: str, momentum: float, nesterov: bool, dampening: float = 0.0) -> UpdateRule:
    """Momentum as a sum of gradients.

    Example:
        >>> round(sums("SGD", 0.9, nesterov=True).limit * 2.8, 9)
        3.8
    """
    intake = 1 - dampening if momentum else 1.0  # without momentum nothing is dampened
    if nesterov:
        return UpdateRule(name, momentum, intake, direct=1.0, through=momentum)
    return UpdateRule(name, momentum, intake)


def averages(name: str, momentum: float, steps: float) -> UpdateRule:
    """Adam's momentum after so many steps, divided by what it has taken in since it was zero.

    Example:
        >>> [round(averages("Adam", 0.9, steps).limit, 9) for steps in (1, 10_000)]
        [3.8, 38.0]
    """
    filled = 1 - momentum**steps
    return UpdateRule(name, momentum, 1 - momentum, 0.0, 1 / filled, preconditioned=True)
