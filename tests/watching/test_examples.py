"""Examples of watching a training loop: those that the command lists run, and leave a record."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dynascope.cli.watching import EXAMPLES
from dynascope.store import Store
from dynascope.watching import examples


def test_every_example_is_listed():
    files = {file.stem for file in Path(examples.__file__).parent.glob("[a-z]*.py")}
    assert files == set(EXAMPLES)


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_runs_to_its_end(name, tmp_path):
    if name.startswith("torch"):
        pytest.importorskip("torch")
    ended = subprocess.run(
        [sys.executable, "-m", f"dynascope.watching.examples.{name}"],
        capture_output=True,
        text=True,
        env={**os.environ, "DYNASCOPE_HOME": str(tmp_path)},
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip()
    (entry,) = Store(tmp_path).runs()
    assert (entry.label, entry.outcome) == (name.replace("_", "-"), "finished")
