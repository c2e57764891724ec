from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="forks its writers")


def nursery(task, folder):
    program = Path(__file__).with_name("nursery.py")
    command = [sys.executable, str(program), task, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return json.loads(done.stdout)


def test_a_new_run_survives_a_kill_at_every_change_of_the_disk(tmp_path):
    found = nursery("new", tmp_path)
    assert found["failed"] == 0 and found["done"] == 1
    assert found["killed"] > 20


@pytest.mark.slow
@pytest.mark.parametrize("task", ["same", "beside"])
def test_a_recomputation_survives_a_kill_at_every_change_of_the_disk(tmp_path, task):
    found = nursery(task, tmp_path)
    assert found["failed"] == 0 and found["done"] == 1
    assert found["killed"] > 20


def test_a_run_killed_from_outside_again_and_again_is_whole_in_the_end(tmp_path):
    found = nursery("times", tmp_path)
    assert found["killed"] >= 3
    assert (found["unreadable"], found["incomplete"], found.get("failed", 0)) == (0, 0, 0)


def test_a_file_that_the_system_refuses_loses_nothing(tmp_path):
    found = nursery("full", tmp_path)
    assert found["forks"] == ["done", "done", "done"]
    assert "File too large; what was recorded before is kept" in found["told"]
    assert "\n" not in found["told"]
