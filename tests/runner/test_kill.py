"""SIGKILL inside of an item of a computation: the same command goes on after the last one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

PROGRAM = """
import json, os, signal, sys
from dataclasses import dataclass
from dynascope.core.charts import Chart, Line, Panel
from dynascope.core.sources import derived
from dynascope.core.spec import Spec
from dynascope.runner import run
from dynascope.store import Store
from dynascope.studies import Study, at_least, case, exact

@dataclass(frozen=True)
class Settings(Spec, tag="studies.killed"):
    items: tuple[int, ...] = (1, 2, 3, 4)

study = Study("killed", title="Killed", sources=(derived(),), settings=Settings,
              scales={"smoke": {}, "laptop": {}, "paper": {}})

def work(item):
    print(item, file=sys.stderr)
    if os.environ.get("DEADLY") == str(item):
        os.kill(os.getpid(), signal.SIGKILL)
    return item**2

@study.compute(each=lambda s: s.items)
def squares(s: Settings, item: int) -> float:
    return float(work(item))

@study.finding(squares)
def total(s: Settings, squares: dict) -> float:
    return sum(squares.values())

study.claim("large", "The sum is at least 30.", derived(), exact, at_least(30, "ours"), on=total,
            fails_on=case("none", 0.0), holds_on=case("a hundred", 100.0))

@study.chart(total, headline=True)
def drawn(s: Settings, total: float) -> Chart:
    return Chart("drawn", "Sum", "A line.", (Panel((Line([0, 1], [0, total]),)),))

again = sys.argv[2] == "again"
outcome = run("killed", "smoke", store=Store(sys.argv[1]), progress=False, again=again)
print(json.dumps([[c.verdict, c.measured.value] for c in outcome.claims]))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_killed_computation_goes_on_after_its_last_finished_item(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)

    def call(deadly: str, how: str) -> tuple[int, str, list[str]]:
        done = subprocess.run(
            [sys.executable, script, tmp_path / "home", how],
            capture_output=True, text=True, env={**os.environ, "DEADLY": deadly},
        )  # fmt: skip
        return done.returncode, done.stdout, done.stderr.split()

    for how in ("first", "again"):  # computed again, it goes on as well and agrees
        assert call("3", how) == (-signal.SIGKILL, "", ["1", "2", "3"])
        code, out, items = call("", how)
        assert (code, json.loads(out), items) == (0, [["holds", 30.0]], ["3", "4"])
