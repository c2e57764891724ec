"""For which learning rate a step overshoots, by update rule.

On a quadratic with largest curvature lambda, descent diverges from rate 2 / lambda on, heavy-ball
momentum b from (2 + 2b) / lambda, Nesterov's from (2 + 2b) / ((1 + 2b) lambda). Rules that divide
by the root of a second moment see the curvature of the preconditioned loss; if their momentum
is an average, (1 - b) g + b m, the factor is (2 + 2b) / (1 - b).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class UpdateRule:
    """What of an optimiser decides where it becomes unstable.

    Attributes:
        name: As it is called.
        momentum: b, zero without.
        nesterov: Whether the gradient is taken ahead.
        dampening: Share of a gradient that momentum leaves out: b where it is an average of
            gradients (Adam), zero where it is their sum.
        preconditioned: Whether the gradient is divided by the root of its second moment.
    """

    name: str = "gradient descent"
    momentum: float = 0.0
    nesterov: bool = False
    dampening: float = 0.0
    preconditioned: bool = False

    @property
    def limit(self) -> float:
        """Rate times curvature at which the rule becomes unstable; 2 for plain descent.

        Example:
            >>> UpdateRule(momentum=0.9).limit, round(UpdateRule("", 0.9, dampening=0.9).limit, 9)
            (3.8, 38.0)
        """
        factor = 2 + 2 * self.momentum
        if self.nesterov:
            factor /= 1 + 2 * self.momentum
        return factor / (1 - self.dampening)

    def words(self) -> str:
        """For whom the limit holds, and what it is."""
        of = "preconditioned sharpness" if self.preconditioned else "sharpness"
        return f"{self.limit:.4g} / {of}, for {self.name}"
