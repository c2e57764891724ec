"""Theorem 4.2: exact attention logits after the three phases, with both samplings of answers."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dynascope.core.sources import chen2025
from dynascope.core.spec import Spec, static_field
from dynascope.studies.study import Study
from dynascope.theories.recall.attention_gap import (
    Gaps,
    diagonal_values,
    first_gap,
    gaps,
    learned_values,
    second_gap,
)
from dynascope.theories.recall.population import Population
from dynascope.theories.recall.sequences import Sequences


@dataclass(frozen=True)
class Settings(Spec, tag="studies.noise-avoidance"):
    """Sizes and noise; values have b1 = b2 = 1 / N^2 where they are not those learned."""

    sizes: tuple[int, ...] = (16, 32, 64, 128)
    noise: float = static_field(0.3)
    ordinary: int = 65
    length: int = 256


study = Study(
    "noise-avoidance",
    title="Attention avoids the noise, unless the trigger itself may be the answer",
    sources=(chen2025("Theorem 4.2"),),
    settings=Settings,
    scales={"smoke": {"sizes": (16, 32, 64)}, "laptop": {},
            "paper": {"sizes": (16, 32, 64, 128, 256)}},
    notes=(
        "The thesis draws answers from all ordinary tokens, the trigger too; its proof neglects "
        "those rows. Both samplings are worked out exactly; the gaps are the smallest over tokens.",
        "Gaps over sizes have T = 40 N.",
    ),
)  # fmt: skip


class Swept(NamedTuple):
    """Gaps over N, with the formulas beside."""

    sizes: np.ndarray
    first: np.ndarray
    second: np.ndarray
    first_formula: np.ndarray
    second_printed: np.ndarray
    second_corrected: np.ndarray


def _swept(s: Settings, with_trigger: bool, learned: bool, sign: int = 1) -> Swept:
    """Gaps over N; with `sign` -1 the values of the proof have the other sign."""
    rows = []
    for n in s.sizes:
        population = Population(Sequences(n, 40 * n, s.noise), with_trigger)
        b = 1 / n**2
        values = (
            learned_values(population)
            if learned
            else diagonal_values(population, sign * b, sign * b)
        )
        found: Gaps = gaps(population, values)
        rows.append((
            n, found.after_trigger, found.from_noise, first_gap(n, s.noise, b),
            second_gap(n, s.noise, b, b, "printed"),
            second_gap(n, s.noise, b, b, "corrected", with_trigger),
        ))  # fmt: skip
    return Swept(*np.array(rows, float).T)


SWEPT: dict[str, tuple[bool, bool, int]] = {  # with the trigger, learned, sign
    "trigger too": (True, False, 1), "without the trigger": (False, False, 1),
    "trigger too, learned": (True, True, 1), "without the trigger, learned": (False, True, 1),
    "other sign": (False, False, -1),
}  # fmt: skip


@study.compute(each=lambda s: tuple(SWEPT),
               seconds=lambda s: 2e-7 * sum(40 * n * n**2 for n in s.sizes))  # fmt: skip
def sweeps(s: Settings, name: str) -> Swept:
    """Both samplings; values as in the proof, and as learned in phases 1 and 2."""
    return _swept(s, *SWEPT[name])


@study.finding(sweeps)
def planted(s: Settings, sweeps: dict[str, Swept]) -> dict[str, Swept]:
    """Gaps that are the formulas themselves, and gaps that fall like 1 / N."""
    known = sweeps["without the trigger"]
    n = known.sizes
    return {
        "formulas": known._replace(first=known.first_formula, second=known.second_corrected),
        "flat": known._replace(first=n**-1.0, second=n**-1.0),
    }


@study.finding
def phase_two(s: Settings) -> dict[str, np.ndarray]:
    """W_V after phase 2 at N = 65, T = 256: diagonal entries times N^2, and the noise's row."""
    population = Population(Sequences(s.ordinary, s.length, s.noise))
    values, n = learned_values(population), s.ordinary
    others = np.arange(1, n)
    diagonal = np.concatenate([values[others, others], values[others, n + 1 + others]]) * n**2
    clean = (1 - s.noise) ** 2
    return {
        "over 1": diagonal, "over (1 - alpha)": diagonal / (1 - s.noise),
        "over (1 - alpha)^2": diagonal / clean, "noise row": np.abs(values[n]) + 1,
        "one": np.ones(2), "trigger row": np.abs(values[0]) * n**2 + 1,
    }  # fmt: skip
