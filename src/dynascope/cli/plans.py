"""`--dry-run`: what would be run, and what it would cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from dynascope.cli.talk import emit, table

if TYPE_CHECKING:
    from dynascope.runner.estimate import Estimate

COLUMNS = ("node", "kind", "lanes", "length", "measured", "recorded", "cost", "known from")


def show_estimates(found: Sequence[Estimate], as_json: bool, about: dict[str, Any]) -> None:
    """Print every run and computation with its size and cost, and the sum."""
    from dynascope.report.words import duration, size

    known = [e.seconds for e in found if e.seconds is not None]
    seconds, recorded, unknown = sum(known), sum(e.bytes for e in found), len(found) - len(known)
    if as_json:
        emit({**about, "nodes": [asdict(e) for e in found], "seconds": seconds,
              "unknown": unknown, "bytes": recorded})  # fmt: skip
        return
    table(COLUMNS, [_row(e) for e in found])
    total = f"about {duration(seconds)}"
    if unknown:
        total = f"at least {duration(seconds)} ({unknown} nodes unknown)"
    print(f"in total {total} and {size(recorded)} before compression")
    print("lanes: grid points x seeds; measured: how often the probes measure")


def _row(e: Estimate) -> tuple[str, ...]:
    from dynascope.report.words import duration, number, size

    stored = e.basis.startswith("stored")
    cost = "nothing" if stored else "?" if e.seconds is None else duration(e.seconds)
    if not e.lanes:
        return e.label, e.kind, "", "", "", "", cost, e.basis
    length = f"{number(e.steps)} steps" if e.steps is not None else f"time {number(e.time or 0)}"
    programs = f" ({e.programs} programs)" if e.programs > 1 else ""
    lanes, measured = number(e.lanes) + programs, number(e.rows)
    return e.label, e.kind, lanes, length, measured, size(e.bytes), cost, e.basis
