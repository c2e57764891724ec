"""The campaign: faults on purpose against a results folder and the command, within a time limit.

    python tests/campaign --minutes 20 --seed 7
    python tests/campaign --only lines --case 7.123

Every kind gets an equal share of the time and a generator of its own for each case, so that a
case can be repeated alone: its number is printed with what went wrong. Exit code 1 if any case
was bad.
"""

from __future__ import annotations

import argparse
import importlib
import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

KINDS = ("lines", "files", "specs", "markup", "flips", "kills", "signals", "disks", "crowd")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python tests/campaign")
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--only", choices=KINDS, action="append")
    parser.add_argument("--case", help="repeat one case, as printed: SEED.NUMBER")
    given = parser.parse_args()
    seed = random.SystemRandom().randrange(10**6) if given.seed is None else given.seed
    only = int(given.case.split(".")[1]) if given.case else None
    seed = int(given.case.split(".")[0]) if given.case else seed
    kinds = given.only or KINDS
    print(f"campaign: seed {seed}, {given.minutes:g} minutes, {', '.join(kinds)}", flush=True)
    rows, end = [], time.monotonic() + 60 * given.minutes
    for place, kind in enumerate(kinds):
        share = (end - time.monotonic()) / (len(kinds) - place)
        rows.append((kind, *campaign(kind, seed, share, only)))
    print(f"\n{'kind':10s} {'tried':>7s} {'bad':>5s} {'seconds':>8s}")
    for kind, tried, bad, seconds in rows:
        print(f"{kind:10s} {tried:7d} {bad:5d} {seconds:8.0f}")
    print(f"{'all':10s} {sum(r[1] for r in rows):7d} {sum(r[2] for r in rows):5d}")
    return int(any(bad for _, _, bad, _ in rows))


def campaign(kind: str, seed: int, seconds: float, only: int | None) -> tuple[int, int, float]:
    """Cases of one kind until their time is over; how many, how many bad, how long."""
    module = importlib.import_module(f"campaign.{kind}")
    begun, tried, bad = time.monotonic(), 0, 0
    with (
        tempfile.TemporaryDirectory(prefix="campaign-") as folder,
        module.Field(Path(folder)) as field,
    ):
        numbers = [only] if only is not None else range(10**9)
        for number in numbers:
            # The first case is always tried; a slow one is not begun in the last seconds.
            if tried and time.monotonic() - begun > 0.9 * seconds:
                break
            wrong = field.attempt(random.Random(f"{kind} {seed} {number}"))
            tried += 1
            for line in wrong:
                bad += 1
                print(f"BAD {kind}: {line}\n    again: python tests/campaign --only {kind} "
                      f"--case {seed}.{number}", flush=True)  # fmt: skip
    return tried, bad, time.monotonic() - begun


if __name__ == "__main__":
    sys.exit(main())
