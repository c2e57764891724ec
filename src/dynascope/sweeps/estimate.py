"""What a run would cost, without running it: lanes, steps, recorded bytes, seconds.

Seconds come from a stored record of the same experiment where there is one. Otherwise from
a rule: the operations of one step are counted and priced (see `work`), and a program takes
some seconds to compile. The rule is meant to tell seconds from minutes from hours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from dynascope.core.spec import fingerprint, skeleton
from dynascope.engine import Experiment
from dynascope.engine.lanes import bucket
from dynascope.numerics.precision import precision
from dynascope.store import Store
from dynascope.sweeps.split import split
from dynascope.sweeps.work import trace

RULE = "rule of thumb"
PROGRAM = 3.0  # seconds to trace and compile a program
SOLVER_STEPS = 3  # of a flow between two records


@dataclass(frozen=True)
class Estimate:
    """The plan of one experiment and its cost."""

    label: str
    programs: int  # compiled separately, since shapes differ
    lanes: int  # grid points times seeds
    steps: int | None
    time: float | None  # of a flow
    rows: int  # places at which the probes look
    bytes: int  # of everything recorded, before compression
    seconds: float
    basis: str  # where the seconds come from


def plan(
    experiments: Mapping[str, Experiment], store: Store, again: bool = False
) -> list[Estimate]:
    """Plan and cost of experiments of any shape, in the order in which they would run.

    Args:
        experiments: What would be run, by label.
        store: Where an earlier record may tell how long it takes.
        again: Whether it would be computed although it is stored.

    Returns:
        An estimate of each; what is stored costs nothing unless it is computed again.
    """
    compiled: set[str] = set()
    return [_estimate(label, e, store, again, compiled) for label, e in experiments.items()]


def _estimate(
    label: str, experiment: Experiment, store: Store, again: bool, compiled: set[str]
) -> Estimate:
    parts = [_group(group, compiled) for _, group in split(experiment)]
    whole = Estimate(
        label=label,
        programs=len(parts),
        lanes=sum(lanes for lanes, _, _ in parts),
        steps=experiment.steps,
        time=experiment.time,
        rows=len(experiment.places()),
        bytes=sum(size for _, size, _ in parts),
        seconds=sum(seconds for _, _, seconds in parts),
        basis=RULE,
    )
    found = store.find(fingerprint(experiment))
    if found and again:
        return replace(whole, seconds=store.manifest(found)["seconds"], basis=f"record {found}")
    return replace(whole, seconds=0.0, basis=f"stored as {found}") if found else whole


def _group(experiment: Experiment, compiled: set[str]) -> tuple[int, int, float]:
    """Lanes, recorded bytes and seconds of an experiment that shares one program."""
    grid = experiment.grid()
    lanes, rows = len(grid) * len(experiment.seeds), len(experiment.places())
    with precision(experiment.dtype):
        step, look, row_bytes, mapped = trace(grid[0], experiment.dtype)
    moves = experiment.steps or SOLVER_STEPS * rows
    seconds = moves * step.seconds(lanes, mapped) + rows * look.seconds(lanes, mapped)
    program = f"{bucket(lanes)} {experiment.dtype} {skeleton(grid[0])}"
    if program not in compiled:
        compiled.add(program)
        seconds += PROGRAM
    return lanes, lanes * rows * row_bytes, seconds
