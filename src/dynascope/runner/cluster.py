"""Experiments on a Ray cluster, one block of seeds of one compiled group per worker.

Needs the extra `ray`. `RAY_ADDRESS` names a running cluster; without it Ray starts one on
this machine.
"""

from __future__ import annotations

import itertools
import os
import socket
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import xarray as xr

from dynascope.core.errors import BadInput, ClusterError, DynascopeError
from dynascope.engine import Experiment, execute
from dynascope.runtime.home import home
from dynascope.runtime.progress import Progress

RETRIES = 3  # of a block whose worker or node is lost
TITLE = "dynascope block"  # what `ray list tasks` and `ps` show
ANSWERS_WITHIN = 10.0  # seconds; Ray itself would try for minutes


def blocks(experiment: Experiment, count: int) -> list[Experiment]:
    """The experiment with its seeds dealt out to at most `count` blocks of nearly equal size.

    A seed's numbers do not depend on the other seeds but for rounding, so the blocks together are
    the whole. A policy that looks at values keeps rows of all lanes, so its seeds stay together.
    """
    seeds = experiment.seeds
    count = 1 if experiment.record.watches else min(count, len(seeds))
    edges = [round(i * len(seeds) / count) for i in range(count + 1)]
    return [replace(experiment, seeds=seeds[a:b]) for a, b in itertools.pairwise(edges)]


def workers() -> int:
    """CPUs of the cluster, after connecting to it or starting one here."""
    ray = _ray()
    if not ray.is_initialized():
        address = os.environ.get("RAY_ADDRESS", "")
        try:
            _knock(address)
            ray.init(log_to_driver=False, include_dashboard=False, logging_level="error")
        except (OSError, ValueError, RuntimeError) as error:
            words = " ".join(str(error).split())[:200]
            at = f"RAY_ADDRESS={address} cannot be reached" if address else "Ray does not start"
            raise ClusterError(f"{at} ({words}); `ray status` tells whether it runs") from error
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def run_everywhere(
    experiments: list[Experiment], label: str, progress: bool, before: int = 0
) -> Iterator[tuple[int, xr.Dataset]]:
    """Execute experiments on the cluster; yields (position, dataset) as they finish.

    `before` is how many others were stored already: the bar counts them as done.
    """
    ray = _ray()

    # A worker or node that is lost is replaced: the block is computed again, with the same
    # numbers. An error of the block itself, such as too little memory, is told at once.
    @ray.remote(num_cpus=1, max_retries=RETRIES, retry_exceptions=False)
    def work(experiment: Experiment, cache: str) -> xr.Dataset | DynascopeError:
        os.environ.setdefault("DYNASCOPE_HOME", cache)
        try:
            return execute(experiment, progress=False)
        except DynascopeError as error:  # as a value: Ray would wrap it in a traceback
            return type(error)(f"on {socket.gethostname()}: {error}")

    cache = str(home())  # workers on this disk compile into the same folder
    named = work.options(name=TITLE)
    waiting = {named.remote(e, cache): i for i, e in enumerate(experiments)}
    total = before + len(experiments)
    with Progress(f"{label} on Ray", total, progress) as bar:
        while waiting:
            # A short wait, so that the bar moves and Ctrl-C is heard.
            done, _ = ray.wait(list(waiting), timeout=0.5)
            for reference in done:
                yield waiting.pop(reference), _result(ray, reference)
            bar.update(total - len(waiting))


def _result(ray: Any, reference: Any) -> xr.Dataset:
    """What a block came to, or in one line why there is nothing."""
    try:
        found = ray.get(reference)
    except (ray.exceptions.RayError, ConnectionError) as error:
        words = " ".join(str(error).split())[:200]
        raise ClusterError(
            f"a block was lost {RETRIES + 1} times ({type(error).__name__}: {words}); "
            "finished blocks are stored, the same command goes on with the others"
        ) from error
    if isinstance(found, DynascopeError):
        raise found
    return found


def _knock(address: str) -> None:
    """Raise `OSError` at once where nobody listens."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon and port.isdigit():
        socket.create_connection((host, int(port)), ANSWERS_WITHIN).close()


def _ray() -> Any:  # an extra, and without types
    try:
        import ray
    except ImportError:
        raise BadInput(
            "executor 'ray' needs Ray, which is not installed: pip install 'dynascope[ray]'"
        ) from None
    return ray
