"""Whether the assumptions of boix2023 Thm. 4.1 were met on the way, in words."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dynascope.core.records import VerdictWord
from dynascope.theories.rank_increase.plateau import Plateau, settle
from dynascope.theories.rank_increase.problem import Problem

FLAT = 1e-6  # c_k below this is no strict minimum
SAME = 1e-6  # distance up to which two limits of stage B are the same
SMOOTH = 1e-2  # relative change of a slope across a point above which it is a kink
_JOINT_START = 1e-3


class Verdict(NamedTuple):
    """What can be said of one assumption."""

    verdict: VerdictWord
    words: str


class Findings:
    """Collects, stage by stage, what speaks against an assumption."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.against: dict[str, list[str]] = {"2.1": [], "4.3": [], "4.4": [], "4.5": []}
        self.reached = 0
        self.lowest = np.inf
        self.apart = 0.0
        self._smoothness(np.zeros(problem.size))

    def plateau(self, now: Plateau, gone: np.ndarray) -> None:
        """A plateau was reached, and some coordinates left the support."""
        self.reached += 1
        self.lowest = min(self.lowest, now.strictness)
        g = np.abs(self.problem.pull(now.products))
        if (g[gone] == 0).any():
            self.against["4.3"].append(f"a coordinate left at stage {self.reached} with g = 0")
        self._smoothness(now.products)

    def limit(self, one: Plateau, other: Plateau | None) -> None:
        """Stage B was followed from two starts."""
        stage = self.reached + 1
        if other is None:
            self.against["4.5"].append(f"stage {stage}: from a nearby start there is no limit")
            return
        apart = float(np.abs(one.products - other.products).max())
        self.apart = max(self.apart, apart)
        if apart > SAME * max(1.0, np.abs(one.products).max()):
            self.against["4.5"].append(f"stage {stage}: nearby starts end {apart:.2g} apart")

    def tie(self, now: Plateau, tied: np.ndarray, g: np.ndarray, time: float) -> str:
        """Several coordinates would join at once; what the plateau with all of them is like."""
        names = ", ".join(map(str, tied))
        words = f"coordinates {names} tie at T = {time:.6g}: the theorem says nothing from here on"
        self.against["4.3"].append(words)
        signs = now.signs.copy()
        signs[tied] = np.sign(g[tied])
        joint = settle(self.problem, now.products, signs, _JOINT_START)
        if joint is not None and joint.strictness < FLAT:
            self.lowest = min(self.lowest, joint.strictness)
            self.against["4.4"].append(
                f"with {names} active together the minimum is not strict "
                f"(c = {joint.strictness:.2g}): only a combination of them is determined"
            )
        return words

    def flat(self, first: int, time: float, now: Plateau) -> str:
        """Stage B ends in a minimum that is not strict."""
        words = (
            f"after coordinate {first} joins at T = {time:.6g} the minimum is not strict "
            f"(c = {now.strictness:.2g}): the theorem says nothing from here on"
        )
        self.against["4.4"].append(words)
        return words

    def no_end(self, first: int, time: float) -> str:
        """Stage B does not settle."""
        words = (
            f"after coordinate {first} joins at T = {time:.6g} the flow finds no finite minimum: "
            "there is no theta to go on from"
        )
        self.against["4.4"].append(words)
        self.against["4.5"].append(words)
        return words

    def _smoothness(self, z: np.ndarray) -> None:
        """Slopes of the gradient on both sides of a point, along an uneven direction."""
        along = np.cos(1.0 + np.arange(len(z)))
        h = 1e-4 * max(1.0, float(np.abs(z).max()))
        before, here, after = (self.problem.pull(z + k * h * along) for k in (-1, 0, 1))
        change = np.abs(after - 2 * here + before).max()
        slope = max(np.abs(after - here).max(), np.abs(here - before).max())
        if not np.isfinite(change) or change > SMOOTH * slope + 1e-10:
            self.against["2.1"].append(f"the gradient has a kink at plateau {self.reached}")


def verdicts(found: Findings, gaps: list[float]) -> dict[str, Verdict]:
    """One verdict per assumption."""
    n = found.reached
    spacing = f"smallest gap {min(gaps):.3g}" if gaps else "no stage was needed"
    fine = {
        "2.1": f"smooth at z = 0 and at each of {n} plateaus, as far as differences show; that "
        "the data are bounded is not seen from here",
        "4.3": f"one coordinate is first at each of {n} stages ({spacing})",
        "4.4": f"each of {n} plateaus is a strict minimum on its support "
        f"(smallest c = {found.lowest:.3g})",
        "4.5": f"from two starts each of {n} stages ends at the same point "
        f"(within {found.apart:.1g})",
    }

    def one(name: str) -> Verdict:
        against = found.against[name]
        return Verdict("fails", "; ".join(against)) if against else Verdict("holds", fine[name])

    return {name: one(name) for name in fine}
