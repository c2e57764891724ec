"""Compiling ahead: what is compiled is what the run calls, and nothing else depends on it."""

import threading
from dataclasses import replace

import jax
import numpy as np
import pytest

from dynascope.dynamics import GradientDescent
from dynascope.engine import Experiment, compiling_ahead, execute
from dynascope.engine import compilation as module
from dynascope.engine.loop_inputs import loop_inputs
from dynascope.models import TiedLinear
from dynascope.probes import TestLoss
from dynascope.tasks import IdentityMapping


def experiment(width=2, seeds=(0, 1), steps=20):
    task = IdentityMapping((1.0, 2.0), (0.05, 0.05))
    return Experiment(
        task, TiedLinear(width, 0.1), GradientDescent(0.01), (TestLoss(),), steps=steps,
        seeds=seeds,
    )  # fmt: skip


def compilations():
    """Names of programs that were compiled, as jax reports them from now on."""
    seen = []
    jax.monitoring.register_event_duration_secs_listener(
        lambda name, *_, **__: seen.append(name) if "backend_compile" in name else None
    )
    return seen


def test_a_run_finds_its_program_compiled():
    ours = experiment(width=11)  # no other test's
    with compiling_ahead([ours]):
        future = module._AWAITED[loop_inputs(ours).signature]
        future.result()
        seen = compilations()
        execute(ours, progress=False)
    assert not seen


def test_the_numbers_are_the_same():
    ours = experiment(width=5)
    with compiling_ahead([ours]):
        ahead = execute(ours, progress=False)
    alone = execute(ours, progress=False)
    assert np.array_equal(ahead["test_loss"], alone["test_loss"])


def test_one_signature_for_what_one_program_serves():
    ours = experiment()
    same = [
        replace(ours, seeds=(3, 4)),
        replace(ours, dynamics=GradientDescent(0.02)),
        replace(ours, steps=25),  # 26 places: both are compiled for 32
    ]
    other = [experiment(width=3), experiment(seeds=(0, 1, 2)), experiment(steps=70),
             replace(ours, dtype="float64")]  # fmt: skip
    assert {loop_inputs(e).signature for e in same} == {loop_inputs(ours).signature}
    assert loop_inputs(ours).signature not in {loop_inputs(e).signature for e in other}


def test_what_cannot_be_compiled_is_left_to_its_own_turn(monkeypatch):
    def refuse(_):
        raise MemoryError

    ours = experiment(width=7)
    monkeypatch.setattr(module, "compile_only", refuse)
    with compiling_ahead([ours]):
        assert execute(ours, progress=False).sizes["seed"] == 2


def test_nothing_is_left_behind_when_the_body_fails(monkeypatch):
    release = threading.Event()
    monkeypatch.setattr(module, "compile_only", lambda _: release.wait(10))
    with pytest.raises(KeyboardInterrupt), compiling_ahead([experiment(w) for w in (2, 3, 4, 5)]):
        raise KeyboardInterrupt  # at once, although the threads are not done
    assert not module._AWAITED
    release.set()
