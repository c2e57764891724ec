"""What needs a process of its own: kill -9, several devices, light imports."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import dynascope as ds
from dynascope.engine.program import usable_devices
from dynascope.store import Store

PROGRAM = """
import sys
import dynascope as ds
from dynascope import dynamics, models, probes, tasks
from dynascope.engine import drive, execution
from dynascope.store import Store
from dynascope.runner import run_experiment
from dynascope.engine.experiment import make_experiment

drive.CALL_SECONDS = execution.APPEND_SECONDS = 0.01
experiment = make_experiment(
    tasks.IdentityMapping((1.0, 2.0), (0.05, 0.05)), models.TiedLinear(2, 0.01),
    dynamics.Momentum(0.001, 0.5), steps=600_000, time=None, seeds=3, dtype="float64",
    record=None, probes=[probes.TestLoss(), probes.InputJacobian()],
)
run_experiment(experiment, store=Store(sys.argv[1]), progress=False)
"""


EVERYTHING = """
import sys
from dataclasses import dataclass
import jax, jax.numpy as jnp
import dynascope as ds
from dynascope import dynamics, models, probes, record, tasks
from dynascope.engine import drive, execution
from dynascope.store import Store
from dynascope.runner import run_experiment
from dynascope.engine.experiment import make_experiment

@dataclass(frozen=True)
class Noisy(tasks.Task):
    input_size = 1
    output_size = 1

    def samples(self, key):
        return self.draw(key, 64, None)

    def draw(self, key, count, context):
        return 2 + jax.random.normal(key, (count, 1))

    def random_loss(self, predict, samples, key):
        noise = jax.random.normal(key, samples.shape)
        return jnp.mean((predict(jnp.ones((1, 1))) - samples - noise) ** 2) / 2

drive.CALL_SECONDS = execution.APPEND_SECONDS = 0.01
start = models.FunctionModel(lambda key: jnp.zeros((1, 1)), lambda w, x: x @ w)
rate = dynamics.Multiple("loss", 1e-3, every=7)
experiment = make_experiment(
    Noisy(), start, dynamics.SGD(rate, 16, "fresh"), steps=60_000, time=None, seeds=3,
    dtype="float32", record=record.Every(60), probes=[probes.Loss(), probes.OutputAt((1.0,))],
    stop=record.Stop("loss", below=2.0, after=41_001), keep=record.Keep(at=(0, 777), best="loss"),
)
run_experiment(experiment, store=Store(sys.argv[1]), progress=False)
"""


@pytest.mark.slow
@pytest.mark.parametrize("program", [PROGRAM, EVERYTHING], ids=["plain", "everything"])
def test_kill_and_the_same_command_equal_an_unbroken_run(tmp_path, program):
    """kill -9 at several moments; the last call finishes, bit for bit as if never killed.

    "everything": fresh batches, a random loss, a rate that follows the loss, lanes that stop, and
    kept parameters, all in one run.
    """
    script = tmp_path / "program.py"
    script.write_text(program)
    killed = 0
    for _ in range(2):
        process = subprocess.Popen([sys.executable, script, tmp_path / "killed"])
        records = tmp_path / "killed" / "records"
        seen = _appends(records)
        while process.poll() is None and _appends(records) < seen + 4:
            time.sleep(0.02)
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            killed += 1
        process.wait()
    assert killed == 2, "the run was over before it could be killed"
    for folder in ("killed", "whole"):
        subprocess.run([sys.executable, script, tmp_path / folder], check=True)
    one, other = (_only_run(tmp_path / folder) for folder in ("killed", "whole"))
    for name in other.variables:
        mine, theirs = one[name].values, other[name].values
        assert np.array_equal(mine, theirs, equal_nan=mine.dtype.kind == "f"), name
    assert one.attrs["outcome"] == "finished"
    if program is EVERYTHING:
        assert {"learning_rate", "stopped_step", "kept_parameters", "best_step"} <= {*one.variables}
        assert (one["stopped_step"] > 41_000).all()


def _appends(records) -> int:
    """How often a manifest was replaced: its modification time stands for a count of changes."""
    global _last, _count
    stamps = tuple(sorted(p.stat().st_mtime_ns for p in records.glob("*/manifest.json")))
    if stamps != _last:
        _last, _count = stamps, _count + 1
    return _count


_last: tuple = ()
_count = 0


def _only_run(home):
    store = Store(home)
    (entry,) = store.runs()
    return store.load(entry.id)


@pytest.mark.slow
def test_two_devices_give_the_numbers_of_one():
    code = """
import jax, numpy as np, sys
import dynascope as ds
from dynascope import dynamics, models, probes, tasks
from dynascope.engine.program import usable_devices
assert usable_devices() == 2
for width in (3, 20):
    run = ds.simulate(tasks.IdentityMapping((1.0, 2.0), (0.05, 0.05), dimension=width),
        models.TiedLinear(width, 0.05), dynamics.GradientDescent(0.02), steps=100, seeds=5,
        probes=[probes.TestLoss()], dtype="float64", progress=False)
    np.save(f"{sys.argv[1]}/{width}.npy", run["test_loss"].values)
"""
    import tempfile

    from dynascope import dynamics, models, probes, tasks

    with tempfile.TemporaryDirectory() as folder:
        # Beside the flags that are set: both processes must use the same instructions.
        given = os.environ.get("XLA_FLAGS", "")
        flags = {"XLA_FLAGS": f"{given} --xla_force_host_platform_device_count=2", "NPROC": "4"}
        subprocess.run([sys.executable, "-c", code, folder], check=True, env=os.environ | flags)
        for width in (3, 20):
            run = ds.simulate(
                tasks.IdentityMapping((1.0, 2.0), (0.05, 0.05), dimension=width),
                models.TiedLinear(width, 0.05), dynamics.GradientDescent(0.02), steps=100,
                seeds=5, probes=[probes.TestLoss()], dtype="float64", progress=False,
            )  # fmt: skip
            assert np.allclose(np.load(f"{folder}/{width}.npy"), run["test_loss"], rtol=1e-12)


@pytest.mark.slow
def test_the_command_does_not_wait_for_ever_where_every_core_is_a_device(tmp_path):
    """Eigenvalues beside sums over 10,000 points hung on two cores, without threads to spare."""
    environment = {k: v for k, v in os.environ.items() if k not in ("XLA_FLAGS", "NPROC")}
    subprocess.run(
        [sys.executable, "-m", "dynascope", "run", "neuron-balance", "--scale", "smoke"],
        check=True, capture_output=True, timeout=180,
        env=environment | {"DYNASCOPE_HOME": str(tmp_path)},
    )  # fmt: skip


@pytest.mark.parametrize(("threads", "devices"), [("3", 2), ("2", 1)])
def test_devices_are_used_where_threads_are_to_spare(monkeypatch, threads, devices):
    monkeypatch.setenv("NPROC", threads)
    monkeypatch.setattr("jax.local_device_count", lambda: 2)
    assert usable_devices() == devices


def test_importing_the_package_imports_no_science():
    code = (
        "import sys, dynascope; print([m for m in ('jax', 'numpy', 'xarray') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
