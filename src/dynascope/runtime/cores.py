"""How many cores there are for this process, and devices on them for a process that is ours."""

from __future__ import annotations

import os
import sys

FLAG = "--xla_force_host_platform_device_count"


def cores() -> int:
    """Cores that this process may use, at least one."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def use_all_cores() -> None:
    """Ask XLA for host devices, unless jax is loaded or somebody else has asked.

    They are as many as the largest power of two of cores (`power_of_two`). XLA runs a loop over
    small arrays on one core however many there are; the engine gives every device its share of
    the lanes. Nothing but an environment variable read when jax starts can say so, which is why
    only the command does it, never `import dynascope`.
    """
    flags = os.environ.get("XLA_FLAGS", "")
    if "jax" not in sys.modules and FLAG not in flags:
        devices = power_of_two(cores())
        os.environ["XLA_FLAGS"] = f"{flags} {FLAG}={devices}".strip()


def spare_threads() -> None:
    """Ask XLA for two threads a core, unless its threads are there or somebody else has asked.

    A batch of matrices that jaxlib decomposes waits for threads of the pool that it is on
    (`numerics.decompositions`): where a probe of the user's own does so, more threads are a margin.
    See also `dynascope.engine.program.usable_devices`. NPROC is what XLA takes their number from
    when jax first computes.
    """
    bridge = sys.modules.get("jax._src.xla_bridge")
    if bridge is None or not bridge.backends_are_initialized():
        os.environ.setdefault("NPROC", str(2 * cores()))


def power_of_two(count: int) -> int:
    """The largest power of two that is not above `count`.

    Lanes are computed in multiples of 8 from 16 on, of 32 above 64 (`engine.lanes`): a power of
    two of devices, up to these numbers, gets equal shares of them and none stands idle.

    Example:
        >>> [power_of_two(n) for n in (1, 2, 6, 8)]
        [1, 2, 4, 8]
    """
    return 1 << (count.bit_length() - 1)
