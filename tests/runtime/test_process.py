"""Begin and end of a process that is ours alone."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

FLOW = """
import dynascope as ds
from dynascope import dynamics, models, probes, tasks
ds.simulate(
    tasks.IdentityMapping((1.0,), (0.1,)), models.TiedLinear(1), dynamics.GradientFlow(), time=1.0,
    probes=[probes.TestLoss()],
)
"""
BEGIN = "from dynascope.runtime import process; process.begin()"


def run(code, **env):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | env
    )


@pytest.mark.parametrize(("code", "told"), [(0, "now, bye"), (2, "now, bye"), (130, "now, ")])
def test_the_end_keeps_the_code_and_the_output(code, told):
    """After Ctrl-C nothing more is run: jaxlib may be in the middle of a compilation."""
    done = run(
        "import atexit; from dynascope.runtime import process; "
        "atexit.register(lambda: print('bye', end='')); print('now, ', end=''); "
        f"process.leave({code})"
    )
    assert (done.returncode, done.stdout, done.stderr) == (code, told, "")


def test_nobody_waits_for_a_thread():
    done = run(
        "import threading, time; threading.Thread(target=time.sleep, args=(60,)).start(); "
        "from dynascope.runtime import process; process.leave(0)"
    )
    assert done.returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("begin", ["", BEGIN])
def test_flows_are_kept_for_the_next_time(tmp_path, begin):
    """In the command's process and in the user's own: no check of a solver calls Python back."""
    assert run(f"{begin}\n{FLOW}", DYNASCOPE_HOME=str(tmp_path)).returncode == 0
    sizes = [f.stat().st_size for f in (tmp_path / "compiled").iterdir()]
    assert max(sizes, default=0) > 40_000  # the solver is large, the start is not


DROPPED = """
import gc, os, signal, sys, time
def callback(phase, info):
    if phase == "stop" and not asked:
        asked.append(1)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
asked = []
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
gc.callbacks.append(callback)
try:
    gc.collect()
    print("lost")
    time.sleep(20)
except KeyboardInterrupt:
    print("heard")
"""


def test_ctrl_c_inside_the_garbage_collector_is_heard():
    done = run(f"{BEGIN}\n{DROPPED}")
    assert (done.stdout, done.stderr) == ("lost\nheard\n", "")


def test_other_errors_that_python_drops_are_still_told():
    done = run(f"{BEGIN}\nclass A:\n    def __del__(self): 1 / 0\nA()")
    assert "ZeroDivisionError" in done.stderr
