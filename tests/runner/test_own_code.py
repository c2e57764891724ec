"""The store and code of the user's own: what is answered is what the code would give."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys

import numpy as np
import pytest

import dynascope as ds
from dynascope import dynamics, models, probes
from dynascope.core.plain import from_plain
from dynascope.engine.experiment import make_experiment
from dynascope.runner import run_experiment
from dynascope.runner.estimate import estimate
from dynascope.runner.remake import remake
from dynascope.store import Store

MODULE = """
from dataclasses import dataclass
import jax.numpy as jnp
from dynascope import tasks
import helper_of_a_process

@dataclass(frozen=True)
class Line(tasks.Task):
    slope: float = 2.0
    input_size = output_size = 1
    def samples(self, key):
        return jnp.ones((1, 1)), jnp.full((1, 1), self.slope)
    def loss(self, predict, samples):
        return helper_of_a_process.loss(predict(samples[0]) - samples[1])
"""
HELPER = "import jax.numpy as jnp\ndef loss(error): return {}\n"
SQUARE, ABSOLUTE = "jnp.mean(error ** 2)", "1000 * jnp.mean(jnp.abs(error))"
PROGRAM = """
import sys
sys.path[:0] = [sys.argv[1], sys.argv[2]]
from test_own_code import own_sweep
print(float(own_sweep(sys.argv[2])["loss"][0, 0, 0]))
"""
OVER = {"task.slope": [2.0, 3.0]}


def own_sweep(folder, over=None):
    from task_of_a_process import Line

    return ds.sweep(
        Line(), models.Linear(0.0), dynamics.GradientDescent(0.1), over=over or OVER, steps=2,
        probes=[probes.Loss()], dtype="float64", store=Store(f"{folder}/home"), progress=False,
    )  # fmt: skip


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Writes the user's two modules, and makes sure that they are imported as they are."""
    names = ("task_of_a_process", "helper_of_a_process")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # two versions within one second

    def write(loss, module=MODULE):
        for name, text in zip(names, (module, HELPER.format(loss)), strict=True):
            (tmp_path / f"{name}.py").write_text(text)
            sys.modules.pop(name, None)
        importlib.invalidate_caches()

    yield write
    for name in names:
        sys.modules.pop(name, None)


def refuse(*args, **kwargs):
    raise AssertionError("computed, though it is stored")


def test_a_second_process_is_answered_until_the_code_changes(tmp_path, write, monkeypatch):
    write(SQUARE)
    here = str(tmp_path.joinpath(__file__).parent)
    words = [sys.executable, "-B", "-c", PROGRAM, here, tmp_path]
    first = subprocess.run(words, capture_output=True, text=True, check=True)
    assert float(first.stdout) == pytest.approx(4.0)  # 0 against a target of 2
    with monkeypatch.context() as patch:
        patch.setattr(sys.modules["dynascope.runner.sweep"], "execute", refuse)
        assert float(own_sweep(tmp_path)["loss"][0, 0, 0]) == pytest.approx(4.0)
    write(ABSOLUTE)
    assert float(own_sweep(tmp_path)["loss"][0, 0, 0]) == pytest.approx(2000.0)
    assert len(Store(tmp_path / "home").runs()) == 2


def test_a_record_of_own_code_is_restored_with_the_class_as_it_is(tmp_path, write):
    write(SQUARE)
    run = own_sweep(tmp_path)
    store = Store(tmp_path / "home")
    [entry] = store.runs()
    manifest = store.manifest(entry.id)
    assert from_plain(manifest["spec"]).over == (("task.slope", (2.0, 3.0)),)
    assert "Line is code of your own; run that again" in remake(store, entry.id, manifest)
    write(ABSOLUTE)
    importlib.import_module("task_of_a_process")
    restored = from_plain(manifest["spec"])
    again = run_experiment(restored, store=store, progress=False)
    assert float(again["loss"][0, 0, 0]) == pytest.approx(2000.0)
    assert again.attrs["fingerprint"] != run.attrs["fingerprint"] == manifest["fingerprint"]


UNKNOWN = MODULE.replace("@data", "FACTORS = (c for c in [OLD] * 1000)\n\n@data").replace(
    "return helper", "return next(FACTORS) * helper"
)


@pytest.mark.parametrize("over", [OVER, {"task.slope": [2.0], "task.copies": [1, 2]}])
def test_unknown_code_is_said_and_never_answered_from_the_store(tmp_path, write, over):
    """One program, and two that are compiled apart."""
    module = UNKNOWN.replace("slope: float = 2.0", "slope: float = 2.0\n    copies: int = 1")
    store, found = Store(tmp_path / "home"), []
    for factor in ("1.0", "1.0", "5.0"):
        write(SQUARE, module.replace("OLD", factor))
        found.append(own_sweep(tmp_path, over))
    values = [float(np.ravel(run["loss"])[0]) for run in found]
    assert np.allclose(values, [4.0, 4.0, 20.0])
    entries = store.runs()
    assert len({run.attrs["fingerprint"] for run in found}) == len(entries) == 3
    for entry in entries:
        unknown = json.loads(store.load(entry.id).attrs["code_unknown"])
        assert unknown == ["Line.loss.FACTORS: generator"]
    task = from_plain(store.manifest(entries[0].id)["spec"]).task
    experiment = make_experiment(
        task, models.Linear(0.0), dynamics.GradientDescent(0.1), steps=2, time=None,
        probes=[probes.Loss()], record=None, seeds=1, dtype="float64", over=over,
    )  # fmt: skip
    [found] = estimate({"again": experiment}, store)
    assert not found.basis.startswith("stored")


@pytest.mark.parametrize("module", [MODULE, UNKNOWN], ids=["known", "unknown"])
def test_a_killed_run_is_resumed_if_its_code_is_known(tmp_path, write, monkeypatch, module):
    """Where it is unknown, the first rows may be of other code."""
    write(SQUARE, module.replace("OLD", "1.0"))
    sink = sys.modules["dynascope.store.sink"].RecordSink
    append, resume, resumed = sink.append, sink.resume, []

    def killed(self, part, checkpoint):
        append(self, part, checkpoint)
        self._lock.release()
        raise RuntimeError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(sys.modules["dynascope.engine.execution"], "APPEND_SECONDS", -1.0)
        patch.setattr(sink, "append", killed)
        with pytest.raises(RuntimeError, match="killed"):
            own_sweep(tmp_path)
    monkeypatch.setattr(sink, "resume", lambda self: resumed.append(resume(self)) or resumed[-1])
    own_sweep(tmp_path)
    assert [saved is not None for saved in resumed] == [module == MODULE]
