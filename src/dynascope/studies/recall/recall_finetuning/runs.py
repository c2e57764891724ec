"""Training in two phases: without noise, then with it; beside training with noise from scratch."""

from dataclasses import dataclass, replace

import numpy as np
import xarray as xr

from dynascope.core.run import Run
from dynascope.core.sources import chen2025
from dynascope.core.spec import Spec, static_field
from dynascope.engine import Experiment, kept_parameters
from dynascope.models import Transformer, continued, recall_transformer
from dynascope.studies.nodes import Missing
from dynascope.studies.recall.training import trained
from dynascope.studies.study import Study
from dynascope.tasks import NoisyRecall


@dataclass(frozen=True)
class Settings(Spec, tag="studies.recall-finetuning"):
    """A reduced size, and how long the two phases are."""

    task: NoisyRecall = NoisyRecall(
        128, 0.5, "tinyshakespeare", triggers=(1,), noise_token=2, scored="repeats", places=48,
        test=128,
    )  # fmt: skip
    model: Transformer = recall_transformer(128, 128)
    rate: float = static_field(0.03)  # at 0.1 training without noise diverges by step 70
    scratch_rate: float = static_field(0.1)
    tuning_rate: float = static_field(0.03)
    batch: int = 64
    steps: int = 250
    tuning_steps: int = 250
    seeds: int = 4  # as fast as three: lanes come in pairs
    first_seed: int = 100  # rates and lengths were chosen on seeds 0 to 3
    to_the_end: bool = True


study = Study(
    "recall-finetuning",
    title="Attention that took all that follows the trigger learns to leave the noise out",
    sources=(chen2025("Figs. 4.4, 4.7, section 4.4.4.1"),),
    settings=Settings,
    scales={
        "smoke": {
            "task.places": 12, "task.length": 24, "task.test": 32, "model.tokens.length": 24,
            "model.width": 16, "batch": 16, "steps": 15, "tuning_steps": 15, "seeds": 2,
            "to_the_end": False,
        },
        "laptop": {},
        "paper": {
            "task.length": 256, "task.places": 96, "task.test": 512, "model.tokens.length": 256,
            "model.width": 256, "batch": 512, "steps": 2000, "tuning_steps": 2000, "rate": 0.03,
            "scratch_rate": 0.03, "tuning_rate": 0.03,
        },
    },
    notes=lambda s: (
        f"Phase 1: {s.steps} steps without noise at rate {s.rate:g}; phase 2: {s.tuning_steps} "
        f"with noise 1/2 at rate {s.tuning_rate:g}, all weights, momentum from zero.",
        "What is on top at p = 1/2 is a matter of chance; probabilities are judged beside it.",
        "A seed that diverges without noise has no second phase, and is not counted there.",
    ),
)  # fmt: skip


def _seeds(s: Settings) -> range:
    return range(s.first_seed, s.first_seed + s.seeds)


@study.run(data="tinyshakespeare")
def first_phase(s: Settings) -> Experiment:
    """Without noise."""
    task = replace(s.task, noise=0.0)
    return trained(task, s.model, s.rate, s.batch, s.steps, _seeds(s), (), looks=6)


@study.run(data="tinyshakespeare")
def from_scratch(s: Settings) -> Experiment:
    """With noise from the start."""
    task, model, rate = s.task, s.model, s.scratch_rate
    return trained(task, model, rate, s.batch, s.tuning_steps, _seeds(s), (), looks=12)


@study.run(first_phase, data="tinyshakespeare", seconds=lambda s: 0.05 * s.tuning_steps * s.seeds)
def second_phase(s: Settings, first_phase: Run) -> dict[str, Experiment] | Missing:
    """With noise, from where the first phase ended; one experiment a seed."""
    found = {}
    for seed in _seeds(s):
        if first_phase["diverged"].sel(seed=seed):
            continue
        start = kept_parameters(first_phase.sel(seed=seed), s.steps)
        one = trained(
            s.task, s.model, s.tuning_rate, s.batch, s.tuning_steps, range(1), (), looks=12
        )  # fmt: skip
        found[f"seed {seed}"] = replace(one, model=continued(s.model, start), seeds=(seed,))
    why = f"at rate {s.rate:g} every seed diverges without noise, and there is no second phase"
    return found or Missing(why)


@study.finding(second_phase)
def tuned(s: Settings, second_phase: dict[str, Run]) -> Run:
    """All seeds of the second phase as one run."""
    parts = list(second_phase.values())
    names = ["recall", "recall_attention", "noise_margin"]
    joined = xr.concat([run.dataset[names] for run in parts], "seed")
    return replace(parts[0], dataset=joined, record=None)


def _short(s: Settings) -> str | None:
    return None if s.to_the_end else "to_the_end=False: the phases are too short"


@study.finding(tuned, only_if=_short)
def tuned_to_the_end(s: Settings, tuned: Run) -> Run:
    """The second phase, where both are long enough."""
    return tuned


@study.finding(from_scratch, only_if=_short)
def scratch_to_the_end(s: Settings, from_scratch: Run) -> Run:
    """Training from scratch, where it is long enough."""
    return from_scratch


@study.finding(from_scratch)
def planted(s: Settings, run: Run) -> dict[str, Run]:
    """A phase with noise with other measurements: as described, and as if nothing was learned."""
    recall, attention = (np.array(run[n].values) for n in ("recall", "recall_attention"))
    wiggle = 0.001 * np.arange(len(recall))[:, None]
    recall[..., 0, 3] = 0.5 + wiggle
    recall[:, 1:8, 0, 3] = 1.0
    recall[..., 0, 1] = 0.5 + wiggle
    attention[..., 3], attention[..., 4] = 0.1, 0.1
    attention[:, -1, 4] = 0.001
    good = run.planted(recall=recall, recall_attention=attention)
    flat = np.zeros_like(recall) + wiggle[..., None, None]
    same = np.array(attention)
    same[..., 4] = 0.0
    same[:, -1, 4] = 0.1
    return {"described": good, "nothing": run.planted(recall=flat, recall_attention=same)}
