"""Ctrl-C at any line of the bookkeeping: the resumed run is the unbroken one."""

from __future__ import annotations

import sys

import pytest

import dynascope as ds
from dynascope import dynamics, models, probes, record, tasks
from dynascope.core.errors import Interrupted
from dynascope.engine import drive, execution
from dynascope.engine.record import Keep

from .memory import Memory, same

TAKE = execution._Journal.take.__code__
LINES = sorted({n for *_, n in TAKE.co_lines() if n and n > TAKE.co_firstlineno})


def run(**options):
    return ds.simulate(
        tasks.IdentityMapping((1.0, 2.0), (0.05, 0.05)), models.TiedLinear(2, 0.1),
        dynamics.GradientDescent(0.02), steps=30, seeds=2, record=record.Every(3),
        probes=[probes.Loss()], keep=Keep(at=(6, 18)), progress=False, **options,
    )  # fmt: skip


def interrupting(line, call):
    """A trace function that stands for Ctrl-C before a line, in a certain call of `take`."""
    calls = 0

    def inside(frame, event, _):
        if event == "line" and frame.f_lineno == line and calls == call:
            raise KeyboardInterrupt
        return inside

    def trace(frame, *_):
        nonlocal calls
        if frame.f_code is not TAKE:
            return None
        calls += 1
        return inside

    return trace


@pytest.mark.parametrize("line", LINES)
def test_rows_and_checkpoint_belong_together_wherever_ctrl_c_comes(monkeypatch, line):
    whole = run()
    monkeypatch.setattr(drive, "CALL_SECONDS", 0.0)  # one step a call
    sink, before = Memory(), sys.gettrace()
    sys.settrace(interrupting(line, call=18))  # rows and parameters wait by then
    try:
        run(sink=sink)
    except Interrupted:
        pass
    finally:
        sys.settrace(before)
    same(run(sink=sink), whole)
