"""Timing for the benchmarks: medians of repeats, printed with the ratio to a named peer."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable


def median_seconds(work: Callable[[], object], repeats: int = 5) -> float:
    """Median wall time of a call, after one call that does not count."""
    work()
    times = []
    for _ in range(repeats):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def line(what: str, ours: float, peer: str, theirs: float, wanted: str, unit: float = 1.0) -> None:
    """One line: our time, the peer's, how many times faster we are, and what was aimed at."""
    names = {1.0: "s", 1e-3: "ms", 1e-6: "us", 1e-9: "ns"}
    print(
        f"{what:52} {ours / unit:9.3g} {names[unit]:2} {peer}: {theirs / unit:9.3g} {names[unit]:2}"
        f"  ratio {theirs / ours:8.3g}x  (aim {wanted})"
    )
