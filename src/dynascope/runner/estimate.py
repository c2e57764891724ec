"""What a run would cost, without running it: lanes, steps, recorded bytes, seconds.

Seconds come from a stored record of the same experiment where there is one. Otherwise from
a rule: the operations of one step are counted and priced (see `work`), and a program takes
some seconds to compile. The rule is meant to tell seconds from minutes from hours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from dynascope.core.leaves import skeleton
from dynascope.core.plain import identify
from dynascope.engine import Experiment
from dynascope.engine.lanes import bucket
from dynascope.runner.split import split
from dynascope.runner.sweep import answer
from dynascope.runner.work import trace
from dynascope.runtime.precision import precision
from dynascope.store import Store

RULE = "rule of thumb"
# Seconds to trace and compile a program beside others. Chosen on the times of 27 studies at smoke
# scale on one machine with two cores: 23 sums are within a factor 3 with it, 15 were with 3.0.
PROGRAM = 1.25
SOLVER_STEPS = 3  # of a flow between two records


@dataclass(frozen=True)
class Estimate:
    """One experiment or computation and its cost."""

    label: str
    kind: str  # of the node: run or computation
    programs: int = 0  # compiled separately, since shapes differ
    lanes: int = 0  # grid points times seeds
    steps: int | None = None
    time: float | None = None  # of a flow
    rows: int = 0  # recorded measurements
    bytes: int = 0  # of everything recorded, before compression
    seconds: float | None = None  # None: not known
    basis: str = RULE  # where the seconds come from


def estimate(
    experiments: Mapping[str, Experiment],
    store: Store,
    again: bool = False,
    compiled: set[str] | None = None,
) -> list[Estimate]:
    """Size and cost of experiments of any shape, in the order in which they would run.

    Args:
        experiments: What would be run, by label.
        store: Where an earlier record may tell how long it takes.
        again: Whether it would be computed although it is stored.
        compiled: Programs that earlier experiments have paid for; added to.

    Returns:
        An estimate of each; what is stored costs nothing unless it is computed again.
    """
    paid = set() if compiled is None else compiled
    return [_estimate(label, e, store, again, paid) for label, e in experiments.items()]


def _estimate(
    label: str, experiment: Experiment, store: Store, again: bool, compiled: set[str]
) -> Estimate:
    found = answer(store, identify(experiment))
    parts = [_group(group, set() if found else compiled) for _, group in split(experiment)]
    whole = Estimate(
        label=label,
        kind="run",
        programs=len(parts),
        lanes=sum(lanes for lanes, _, _ in parts),
        steps=experiment.steps,
        time=experiment.time,
        rows=len(experiment.recorded_at()),
        bytes=sum(size for _, size, _ in parts),
        seconds=sum(seconds for _, _, seconds in parts),
    )
    if found and again:
        return replace(whole, seconds=store.manifest(found)["seconds"], basis=f"record {found}")
    return replace(whole, seconds=0.0, basis=f"stored as {found}") if found else whole


def _group(experiment: Experiment, compiled: set[str]) -> tuple[int, int, float]:
    """Lanes, recorded bytes and seconds of an experiment that shares one program."""
    grid = experiment.grid()
    lanes, rows = len(grid) * len(experiment.seeds), len(experiment.recorded_at())
    with precision(experiment.dtype):
        step, look, row_bytes, mapped = trace(grid[0], experiment.dtype)
    moves = experiment.steps or SOLVER_STEPS * rows
    seconds = moves * step.seconds(lanes, mapped) + rows * look.seconds(lanes, mapped)
    program = f"{bucket(lanes)} {experiment.dtype} {skeleton(grid[0])}"
    if program not in compiled:
        compiled.add(program)
        seconds += PROGRAM
    return lanes, lanes * rows * row_bytes, seconds
