"""Two and four processes that write, list and forget in one store at once."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from pathlib import Path

from campaign.stored import TESTS, environment
from dynascope.store import Store
from store.samples import part

PROGRAM = """
import random, sys
sys.path.insert(0, sys.argv[1])
from store.samples import SPEC, part
from dynascope.core.errors import StoreError
from dynascope.store import Store
draw, store = random.Random(sys.argv[2]), Store()
for turn in range(6):
    print_ = draw.choice("0123") * 16
    try:
        sink = store.sink(SPEC, print_, label="swing-by x")
        saved = sink.resume()
        for n in range(saved.part.sizes["step"] if saved else 0, 4, 2):
            sink.append(part(n, n + 2), b"x")
        sink.finish({"outcome": "finished", "versions": {}})
    except StoreError as error:
        assert "is being written by" in str(error), error
    found = [e.damaged for e in store.runs() if e.damaged]
    assert not found, found
"""


class Field:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def attempt(self, draw: random.Random) -> list[str]:
        home = self.folder / "case"
        shutil.rmtree(home, ignore_errors=True)
        count = draw.choice((2, 4))
        crowd = [
            subprocess.Popen(
                [sys.executable, "-c", PROGRAM, str(TESTS), str(draw.random())],
                env=environment(home), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            )
            for _ in range(count)
        ]  # fmt: skip
        bad = []
        for each in crowd:
            _, told = each.communicate(timeout=300)
            if each.returncode:
                bad.append(f"one of {count}: {told.strip().splitlines()[-1][:300]}")
        for entry in Store(home).runs():
            whole = entry.damaged is None and entry.outcome == "finished"
            if whole and not Store(home).load(entry.id).drop_attrs().equals(part(0, 4)):
                bad.append(f"{entry.id} is another run")
        return bad
