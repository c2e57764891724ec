"""What a block of a sweep costs on a Ray cluster of this machine; the peer is the sweep here.

The experiments are tiny, so that nearly all of the time is what a block costs whatever it computes:
sending it, starting it, compiling its program or finding it in the cache, and bringing back rows.
"""

import importlib.util
import os
import pickle
import tempfile
import time

from dynascope import dynamics, models, probes, record, tasks
from dynascope.runner import sweep
from dynascope.runner.cluster import run_everywhere, workers

WIDTHS = range(2, 10)  # programs of their own


def swept(executor: str, seeds: int) -> float:
    """Seconds of the sweep; each width is a program, and on Ray one block for each worker."""
    begun = time.perf_counter()
    sweep(
        tasks.IdentityMapping((1.0, 2.0), (0.1, 0.1)), models.TiedLinear(2, 0.3),
        dynamics.GradientDescent(0.001), over={"model.width": list(WIDTHS)}, steps=1000,
        seeds=seeds, probes=[probes.Loss()], record=record.Evenly(20), executor=executor,
        progress=False,
    )  # fmt: skip
    return time.perf_counter() - begun


def block_bytes() -> tuple[int, int]:
    """What is sent for a block and what comes back."""
    from dynascope.engine import Experiment

    experiment = Experiment(
        tasks.IdentityMapping((1.0, 2.0), (0.1, 0.1)), models.TiedLinear(2, 0.3),
        dynamics.GradientDescent(0.001), (probes.Loss(),), 1000, record=record.Evenly(20),
        seeds=(0, 1),
    )  # fmt: skip
    [(_, found)] = run_everywhere([experiment], "block", progress=False)
    return len(pickle.dumps(experiment)), len(pickle.dumps(found))


def main() -> None:
    if importlib.util.find_spec("ray") is None:
        print("a block on Ray: not measured, the extra `ray` is not installed")
        return
    os.environ.setdefault("RAY_worker_niceness", "0")  # as the process that it is compared with
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DYNASCOPE_HOME"] = folder
        begun = time.perf_counter()
        count = workers()
        blocks = count * len(WIDTHS)
        print(f"a cluster of {count} workers here starts in {time.perf_counter() - begun:.1f} s")
        print("one block: {:,} bytes sent, {:,} bytes back".format(*block_bytes()))
        for name in ("nothing compiled", "again", "again"):
            far = swept("ray", 2 * count)
            print(f"{blocks} blocks, {name:16} {far:6.2f} s, {far / blocks:6.3f} s each")
        os.environ["DYNASCOPE_HOME"] = f"{folder}/here"
        for name in ("nothing compiled", "again"):
            here = swept("here", 2 * count)
            print(f"the same here, {name:16} {here:6.2f} s, {here / blocks:6.3f} s each")


if __name__ == "__main__":
    main()
