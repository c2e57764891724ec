"""`--dry-run`: the plan of a run and what it would cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from dynascope.cli.talk import emit, table

if TYPE_CHECKING:
    from dynascope.engine import Experiment
    from dynascope.store import Store
    from dynascope.sweeps.estimate import Estimate

COLUMNS = ("experiment", "lanes", "length", "looks", "recorded", "cost", "known from")


def show_plan(
    experiments: Mapping[str, Experiment],
    store: Store,
    again: bool,
    as_json: bool,
    about: dict[str, Any],
) -> None:
    """Print every experiment with its size and cost, and the sum."""
    from dynascope.report.words import duration, size
    from dynascope.sweeps.estimate import plan

    found = plan(experiments, store, again)
    # Without experiments a study works its numbers out exactly, and how long is not known.
    seconds = sum(e.seconds for e in found) if found else None
    recorded = sum(e.bytes for e in found)
    if as_json:
        emit({**about, "experiments": [asdict(e) for e in found], "seconds": seconds,
              "bytes": recorded})  # fmt: skip
        return
    if seconds is None:
        print("no experiments: nothing is trained, so there is no estimate")
        return
    table(COLUMNS, [_row(e) for e in found])
    print(f"in total about {duration(seconds)} and {size(recorded)} before compression")
    print("lanes: grid points x seeds; looks: places at which probes measure")


def _row(e: Estimate) -> tuple[str, ...]:
    from dynascope.report.words import duration, number, size

    length = f"{number(e.steps)} steps" if e.steps is not None else f"time {number(e.time or 0)}"
    programs = f" ({e.programs} programs)" if e.programs > 1 else ""
    looks, cost = number(e.rows), duration(e.seconds) if e.seconds else "nothing"
    return e.label, number(e.lanes) + programs, length, looks, size(e.bytes), cost, e.basis
