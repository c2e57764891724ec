"""A plain installation without the constraints file, in an environment of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_the_newest_versions_install_and_run(tmp_path):
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True)
    python = tmp_path / "env" / "bin" / "python"
    subprocess.run(
        [python, "-m", "pip", "install", "--quiet", "--only-binary=:all:", ROOT], check=True
    )
    listed = subprocess.run(
        [python, "-m", "pip", "list"], capture_output=True, text=True, check=True
    )
    names = {line.split()[0].lower() for line in listed.stdout.splitlines()[2:]}
    assert "jax" in names and not names & {"torch", "ray"}
    code = (
        "import dynascope as ds\n"
        "from dynascope import dynamics, models, probes, tasks\n"
        "run = ds.simulate(tasks.IdentityMapping(), models.TiedLinear(2), "
        "dynamics.GradientDescent(0.01), steps=500, probes=[probes.TestLoss()])\n"
        "assert float(run['test_loss'][0, -1]) < float(run['test_loss'][0, 0])\n"
    )
    subprocess.run([python, "-c", code], check=True)
    done = subprocess.run(
        [python.parent / "dynascope", "list", "--json"], capture_output=True, text=True, check=True
    )
    assert "swing-by" in done.stdout
