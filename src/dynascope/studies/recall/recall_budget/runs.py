"""Bigrams learned in 100 steps, with parameters shared out between MLPs and attention."""

from dataclasses import dataclass, replace

import numpy as np

from dynascope.core.run import Run
from dynascope.core.sources import chen2025
from dynascope.core.spec import Spec, static_field
from dynascope.dynamics import Optax
from dynascope.engine import Experiment
from dynascope.engine.record import At
from dynascope.models import Transformer, recall_transformer
from dynascope.probes import Recalled
from dynascope.studies.recall.training import descent
from dynascope.studies.study import Study
from dynascope.tasks import NoisyRecall


@dataclass(frozen=True)
class Settings(Spec, tag="studies.recall-budget"):
    """Totals of parameters a block, and the shares of them that MLPs get."""

    task: NoisyRecall = NoisyRecall(
        64, 0.5, "tinyshakespeare", triggers=(1,), noise_token=2, scored="bigrams", test=64
    )
    model: Transformer = recall_transformer(64, 64)
    totals: tuple[int, ...] = (8, 16, 32)  # in units of 2 d^2: MLP 2 d h, attention 4 d r
    shares: tuple[float, ...] = static_field((0.125, 0.25, 0.5, 0.75, 0.875))
    rates: tuple[float, ...] = (0.03, 0.1, 0.3)
    batch: int = 32
    steps: int = 100
    seeds: int = 4  # as fast as three: lanes come in pairs


study = Study(
    "recall-budget",
    title="Of a fixed number of parameters, those in MLPs learn the bigrams",
    sources=(chen2025("Fig. 4.14"),),
    settings=Settings,
    scales={
        "smoke": {
            "task.length": 16, "task.test": 32, "model.tokens.length": 16, "model.width": 16,
            "totals": (8,), "shares": (0.25, 0.5, 0.75), "rates": (0.1,), "batch": 16,
            "steps": 40, "seeds": 2,
        },
        "laptop": {},
        "paper": {"task.length": 256, "model.tokens.length": 256, "model.width": 256,
                  "batch": 512},
    },
    notes=(
        "Totals and ratios are not given. A block has an MLP of hidden size h, 2 d h numbers, and "
        "one head of size r with queries, keys, values and outputs, 4 d r numbers.",
        "The loss is that of the next token at tokens that are no trigger, at the best of the "
        "learning rates, after 100 steps.",
    ),
)  # fmt: skip


def divided(model: Transformer, total: int, share: float) -> Transformer:
    """The model with a total of 2 d^2 total / 8 numbers a block, of which MLPs have a share."""
    d = model.width
    numbers = total * d * d // 4
    hidden = max(1, round(share * numbers / (2 * d)))
    head = max(1, round((1 - share) * numbers / (4 * d)))
    return replace(model, identity_query=False, head_size=head, hidden=hidden)


@study.run(data="tinyshakespeare")
def grid(s: Settings) -> dict[tuple[int, float], Experiment]:
    """One experiment for every division; learning rates are an axis of it."""
    return {
        (total, share): Experiment(
            s.task, divided(s.model, total, share),
            Optax(descent, s.rates[0], batch_size=s.batch, order="fresh"), (Recalled(),),
            steps=s.steps, record=At(()), seeds=tuple(range(s.seeds)),
            over=(("dynamics.learning_rate", s.rates),),
        )
        for total in s.totals for share in s.shares
    }  # fmt: skip


@study.finding(grid)
def losses(s: Settings, grid: dict[tuple[int, float], Run]) -> dict[int, np.ndarray]:
    """Loss at the best rate by total: (seed, share)."""

    def best(run: Run) -> np.ndarray:
        end = run["recall"].sel(cut="whole", readout="loss").isel(step=-1)
        at = end.mean("seed").argmin("dynamics.learning_rate")
        return end.isel({"dynamics.learning_rate": int(at)}).values

    return {
        total: np.stack([best(grid[total, share]) for share in s.shares], axis=1)
        for total in s.totals
    }


@study.finding(losses)
def every_total(s: Settings, losses: dict[int, np.ndarray]) -> np.ndarray:
    """(total, seed, share)."""
    return np.stack(list(losses.values()))


@study.finding(every_total)
def planted(s: Settings, every_total: np.ndarray) -> dict[str, np.ndarray]:
    """Losses that fall with the share, and that rise."""
    shape = (1, 6, every_total.shape[2])
    falling = np.broadcast_to(np.linspace(1, 0, shape[2]), shape) + 0.0
    return {"falling": falling, "rising": falling[..., ::-1]}
