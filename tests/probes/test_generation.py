"""What a diffusion model generates along a run, and the parts of its bound."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import jax
import numpy as np
import pytest

import dynascope as ds
from dynascope import dynamics, models, probes, record, tasks
from dynascope.core.errors import BadInput
from dynascope.core.randomness import key_for
from dynascope.store import Store

TASK = tasks.VectorDiffusion((1.0, 2.0), samples_per_cluster=8)


def short_run(**options):
    return ds.simulate(
        TASK, models.ConditionalMLP((16,)), dynamics.AdamW(1e-2, batch_size=12, order="fresh"),
        steps=30, probes=[probes.Generated(4, 5), probes.BoundParts(), probes.Loss()],
        record=record.Every(10), seeds=2, progress=False, keep=record.Keep(at=(0,)), **options,
    )  # fmt: skip


@pytest.fixture(scope="module")
def run():
    return short_run()


def test_parts_sum_to_the_loss(run):
    assert run["bound_part"].values.tolist() == ["diffusion", "prior", "reconstruction"]
    assert np.allclose(run["bound_parts"].sum("bound_part"), run["loss"], rtol=1e-5)


def test_learning_lowers_the_part_that_the_network_has(run):
    diffusion = run["bound_parts"].sel(bound_part="diffusion").values
    assert (diffusion[:, -1] < diffusion[:, 0]).all()


def test_the_schedule_moves_with_the_rate(run):
    """Reconstruction is (log(2 pi s^2) + e^b / s^2) / 2, and Adam moves b by the rate a step."""
    first, after = run["bound_parts"].sel(bound_part="reconstruction").values[0, :2]
    b = [np.log((2 * np.log(2) * v - np.log(2 * np.pi * 1e-6)) * 1e-6) for v in (first, after)]
    assert np.isclose(b[0], -5.0, atol=1e-3)
    assert np.isclose(b[1], -5.1, atol=0.01)


def test_what_is_recorded_is_what_the_kept_network_generates(run):
    params = ds.kept_parameters(run.isel(seed=1), 0)
    network = models.ConditionalMLP((16,)).build(TASK.input_size, TASK.output_size)
    condition = np.tile([1.0, 2.0, 0.0], (4, 1)).astype(np.float32)
    again = TASK.generate(network.bind(params), jax.numpy.asarray(condition),
                          key_for(0, "generated"), 5)  # fmt: skip
    assert np.allclose(run["generated"].values[1, 0], again, rtol=1e-4, atol=1e-5)


def test_other_tasks_and_models_are_refused():
    with pytest.raises(BadInput, match="a diffusion task"):
        ds.simulate(tasks.IdentityMapping(), models.Linear(), dynamics.GradientDescent(0.1),
                    steps=2, probes=[probes.Generated()])  # fmt: skip
    with pytest.raises(BadInput, match="models that do: ConditionalMLP"):
        ds.simulate(TASK, models.MLP(), dynamics.Adam(0.1), steps=2, probes=[probes.BoundParts()])
    with pytest.raises(BadInput, match="sampling_steps: got 0"):
        probes.Generated(sampling_steps=0)
    with pytest.raises(BadInput, match="order is undefined"):
        tasks.VectorDiffusion((1.0, 0.0))


PROGRAM = """
import sys
from dynascope import dynamics, models, probes, record, tasks
from dynascope.engine import drive, execution
from dynascope.engine.experiment import make_experiment
from dynascope.runner import run_experiment
from dynascope.store import Store

drive.CALL_SECONDS = execution.APPEND_SECONDS = 0.01
experiment = make_experiment(
    tasks.Circles(side=8, samples_per_class=2), models.UNet((4,), blocks=1),
    dynamics.AdamW(1e-3, batch_size=6, order="fresh", average=0.9), steps=300, time=None, seeds=2,
    dtype="float32", record=record.Every(5), probes=[probes.Generated(2, 3)],
)
run_experiment(experiment, store=Store(sys.argv[1]), progress=False)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_killed_training_of_a_unet_goes_on_to_the_same_pictures(tmp_path):
    """The average and the optimiser's memory are in the checkpoint, bit for bit."""
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    process = subprocess.Popen([sys.executable, script, tmp_path / "killed"])
    records, stamps = tmp_path / "killed" / "records", set()
    while process.poll() is None and len(stamps) < 4:  # a manifest is replaced at every append
        stamps |= {p.stat().st_mtime_ns for p in records.glob("*/manifest.json")}
        time.sleep(0.02)
    assert process.poll() is None, "the run was over before it could be killed"
    process.send_signal(signal.SIGKILL)
    process.wait()
    runs = []
    for name in ("killed", "whole"):
        subprocess.run([sys.executable, script, tmp_path / name], check=True)
        store = Store(tmp_path / name)
        (entry,) = store.runs()
        runs.append(store.load(entry.id))
    assert np.array_equal(runs[0]["generated"], runs[1]["generated"])
    assert runs[0].attrs["outcome"] == "finished"
