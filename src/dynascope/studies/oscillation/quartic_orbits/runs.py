"""Many descents x <- x - K x (x^2 - 1): from random starts, at single rates, over all rates.

chen2025 Theorem 3.3, Fig. B.5, and the bifurcation diagram. K is the learning rate (mu = 1).
"""

from dataclasses import dataclass, replace

import numpy as np

from dynascope.core.sources import chen2025
from dynascope.core.spec import Spec
from dynascope.instruments.orbits.bifurcation import Diagram, bifurcation
from dynascope.instruments.orbits.descent import Observed, observe
from dynascope.numerics.expressions import parse
from dynascope.studies.study import Study
from dynascope.theories.oscillation.doubling import FEIGENBAUM, period_doublings
from dynascope.theories.oscillation.one_dimension import flip
from dynascope.theories.oscillation.quartic import (
    QUARTIC,
    SIGN_CHANGES,
    SUPERSTABLE,
    orbit_points,
)

WIDE = "(x**2-2)**2/8"  # the same map of x / sqrt(2), so the same doublings
# A quadratic map: its cascade ends where the logistic map's does, at r = 3.569945672, and
# 2 eta c = r - 1; scaled so that this is the end of the quartic's cascade.
CUBIC = f"{(3.569945672 - 1) / 2 / 1.302283!r}*(x**3/3-x)"
ATTRACTING = {  # rates at which the orbit attracts, and one at which it does not
    "printed": (1.01, 1.03, 1.05, 1.08, SUPERSTABLE),
    "until doubling": (1.13, 1.17, 1.2, 1.22, 1.23),
    "beyond": (1.25,),
}
FIGURE = {1.05: "period-2", 1.235: "period-2", 1.237: "period-4"}  # read off Fig. B.5
CERTAIN = {1.1: "period-2", 1.2: "period-2", 1.26: "period-4"}  # far from any doubling
START = 0.9
ONSET, LATE = (1.29, 1.32), (1.307, 1.32)  # rates between which chaos begins, and after it has
ACCUMULATION = 1.302283  # where the doublings end


@dataclass(frozen=True)
class Settings(Spec, tag="studies.quartic-orbits"):
    """The size of the diagram, random starts, and rates that are judged one by one."""

    columns: int = 240
    bins: int = 180
    per_column: int = 200  # paper: a million descents
    steps: int = 2000
    starts: int = 2000
    scanned: int = 60  # learning rates in each scan
    seed: int = 0


study = Study(
    "quartic-orbits",
    title="From one point to two, four, chaos and escape as the rate grows",
    sources=(chen2025("Thm. 3.3, Fig. B.5"),),
    settings=Settings,
    scales={"smoke": {"per_column": 20, "starts": 200, "scanned": 20}, "laptop": {},
            "paper": {"per_column": 4167, "starts": 20_000, "scanned": 200}},
    notes=(
        "The theorem's bound sqrt(4.5) - 1 = 1.1213 is where the orbit is superstable, not "
        "where it ends: it attracts up to sqrt(5) - 1 = 1.2361.",
        "The orbit exists for every K > 1; the printed end 3/2 comes from a lost branch "
        "of a square root, beyond which (3.4) no longer describes the larger point.",
        f"Period 4 lasts to K = 1.2880 and the doublings end at {ACCUMULATION:g}, where chaos "
        "begins; what is printed of chaos beyond 1.28 is said of matrix factorisation, and is "
        "judged there.",
        "A start that steps onto x = 1 itself stays there (K = 1.1: 0.5766); Theorem 3.3 forgets "
        "such starts, which have no measure.",
    ),
)  # fmt: skip


@study.compute(seconds=lambda s: 0.3 + 5e-9 * s.columns * s.per_column * s.steps)
def diagram(s: Settings) -> Diagram:
    """How often descents visit each value, over the learning rate."""
    return bifurcation(
        parse(QUARTIC), (0.9, 1.6), START, (-0.05, 1.35), columns=s.columns, bins=s.bins,
        per_column=s.per_column, steps=s.steps, progress=False,
    )  # fmt: skip


@study.finding(diagram)
def predicted(s: Settings, found: Diagram) -> dict[str, np.ndarray]:
    """The orbit's points by column of the diagram, and those of other rates, (columns, 2)."""

    def points(factor: float) -> np.ndarray:
        return np.array([orbit_points(1.0, rate * factor) for rate in found.learning_rates])

    return {"orbit": points(1.0), "a rate 3 % larger": points(1.03)}


@study.finding(diagram, predicted)
def planted_diagram(s: Settings, found: Diagram, points: dict[str, np.ndarray]) -> Diagram:
    """A diagram that only has visits on the predicted orbit."""
    counts = np.zeros_like(found.counts)
    for row, own in zip(counts, points["orbit"], strict=True):
        row[np.abs(found.values[:, None] - own).argmin(axis=0)] = 1
    return replace(found, counts=counts)


@study.compute(each=lambda s: (QUARTIC, WIDE), reads=(), seconds=lambda s: 1.5)
def doublings(s: Settings, text: str) -> tuple[float, ...]:
    """Rates at which the period doubles, each a root of the map's own equations, by loss."""
    return period_doublings(flip(text, 1.0 if text == QUARTIC else 1.4), 7)


@study.finding
def planted_doublings(s: Settings) -> tuple[float, ...]:
    """Doublings whose gaps shrink by Feigenbaum's ratio from the first one on."""
    return tuple((ACCUMULATION - 0.3 * FEIGENBAUM ** -np.arange(6.0)).tolist())


def _observed(rate: float, text: str = QUARTIC, start: float = START) -> Observed:
    """What descent does at a rate, with the first 40 of its settled states."""
    seen = observe(parse(text), rate, start)
    return replace(seen, last=seen.last[:40])


@study.compute(each=lambda s: (*FIGURE, *CERTAIN, 2.0, 2.01), reads=(), seconds=lambda s: 0.4)
def single_rates(s: Settings, rate: float) -> Observed:
    """The rates of Fig. B.5, rates of certain period, the last bounded one and one beyond."""
    return _observed(rate)


Said = list[tuple[str, Observed]]  # what is said of a descent, and what it does


@study.finding(single_rates)
def verdicts(s: Settings, seen: dict[float, Observed]) -> dict[str, Said]:
    """What Fig. B.5 says; the same with the rates beside the doubling exchanged; certain rates."""
    swapped = {1.05: FIGURE[1.05], 1.235: FIGURE[1.237], 1.237: FIGURE[1.235]}
    cases = {"figure": FIGURE, "exchanged": swapped, "certain": CERTAIN}
    return {name: [(word, seen[k]) for k, word in said.items()] for name, said in cases.items()}


SCANS = {  # text of the loss, rates
    "onset": (QUARTIC, ONSET), "late": (QUARTIC, LATE), "quadratic map": (CUBIC, ONSET)
}  # fmt: skip


@study.compute(each=lambda s: SCANS, reads=("scanned",), seconds=lambda s: 0.02 * s.scanned)
def scans(s: Settings, name: str) -> dict[float, Observed]:
    """Descents by learning rate, where chaos begins, where it has begun, and on another loss."""
    text, ends = SCANS[name]
    return {rate: _observed(rate, text) for rate in np.linspace(*ends, s.scanned).tolist()}


@study.compute(
    each=lambda s: (*ATTRACTING, "on the orbit"), reads=("starts", "seed"),
    seconds=lambda s: 0.3 + s.starts / 2e3,
)  # fmt: skip
def settled(s: Settings, name: str) -> np.ndarray:
    """Whether random starts end within 1e-9 of the orbit of period 2, (rates, starts).

    Those of "on the orbit" begin within 1e-3 of it.
    """
    random = np.random.default_rng(s.seed)
    starts, rates = random.uniform(0.01, 0.99, s.starts), ATTRACTING.get(name, (1.1,))
    if name == "on the orbit":
        starts = orbit_points(1.0, 1.1)[0] + random.uniform(-1e-3, 1e-3, s.starts)
    found = []
    for rate in rates:
        x = starts
        for _ in range(6000):
            x = x - rate * x * (x * x - 1)
        found.append(np.abs(x[:, None] - orbit_points(1.0, rate)).min(axis=1) < 1e-9)
    return np.array(found)


@study.compute(reads=(), seconds=lambda s: 0.4)
def lowest(s: Settings) -> dict[str, float]:
    """The lowest of 20,000 iterates from any of 99 starts, at rates around the change of sign."""
    found = {}
    for name, rate in {"below": SIGN_CHANGES - 1e-3, "above": SIGN_CHANGES + 1e-3,
                       "K = 1.2": 1.2}.items():  # fmt: skip
        x = np.linspace(0.01, 0.99, 99)
        least = 1.0
        for _ in range(20_000):
            x = x - rate * x * (x * x - 1)
            least = min(least, float(x.min()))
        found[name] = least
    return found
