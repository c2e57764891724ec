"""Deeper transformers on synthetic indirect objects, with the last MLP dropped or truncated."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import xarray as xr

from dynascope.core.run import Run
from dynascope.core.sources import chen2025
from dynascope.core.spec import Spec, static_field
from dynascope.dynamics import Adam, Optax
from dynascope.engine import Experiment
from dynascope.engine.record import Evenly
from dynascope.models import recall_transformer
from dynascope.probes import Recalled
from dynascope.studies.nodes import Node
from dynascope.studies.recall.training import descent
from dynascope.studies.study import Study
from dynascope.tasks import SyntheticIOI

DEPTHS = (3, 4, 5, 6, 7)
RULES = ("sgd", "adam")


@dataclass(frozen=True)
class Settings(Spec, tag="studies.synthetic-ioi"):
    """A reduced size; the thesis has N = 65, T = 256, d = 256, batches of 512."""

    task: SyntheticIOI = SyntheticIOI(32, 0.5, 16, test=512)
    width: int = 64
    depths: tuple[int, ...] = (3, 4)
    adam_depths: tuple[int, ...] = (3, 4)
    rate: float = static_field(0.05)
    adam_rate: float = static_field(1e-3)
    keep: float = static_field(0.05)  # of the last MLP's input map, for Adam
    batch: int = 64
    steps: int = 3000
    seeds: int = 4  # as fast as three: lanes come in pairs


study = Study(
    "synthetic-ioi",
    title="Without its last MLP a deeper transformer tells the indirect object more often",
    sources=(chen2025("Figs. C.5, C.6, app. C.8"),),
    settings=Settings,
    scales={
        "smoke": {
            "task.length": 12, "task.ordinary": 6, "task.test": 64, "width": 16, "depths": (3,),
            "adam_depths": (), "batch": 16, "steps": 30, "seeds": 2,
        },
        "laptop": {},
        "paper": {
            "task.length": 256, "task.ordinary": 65, "width": 256, "depths": (3, 4, 5, 6, 7),
            "adam_depths": (3, 4, 5), "rate": 0.03, "keep": 0.01, "batch": 512, "steps": 5000,
        },
    },
    notes=(
        "Rates, steps and the noise are not given: 1/2 here. The rarer name is asked for; the "
        "thesis's words say the one that appears more, its construction makes that the "
        "distractor. Neither name is the trigger.",
        "Copying a random name after the trigger is right one time in three. A run whose answer "
        "never gets a probability of 1.5 / N without the last MLP counts as not converged, and "
        "decides nothing.",
    ),
)  # fmt: skip


def _run(rule: str, depth: int) -> Node:
    def train(s: Settings) -> Experiment:
        """Training with noise."""
        kinds: tuple[Literal["mlp"], ...] = tuple("mlp" for _ in range(depth))
        model = recall_transformer(s.task.length, s.width, kinds)
        last = f"blocks.{depth - 1}.feed_forward.in"
        step = (
            Optax(descent, s.rate, batch_size=s.batch, order="fresh") if rule == "sgd"
            else Adam(s.adam_rate, 0.9, 0.95, batch_size=s.batch, order="fresh")
        )  # fmt: skip
        return Experiment(
            s.task, model, step, (Recalled(((last, 0.0), (last, s.keep))),), steps=s.steps,
            record=Evenly(13), seeds=tuple(range(s.seeds)),
        )  # fmt: skip

    def left_out(s: Settings) -> str | None:
        chosen = s.depths if rule == "sgd" else s.adam_depths
        name = "depths" if rule == "sgd" else "adam_depths"
        return None if depth in chosen else f"{name} leaves {depth} layers out"

    return study.run(name=f"{rule}, {depth} layers", only_if=left_out)(train)


runs = {(rule, depth): _run(rule, depth) for rule in RULES for depth in DEPTHS
        if rule == "sgd" or depth <= 5}  # fmt: skip


def gains(s: Settings, run: Run, cut: int) -> np.ndarray:
    """Accuracy with the last MLP cut less that of the whole, of seeds that converged."""
    end = run["recall"].isel(step=-1)
    right = end.sel(readout="right").isel(cut=1).values
    accuracy = end.sel(readout="accuracy")
    found = (accuracy.isel(cut=cut) - accuracy.isel(cut=0)).values
    return found[right > 1.5 / s.task.ordinary]


def _gain(rule: str, depth: int) -> Node:
    cut = 1 if rule == "sgd" else 2

    def finding(s: Settings, run: Run) -> np.ndarray:
        return gains(s, run, cut)

    return study.finding(runs[rule, depth], name=f"gain of {rule}, {depth} layers")(finding)


gain = {key: _gain(*key) for key in runs}


def _made(gain: float) -> Run:
    """Six seeds that converged, whose accuracy either cut of the last MLP changes by about this."""
    values = np.full((6, 1, 3, 2), 0.5)  # seeds, step, cuts, readouts
    values[:, 0, 1:, 1] += (gain + 0.01 * np.linspace(-1, 1, 6))[:, None]
    dims = ("seed", "step", "cut", "readout")
    coords = {"readout": ["right", "accuracy"]}
    return Run(xr.Dataset({"recall": (dims, values)}, coords), None)


@study.finding
def planted(s: Settings) -> dict[str, np.ndarray]:
    """Gains that are all good, and all bad, read like those of runs."""
    return {name: gains(s, _made(gain), 1) for name, gain in (("better", 0.3), ("worse", -0.3))}
