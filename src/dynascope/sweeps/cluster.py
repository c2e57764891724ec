"""Experiments on a Ray cluster, one block of seeds of one compiled group per worker.

Needs the extra `ray`. `RAY_ADDRESS` names a running cluster; without it Ray starts one on
this machine.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import xarray as xr

from dynascope.core.errors import BadInput
from dynascope.core.progress import Progress
from dynascope.engine import Experiment, execute


def blocks(experiment: Experiment, count: int) -> list[Experiment]:
    """The experiment with its seeds dealt out to at most `count` blocks of nearly equal size.

    A seed's numbers do not depend on the other seeds, so the blocks together are the whole.
    """
    seeds = experiment.seeds
    count = min(count, len(seeds))
    edges = [round(i * len(seeds) / count) for i in range(count + 1)]
    return [replace(experiment, seeds=seeds[a:b]) for a, b in itertools.pairwise(edges)]


def workers() -> int:
    """CPUs of the cluster, after connecting to it or starting one here."""
    ray = _ray()
    if not ray.is_initialized():
        ray.init(log_to_driver=False, include_dashboard=False, logging_level="error")
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def run_everywhere(
    experiments: list[Experiment], label: str, progress: bool
) -> Iterator[tuple[int, xr.Dataset]]:
    """Execute experiments on the cluster; yields (position, dataset) as they finish."""
    ray = _ray()

    @ray.remote(num_cpus=1)
    def work(experiment: Experiment) -> xr.Dataset:
        return execute(experiment, progress=False)

    waiting = {work.remote(e): i for i, e in enumerate(experiments)}
    with Progress(f"{label} on Ray", len(experiments), progress) as bar:
        while waiting:
            # A short wait, so that the bar moves and Ctrl-C is heard.
            done, _ = ray.wait(list(waiting), timeout=0.5)
            for reference in done:
                yield waiting.pop(reference), ray.get(reference)
            bar.update(len(experiments) - len(waiting))


def _ray() -> Any:  # an extra, and without types
    try:
        import ray
    except ImportError:
        raise BadInput(
            "executor 'ray' needs Ray, which is not installed: pip install 'dynascope[ray]'"
        ) from None
    return ray
