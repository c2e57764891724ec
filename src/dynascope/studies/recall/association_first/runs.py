"""A transformer on generated English from scratch: a stand-in for checkpoints of large models."""

from dataclasses import dataclass

import numpy as np

from dynascope.core.run import Run
from dynascope.core.sources import chen2025
from dynascope.core.spec import Spec, static_field
from dynascope.dynamics import Adam
from dynascope.engine import Experiment
from dynascope.engine.record import LogSpaced
from dynascope.models import Transformer, Words
from dynascope.probes import Prompted
from dynascope.studies.study import Study
from dynascope.tasks import TemplateEnglish
from dynascope.tasks.recall.english import LENGTH

KEEPS = (0.0, 0.05, 0.2)


@dataclass(frozen=True)
class Settings(Spec, tag="studies.association-first"):
    """The network, and how long it is trained."""

    task: TemplateEnglish = TemplateEnglish(test=100)
    model: Transformer = Transformer(
        Words(LENGTH), depth=4, width=64, heads=4, causal=True, read="every", bias=False,
    )  # fmt: skip
    rate: float = static_field(1e-3)
    batch: int = 64
    steps: int = 2000
    seeds: int = 4  # as fast as three: lanes come in pairs
    to_the_end: bool = True


study = Study(
    "association-first",
    title='A stand-in: "the" after prepositions is learned within tens of steps, names later',
    sources=(chen2025("Figs. 4.13, C.1"),),
    settings=Settings,
    scales={
        "smoke": {"task.test": 32, "model.depth": 2, "model.width": 32, "batch": 32, "steps": 80,
                  "seeds": 4, "to_the_end": False},
        "laptop": {},
        "paper": {"model.depth": 6, "model.width": 128, "steps": 20_000, "batch": 256},
    },
    notes=(
        "A stand-in: generated English and a network of our own, trained here from scratch. The "
        "thesis has checkpoints of Pythia; its numbers are not looked for, its order is.",
        "The cut is chosen on one half of the prompts and reported on the other.",
    ),
)  # fmt: skip


@study.run
def english(s: Settings) -> Experiment:
    """Adam, fresh sentences every step."""
    cuts = tuple(
        (f"blocks.{block}.feed_forward.in", keep)
        for block in range(s.model.depth)
        for keep in KEEPS
    )
    return Experiment(
        s.task, s.model, Adam(s.rate, batch_size=s.batch, order="fresh"), (Prompted(cuts),),
        steps=s.steps, record=LogSpaced(24), seeds=tuple(range(s.seeds)),
    )  # fmt: skip


def _short(s: Settings) -> str | None:
    return None if s.to_the_end else "to_the_end=False: training stops before names are told"


@study.finding(english, only_if=_short)
def to_the_end(s: Settings, english: Run) -> Run:
    """The runs, where they are long enough."""
    return english


@study.finding(english)
def planted(s: Settings, english: Run) -> dict[str, Run]:
    """As the thesis describes it, and with nothing learned."""
    values = np.array(english["prompted"].values)  # (seed, step, cut, prompt, said)
    flat = np.broadcast_to([0.01, 0.01, 50.0], values.shape) + 0.0
    steps = english["step"].values
    good = flat.copy()
    good[:, steps >= 5, :, :, 1:] = (0.9, 1.0)
    early = good.copy()
    good[:, -1, 0, :3] = ([0.5, 0.4, 1], [0.5, 0.4, 1], [0.01, 0.4, 1])
    good[:, -1, 1:, :3] = ([0.9, 0.01, 9], [0.9, 0.01, 9], [0.01, 0.01, 9])
    cases = {"described": good, "only the": early, "nothing": flat}
    return {name: english.planted(prompted=array) for name, array in cases.items()}
