"""Print recall and false positives of every rule of the diagnosis."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dynascope.numerics.intervals import of_share
from dynascope.watching.diagnosis import diagnose
from dynascope.watching.planted.families import FAMILIES, TORCH, Family, Records, Source

FIRST_SEED, COUNT = 20_000, 100  # thresholds were chosen on seeds below 1000
LOOPS = 0.25  # share of the runs that are loops of torch, which take the most time


def drawn(sources: Sequence[Source], count: int, first_seed: int) -> Records:
    """Runs of each source; seeds are tried in turn where a source leaves some out."""
    found: Records = []
    loops = round(LOOPS * count) if len(sources) > 1 else 0
    for source, wanted in zip(sources, (count - loops, loops)):
        own: Records = []
        seed = first_seed
        while len(own) < wanted:
            own += source(np.arange(seed, seed + wanted))
            seed += wanted
        found += own[:wanted]
    return found


def told(kind: str, records: Records) -> int:
    """On how many of the records the diagnosis says so."""
    return sum(kind in [finding.kind for finding in diagnose(record)] for record in records)


def row(family: Family, count: int = COUNT, first_seed: int = FIRST_SEED) -> str:
    """A line of the table."""
    cells = []
    for sources in (family.have, family.have_not):
        records = drawn(sources, count, first_seed)
        yes, n = told(family.kind, records), len(records)
        low, high = of_share(yes, n) or (0.0, 1.0)
        cells.append(f"{yes} of {n} ({low:.0%} to {high:.0%})")
    return f"| {family.kind} | {cells[0]} | {cells[1]} | {family.words} |"


def main() -> None:
    """The table."""
    print("| diagnosis | of those that have it | of those that do not | which; which not |")
    print("|---|---|---|---|")
    for family in FAMILIES:
        print(row(family), flush=True)
    if not TORCH:
        print("\nWithout torch: runs of our own systems alone.")


if __name__ == "__main__":
    main()
