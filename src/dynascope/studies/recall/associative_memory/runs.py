"""Noisy associative memories: trained ones, the flow of two items, and any number of items."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dynascope.core.run import Run
from dynascope.core.sources import chen2025
from dynascope.core.spec import Spec, static_field
from dynascope.dynamics import GradientDescent, GradientFlow
from dynascope.engine import Experiment
from dynascope.engine.record import LogSpaced
from dynascope.models import AssociativeMemory
from dynascope.probes import TruncatedLoss
from dynascope.studies.study import Study
from dynascope.tasks import NoisyLabels
from dynascope.theories.recall import associative_memory as theory
from dynascope.theories.recall.associative_memory import Loss, associative_memory, pure_loss
from dynascope.theories.recall.truncation import late_noise
from dynascope.theories.recall.two_items import TwoItems, late_constant, two_items

LATE = np.geomspace(1e3, 1e7, 41)  # times of the flow of two items
ALPHAS = (0.25, 0.3, 0.35)
ITEMS = (2, 3, 4, 6, 10, 30)
NOISES = (0.03, 0.3)


@dataclass(frozen=True)
class Settings(Spec, tag="studies.associative-memory"):
    """Fig. 4.5: which memories are trained, and for how long."""

    task: NoisyLabels = NoisyLabels(3, 0.03)
    widths: tuple[int, ...] = (12, 8)
    rate: float = static_field(1.0)
    steps: int = 30_000
    seeds: int = 40


study = Study(
    "associative-memory",
    title="A truncated memory forgets the noise, as long as the noise is its smallest direction",
    sources=(chen2025("Fig. 4.5, Theorem 4.3, Lemma C.14"),),
    settings=Settings,
    scales={
        "smoke": {"steps": 10_000, "seeds": 20},
        "laptop": {},
        "paper": {"seeds": 400, "steps": 300_000},
    },
    notes=(
        "Learning rate, number of steps and the form of the loss are not given: ours are the mean "
        "over items, rate 1 and 30,000 steps; the thesis shows 20 runs.",
        "(C.37) leaves out the squared norms of its two basis matrices; both flows are here.",
    ),
)  # fmt: skip


@study.run
def memories(s: Settings) -> dict[str, Experiment]:
    """Fig. 4.5: random embeddings, one experiment a width."""

    def trained(width: int) -> Experiment:
        return Experiment(
            s.task, AssociativeMemory(width), GradientDescent(s.rate), (TruncatedLoss(),),
            steps=s.steps, record=LogSpaced(60, 10.0), seeds=tuple(range(s.seeds)),
        )  # fmt: skip

    return {f"d = {width}": trained(width) for width in s.widths}


@study.run
def orthonormal(s: Settings) -> Experiment:
    """The same memory as the theory has it: orthonormal vectors, from zero, under the flow."""
    model = AssociativeMemory(s.task.items + 1, "orthonormal", 0.0)
    return Experiment(
        s.task, model, GradientFlow(), (TruncatedLoss(),), time=s.rate * s.steps,
        record=LogSpaced(60, 10.0), dtype="float64",
    )  # fmt: skip


@study.compute(reads=(), seconds=lambda s: 2)
def flows(s: Settings) -> dict[str, dict[float, TwoItems]]:
    """Two items under the right flow and under the printed one."""
    return {
        "right": {a: two_items(a, LATE, "right") for a in ALPHAS},
        "printed": {a: two_items(a, LATE, "printed") for a in ALPHAS},
    }


@study.finding(flows)
def constants(s: Settings, flows: dict[str, dict[float, TwoItems]]) -> dict[str, np.ndarray]:
    """The last t e^a over the constant that is stated for it, for every noise."""

    def over(flow: str, which: Any) -> np.ndarray:
        found = flows[flow]
        return np.array([
            LATE[-1] * found[a].other[-1] / late_constant(a, which) for a in ALPHAS
        ])  # fmt: skip

    return {
        "printed, right flow": over("right", "printed"),
        "printed, its own flow": over("printed", "printed"),
        "corrected, right flow": over("right", "right"),
        "corrected, printed flow": over("printed", "printed flow"),
    }


@study.finding(flows)
def noise_left(s: Settings, flows: dict[str, dict[float, TwoItems]]) -> dict[str, np.ndarray]:
    """P(noise) over time, (alpha, time): of rank 1, of the whole matrix, and planted decays."""
    right = flows["right"].values()
    return {
        "rank 1": np.stack([f.rank_one()[:, 2] for f in right]),
        "full": np.stack([f.full()[:, 2] for f in right]),
        "planted t^-1": np.stack([1 / LATE] * len(ALPHAS)),
        "planted t^-1/2": np.stack([LATE**-0.5] * len(ALPHAS)),
    }


@study.finding(flows)
def full_matrix(s: Settings, flows: dict[str, dict[float, TwoItems]]) -> dict[str, np.ndarray]:
    """P(noise) less alpha at the last time, for every noise."""
    right = flows["right"].items()
    return {
        "full": np.array([f.full()[-1, 2] - a for a, f in right]),
        "rank 1": np.array([f.rank_one()[-1, 2] - a for a, f in right]),
        "planted": np.zeros(len(ALPHAS)),
    }


@study.finding
def spectra(s: Settings) -> dict[str, np.ndarray]:
    """The noise's singular value over the signal's at time 1e12, by number of items and noise.

    Planted: the ratio of the limit, (N - 1) / sqrt(N + 1), from N = 4 on.
    """
    memories = {n: [associative_memory(n, a, 1e12) for a in NOISES] for n in ITEMS}
    found = {n: [_ratio(memory) for memory in own] for n, own in memories.items()}
    limits = [
        [_ratio(memory._replace(noise=(n - 1) / np.sqrt(n + 1) * memory.signal)) for memory in own]
        for n, own in memories.items() if n > 3
    ]  # fmt: skip
    return {
        "few": np.array([own for n, own in found.items() if n <= 3]),
        "many": np.array([own for n, own in found.items() if n > 3]),
        "limits": np.array(limits),
    }


def _ratio(memory: theory.AssociativeMemory) -> float:
    return float(memory.noise / memory.signal)


@study.finding(orthonormal)
def beside_theory(s: Settings, orthonormal: Run) -> dict[str, np.ndarray]:
    """Clean losses of the trained memory less the predicted ones, rank 2 and whole, from 10 on."""
    measured = orthonormal["truncated_loss"].isel(seed=0)[1:].sel(kept_rank=[2, 4])
    times = orthonormal["time"].values[1:]

    def apart(loss: Loss) -> np.ndarray:
        memory = associative_memory(s.task.items, s.task.noise, times, loss)
        cut = np.where(memory.noise < memory.signal, pure_loss(memory, "signal"), np.nan)
        whole = pure_loss(memory, "all")
        off = measured.values - np.stack([cut, whole], -1)
        return off[np.isfinite(off).all(-1)]

    mean = apart("mean")
    return {"theory at its times": mean, "theory of the sum": apart("sum"), "planted": 0 * mean}


@study.finding
def relation(s: Settings) -> dict[str, np.ndarray]:
    """The noise's singular value over what the signal's says it is, at time 1e6 and at 3."""

    def over(time: float) -> np.ndarray:
        pairs = [(associative_memory(n, a, time), a) for n in ITEMS for a in NOISES]
        return np.array([m.noise / late_noise(m, a) for m, a in pairs])

    return {"late": over(1e6), "early": over(3.0), "planted": np.ones(len(ITEMS) * len(NOISES))}


@study.finding
def ten_items(s: Settings) -> dict[str, np.ndarray]:
    """N = 10, noise 0.3: clean loss of what a truncation leaves, less that of the whole matrix.

    Truncating to rank N - 1 leaves the largest, which are the noise and N - 2 of the signal's;
    with all of the noise kept the best that can be left is bounded by the whole signal kept.
    """
    times = np.geomspace(100, 1e6, 9)
    memory = associative_memory(10, 0.3, times)
    full = pure_loss(memory, "all")
    return {
        "signal only": pure_loss(memory, "signal") - full,
        "noise and part of the signal": _cut(10, 9, times) - full,
        "nothing": _cut(10, 10, times) - full,
        "two items": _cut(2, 1, times) - pure_loss(associative_memory(2, 0.3, times), "all"),
    }


@study.finding(ten_items)
def one_less(s: Settings, ten_items: dict[str, np.ndarray]) -> np.ndarray:
    """Planted: every loss lower by one."""
    return ten_items["nothing"] - 1


def _cut(items: int, rank: int, times: np.ndarray) -> np.ndarray:
    """Mean clean loss over items after an SVD of the dense matrix is cut to a rank; noise 0.3."""
    memory = associative_memory(items, 0.3, times)
    losses = []
    for s, b in zip(memory.signal, memory.offset, strict=True):
        w = np.vstack([s * (np.eye(items) - 1 / items), np.zeros(items)])
        w += b * np.append(np.ones(items), -items)[:, None]
        u, d, vt = np.linalg.svd(w, full_matrices=False)
        logits = (u[:, :rank] * d[:rank]) @ vt[:rank]
        logs = logits - np.log(np.exp(logits).sum(0))
        losses.append(-np.diagonal(logs[:items]).mean())
    return np.array(losses)
