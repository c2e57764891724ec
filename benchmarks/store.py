"""Ten thousand records: listing, finding and opening, with the index and without it.

The peer is the same listing without the index: every manifest read.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from dynascope.store import Store
from dynascope.store.manifest import NAME

RECORDS = 10_000


def fill(home: Path) -> None:
    """Records that differ in their fingerprints: one real computation, copied."""
    store = Store(home)
    sink = store.computation({"a": 1}, "0" * 16, label="swing-by: x")
    sink.append(b"", 0.0)
    first = store.records / sink.finish({})
    plain = json.loads((first / NAME).read_text())
    [part] = plain["parts"]
    for number in range(1, RECORDS):
        fingerprint = f"{number * 2654435761 % 2**32:08x}" * 2
        folder = store.records / fingerprint[:8]
        folder.mkdir(exist_ok=True)
        shutil.copy(first / part["name"], folder)
        (folder / NAME).write_text(json.dumps({**plain, "fingerprint": fingerprint}))


def timed(what: str, call) -> float:
    """Seconds that it takes; beside other work, those of the processor are what it needs."""
    begun, worked = time.perf_counter(), processor_seconds()
    call()
    took, worked = time.perf_counter() - begun, processor_seconds() - worked
    print(f"{what:45s} {took:7.3f} s  processor {worked:7.3f} s")
    return took


def processor_seconds() -> float:
    """Of this process and those that it has started and that have ended."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        fill(Path(folder))
        store = Store(folder)
        print(f"{RECORDS:,} records")
        without = timed("listing, no index yet (reads every manifest)", store.runs)
        with_ = timed("listing, with the index", store.runs)
        print(f"{'ratio':45s} {without / with_:7.1f}")
        some = store.runs()[RECORDS // 2]
        timed("finding a fingerprint", lambda: store.find(some.fingerprint))
        timed("opening by the beginning of an id", lambda: store.manifest(some.id[:8]))
        timed("opening the last", lambda: store.manifest("last"))
        for words in (("runs",), ("runs", "--json"), ("show", some.id)):
            command = [sys.executable, "-m", "dynascope", *words]
            env = {**os.environ, "DYNASCOPE_HOME": folder}
            timed(
                f"dynascope {' '.join(words)}, a process of its own",
                lambda c=command, e=env: subprocess.run(c, env=e, capture_output=True, check=True),
            )


if __name__ == "__main__":
    main()
