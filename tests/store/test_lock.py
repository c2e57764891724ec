from __future__ import annotations

import gc
import os
import signal
import socket
import subprocess
import sys

import pytest

from dynascope.core.errors import StoreError
from dynascope.store.lock import Lock

HOLD = """
import sys, time
from pathlib import Path
from dynascope.store.lock import Lock
lock = Lock(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the lock."""
    command = [sys.executable, "-c", HOLD, str(tmp_path / "lock")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_second_process_is_told_who_holds_it_and_a_dead_holder_stops_nobody(tmp_path, holder):
    who = f"process {holder.pid} on {socket.gethostname()}"
    with pytest.raises(StoreError, match=who):
        Lock(tmp_path / "lock")
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    assert (tmp_path / "lock").exists()  # what the dead one left behind
    assert Lock(tmp_path / "lock").held


def test_in_one_process_the_newest_takes_over(tmp_path):
    first = Lock(tmp_path / "lock")
    second = Lock(tmp_path / "lock")
    assert (first.held, second.held) == (False, True)
    first.release()
    assert second.held and (tmp_path / "lock").exists()


def test_release_removes_the_file(tmp_path):
    lock = Lock(tmp_path / "lock")
    lock.release()
    assert not lock.held and not (tmp_path / "lock").exists()


def test_an_abandoned_lock_is_let_go(tmp_path):
    Lock(tmp_path / "lock")
    gc.collect()
    assert not (tmp_path / "lock").exists()


def test_a_lock_file_that_its_holder_removes_meanwhile_is_no_lock(tmp_path, monkeypatch):
    from dynascope.store import lock as module

    real, calls = module._try_lock, []

    def remove_once(file):
        calls.append(1)
        if len(calls) == 1:
            (tmp_path / "lock").unlink()
        return real(file)

    monkeypatch.setattr(module, "_try_lock", remove_once)
    lock = Lock(tmp_path / "lock")
    assert lock.held and len(calls) == 2 and (tmp_path / "lock").exists()
