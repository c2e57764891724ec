"""Networks with and without the points near the test point, and the points; yang2025 F.3."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import jax
import numpy as np

from dynascope.core.leaves import leaves, with_leaves
from dynascope.core.randomness import key_for
from dynascope.core.run import Run
from dynascope.core.sources import yang2025
from dynascope.core.spec import Spec
from dynascope.dynamics import SGD
from dynascope.engine import Experiment
from dynascope.engine.record import Every
from dynascope.models import MLP
from dynascope.probes import OutputAt, TestLoss
from dynascope.runtime.precision import precision
from dynascope.studies.study import Study
from dynascope.studies.swing_by.events import planted_curve
from dynascope.tasks import IdentityMapping

DRAWN = 8  # seeds whose training points are examined


@dataclass(frozen=True)
class Settings(Spec, tag="studies.sim-separation"):
    """What is trained, and on how many seeds."""

    means: tuple[float, float] = (1.0, 2.0)
    seeds: int = 32
    wide_seeds: int = 4
    steps: int = 4720  # 40 epochs of 118 batches
    samples_per_cluster: int = 5000
    batch_size: int = 128
    dimension: int = 64
    width: int = 64


study = Study(
    "sim-separation",
    title="Separation: nothing near the test point, nothing lost without it",
    sources=(yang2025("appendix F.3, Figs. 15, 16"),),
    settings=Settings,
    scales={"smoke": {"seeds": 24, "wide_seeds": 2, "steps": 1180}, "laptop": {},
            "paper": {"seeds": 100, "wide_seeds": 20}},
    notes=(
        "The caption has means (1, 2), the program (2, 4); the text's scales are deviations, "
        "the program's variances. That few samples are discarded fits means (1, 2) with "
        "variances of 0.05 only, so that is what is trained with and without truncation.",
        "Points closer to the test point than half the smallest mean are drawn again, each "
        "from its own cluster; all others, their order and the start stay the same.",
        "The low-dimensional network has width 4 and learning rate 0.01, as in the program.",
    ),
)  # fmt: skip


def readings(s: Settings, truncated: bool = False) -> dict[str, IdentityMapping]:
    """The three readings of the training set, whole or truncated."""
    program = IdentityMapping(
        s.means, (0.05, 0.05), origin=True, reduction="mean", scale_is="variance",
        samples_per_cluster=s.samples_per_cluster, truncated=truncated,
    )  # fmt: skip
    return {
        "variances": program,
        "deviations": replace(program, scales=(0.05**2, 0.05**2)),
        "far apart": replace(program, means=(2.0, 4.0)),
    }


@study.run
def networks(s: Settings) -> dict[str, Experiment]:
    """Narrow and wide linear networks, on the whole training set and on the truncated one."""
    rate = 0.1 * s.dimension / 64
    kinds = {"narrow": (MLP(4, 4, "linear"), None, 0.01, s.seeds),
             "wide": (MLP(4, s.width, "linear"), s.dimension, rate, s.wide_seeds)}  # fmt: skip
    return {
        f"{kind}, {'truncated' if truncated else 'whole'}": Experiment(
            replace(readings(s, truncated)["variances"], dimension=dimension), model,
            SGD(rate, s.batch_size), (TestLoss(), OutputAt()), steps=s.steps, record=Every(10),
            seeds=tuple(range(seeds)),
        )
        for kind, (model, dimension, rate, seeds) in kinds.items() for truncated in (False, True)
    }  # fmt: skip


class Cloud(NamedTuple):
    """Training points, and what they were drawn for."""

    points: np.ndarray  # (seed, sample, 2)
    task: IdentityMapping


@study.compute(each=lambda s: (False, True), reads=("means", "seeds", "samples_per_cluster"),
               seconds=lambda s: 5 + s.samples_per_cluster / 2500)  # fmt: skip
def clouds(s: Settings, truncated: bool) -> dict[str, Cloud]:
    """Training points as a run draws them, whole or truncated, by reading.

    The readings differ in means and scales only, so that all of them share one compiled program.
    """
    tasks, seeds = readings(s, truncated), min(DRAWN, s.seeds)
    values = [leaves(task) for task in tasks.values() for _ in range(seeds)]
    stacked = {k: np.array([v[k] for v in values], np.float32) for k in values[0]}
    numbers = np.tile(np.arange(seeds, dtype=np.uint32), len(tasks))

    def draw(lane: tuple[dict[str, jax.Array], jax.Array]) -> Any:
        return with_leaves(tasks["variances"], lane[0]).samples(key_for(lane[1], "data"))

    with precision("float32"):
        drawn = jax.jit(lambda lanes: jax.lax.map(draw, lanes))((stacked, numbers))
    points = np.asarray(drawn, float).reshape(len(tasks), seeds, -1, 2)
    return {name: Cloud(x, task) for x, (name, task) in zip(points, tasks.items())}


@study.finding(clouds)
def planted_centres(s: Settings, clouds: dict[bool, dict[str, Cloud]]) -> dict[str, Cloud]:
    """By reading: every point at its cluster's centre."""
    found = {}
    for name, (points, task) in clouds[False].items():
        first, second = task.means
        centres = np.array([(0.0, 0.0), (first, 0.0), (0.0, second)])
        places = centres[np.arange(points.shape[1]) % 3]
        found[name] = Cloud(np.broadcast_to(places, points.shape).copy(), task)
    return found


@study.finding(planted_centres["variances"])
def planted_moved(s: Settings, centres: Cloud) -> Cloud:
    """The same with 42 points of each seed moved."""
    moved = centres.points.copy()
    moved[:, :42] -= 0.1
    return centres._replace(points=moved)


@study.finding(networks)
def rolled(s: Settings, networks: dict[str, Run]) -> dict[str, Run]:
    """The networks on the whole training set, each in the place of the seed after it."""
    return {
        kind: run.isel(seed=np.roll(np.arange(run.sizes["seed"]), 1))
        for kind, run in ((kind, networks[f"{kind}, whole"]) for kind in ("narrow", "wide"))
    }


@study.finding(networks)
def planted_networks(s: Settings, networks: dict[str, Run]) -> dict[str, Run]:
    """Outputs that are one percent of the target's length off, and two rises of about a tenth."""
    found = {}
    for kind in ("narrow", "wide"):
        run = networks[f"{kind}, whole"]
        off = np.zeros(run.sizes["output"])
        off[0] = 0.01 * np.hypot(*run.experiment.task.means)
        found[kind] = run.planted(output_at=run["output_at"].values + off)
    narrow = networks["narrow, whole"]
    return found | {f"rise {r}": planted_curve(narrow, r) for r in (0.1, 0.105)}
