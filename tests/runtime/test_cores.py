"""The command spreads lanes over the cores; importing the package asks for threads alone."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from dynascope.runtime.cores import FLAG, power_of_two


def after(code: str, name: str, **given: str) -> str:
    """A variable of the environment in a fresh process after some lines of code."""
    script = f"{code}\nimport os; print(os.environ.get('{name}', ''))"
    kept = {k: v for k, v in os.environ.items() if k not in ("XLA_FLAGS", "NPROC")}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True,
        env=kept | given,
    )  # fmt: skip
    return done.stdout.strip()


def flags_after(code: str, given: str = "") -> str:
    return after(code, "XLA_FLAGS", XLA_FLAGS=given)


CALL = "from dynascope.runtime.cores import use_all_cores; use_all_cores()"


def test_the_command_asks_for_a_device_a_core_and_keeps_what_was_set():
    cores = power_of_two(len(os.sched_getaffinity(0)))
    assert flags_after(CALL) == f"{FLAG}={cores}"
    assert flags_after(CALL, "--xla_cpu_enable_fast_math=false").endswith(f" {FLAG}={cores}")
    assert flags_after(CALL, f"{FLAG}=3") == f"{FLAG}=3"


def test_the_package_and_a_loaded_jax_are_left_alone():
    assert flags_after("import dynascope, dynascope.cli") == ""
    assert flags_after(f"import jax; {CALL}") == ""


def test_threads_are_asked_for_before_jax_computes_and_nothing_is_overwritten():
    twice = str(2 * len(os.sched_getaffinity(0)))
    assert after("import dynascope", "NPROC") == twice
    assert after("import jax, dynascope", "NPROC") == twice
    assert after("import dynascope", "NPROC", NPROC="3") == "3"
    assert after("import jax; jax.devices(); import dynascope", "NPROC") == ""


@pytest.mark.parametrize(("cores", "devices"), [(1, 1), (3, 2), (12, 8)])
def test_devices_are_a_power_of_two(cores, devices):
    assert power_of_two(cores) == devices
