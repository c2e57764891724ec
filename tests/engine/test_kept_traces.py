"""Traces that a process of ours keeps: the same bits, never of other code or of somebody's data."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import jax
import numpy as np
import pytest

import dynascope as ds
from dynascope import dynamics, models, probes, tasks
from dynascope.core import source_text
from dynascope.engine import kept_traces, lane, program
from dynascope.runtime import process

TASK = tasks.IdentityMapping(samples_per_cluster=20)
RUNS = {
    "small": (
        tasks.IdentityMapping(), models.TiedLinear(2), dynamics.GradientDescent(0.05), {"steps": 5},
    ),
    "batches": (TASK, models.MLP(3, 5), dynamics.SGD(0.05, 8), {"steps": 30}),
    "adam": (TASK, models.MLP(2, 4, "linear"), dynamics.Adam(0.01), {"steps": 30}),
    "mapped": (TASK, models.MLP(2, 40), dynamics.GradientDescent(0.05), {"steps": 20}),
    "flow": (tasks.IdentityMapping(), models.TiedLinear(3), dynamics.GradientFlow(), {"time": 2.0}),
    "remembers": (
        TASK, models.MLP(2, 5), dynamics.GradientDescent(0.05),
        {"steps": 20, "probes": [probes.Sharpness(), probes.Loss()]},
    ),
}  # fmt: skip


@pytest.fixture
def again(monkeypatch, tmp_path):
    """Runs an experiment as the next process would: nothing compiled is in memory."""
    monkeypatch.setenv("DYNASCOPE_HOME", str(tmp_path))
    monkeypatch.setattr(process, "_BEGUN", True)

    def run(name: str = "small"):
        monkeypatch.setattr(program, "_PROGRAMS", {})
        task, model, rule, length = RUNS[name]
        return ds.simulate(task, model, rule, seeds=4, progress=False, **length)

    return run


def files(folder) -> list[str]:
    return sorted(p.name for p in (folder / "compiled").glob("traced-*"))


def forbid_tracing(monkeypatch):
    """Let the loop refuse to be traced."""
    real = lane.build

    def build(setup, dtype):
        def traced(*arguments):
            raise AssertionError("the loop was traced")

        return real(setup, dtype)._replace(advance=traced, measure=traced, slope=traced)

    monkeypatch.setattr(program, "build", build)


@pytest.mark.parametrize(
    "name", [n if n == "small" else pytest.param(n, marks=pytest.mark.slow) for n in RUNS]
)
def test_a_kept_trace_gives_the_same_bits_and_is_not_traced_again(
    again, name, monkeypatch, tmp_path
):
    first = again(name)
    assert len(files(tmp_path)) == 3  # of the draw, of the loop, and what they measure
    forbid_tracing(monkeypatch)
    assert again(name).drop_attrs().identical(first.drop_attrs())
    monkeypatch.undo()
    monkeypatch.setattr(program, "_PROGRAMS", {})
    task, model, rule, length = RUNS[name]
    plain = ds.simulate(task, model, rule, seeds=4, progress=False, **length)
    assert plain.drop_attrs().identical(first.drop_attrs())


def test_without_its_trace_the_loop_is_traced(again, monkeypatch, tmp_path):
    again()
    for file in (tmp_path / "compiled").glob("*-advance-*"):
        file.unlink()
    forbid_tracing(monkeypatch)
    with pytest.raises(AssertionError, match="the loop was traced"):
        again()


@pytest.mark.parametrize("what", ["our text", "configuration"])
def test_other_code_or_another_configuration_is_traced_anew(again, what, monkeypatch, tmp_path):
    again()
    before = files(tmp_path)
    if what == "our text":
        monkeypatch.setattr(kept_traces, "text_digest", lambda paths: "edited")
        again()
    else:
        with_other = jax.config.values | {"jax_default_matmul_precision": "float32"}
        monkeypatch.setattr(type(jax.config), "values", with_other)
        again()
    assert len(files(tmp_path)) == 2 * len(before)


def test_the_digest_follows_the_text(tmp_path):
    file = tmp_path / "code.py"
    file.write_text("a = 1")
    before = source_text.text_digest.__wrapped__((file,))
    file.write_text("a = 2")
    assert source_text.text_digest.__wrapped__((file,)) != before
    assert {p.name for p in source_text.all_files()} >= {"lane.py", "mlp.py", "intervals.py"}


def test_a_damaged_file_is_not_used(again, tmp_path):
    first = again()
    for name in files(tmp_path):
        file = tmp_path / "compiled" / name
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 1
        file.write_bytes(bytes(data))
    assert again().drop_attrs().identical(first.drop_attrs())
    assert all(kept_traces._read(tmp_path / "compiled" / name) for name in files(tmp_path))


def test_data_is_not_kept(again, monkeypatch, tmp_path):
    """Of a data set the settings know the name; its numbers may be others tomorrow."""
    digits = tasks.TwoClasses("digits", classes=(0, 2), train=20)
    rule = dynamics.GradientDescent(0.05)
    monkeypatch.setitem(RUNS, "digits", (digits, models.MLP(2, 4), rule, {"steps": 3}))
    again("digits")
    traces = [name.split("-")[2] for name in files(tmp_path) if name.endswith(".trace")]
    assert traces == ["advance"]  # the loop is given the samples, the start draws from all digits


def test_arrays_in_a_program_are_found():
    array = np.arange(300.0, dtype=np.float32)

    def step(x):
        return jax.lax.fori_loop(0, 3, lambda i, y: y + jax.numpy.asarray(array).sum(), x)

    assert (300,) in set(kept_traces._held(jax.jit(step).trace(1.0).jaxpr))
    assert not set(kept_traces._held(jax.jit(lambda x: x + 1).trace(1.0).jaxpr)) - {()}


def test_nothing_is_kept_of_a_user(again, monkeypatch, tmp_path):
    """In their own process dynascope may have been patched, and their code read anything."""
    monkeypatch.setattr(process, "_BEGUN", False)
    again()
    assert not files(tmp_path)
    monkeypatch.setattr(process, "_BEGUN", True)

    class Mine(models.MLP):
        pass

    rule = dynamics.GradientDescent(0.05)
    monkeypatch.setitem(RUNS, "mine", (TASK, Mine(2, 4), rule, {"steps": 3}))
    again("mine")
    assert not files(tmp_path)


def test_a_folder_that_cannot_be_written_costs_nothing_but_time(again, monkeypatch, tmp_path):
    first = again()
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DYNASCOPE_HOME", str(tmp_path / "file"))
    assert again().drop_attrs().identical(first.drop_attrs())


@pytest.mark.slow
def test_the_command_gives_the_same_numbers_with_its_traces(tmp_path):
    """On all cores, where lanes are spread over devices."""
    words = ["sweep", "--over", "model.init_scale=0.1,0.2", "--steps", "200", "--seeds", "6"]
    env = {**os.environ, "DYNASCOPE_HOME": str(tmp_path)}
    found = []
    for extra in ([], ["--again"]):
        call = [sys.executable, "-m", "dynascope", *words, *extra, "--json"]
        done = subprocess.run(call, env=env, capture_output=True, text=True, check=True)
        found.append({k: v for k, v in json.loads(done.stdout).items() if k != "seconds"})
    assert len(files(tmp_path)) == 3
    assert found[0] == found[1]  # --again compares the records too
