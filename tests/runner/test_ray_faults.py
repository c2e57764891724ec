"""A local cluster of two nodes: workers and nodes that are lost, a driver that is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from dynascope import dynamics, models, probes, tasks
from dynascope.core.errors import BadInput, ClusterError
from dynascope.core.plain import fingerprint
from dynascope.engine.record import Evenly
from dynascope.runner import cluster as ray_cluster
from dynascope.runner import sweep
from dynascope.store import Store

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore"),  # the warnings are Ray's
              pytest.mark.xdist_group("ray")]  # fmt: skip
ray = pytest.importorskip("ray", reason="needs the extra ray")

PATIENCE = 300.0  # seconds for something to happen on a busy machine
DRIVER = "import sys; sys.path.insert(0, sys.argv[1]); from runner.test_ray_faults import whole; \
from dynascope.store import Store; whole(Store(sys.argv[2]), 'ray')"


def whole(store=None, executor="here", seeds=6):
    """Two programs (widths), each of two blocks on two workers."""
    return sweep(
        tasks.IdentityMapping((1.0, 2.0), (0.1, 0.1)), models.TiedLinear(2, 0.3),
        dynamics.GradientDescent(0.001), over={"model.width": [2, 3]}, steps=200_000, seeds=seeds,
        probes=[probes.Loss()], record=Evenly(20), store=store, executor=executor, progress=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def here():
    return whole()


def same(far, here) -> bool:
    """Equal but for the last digits, which may depend on how many lanes are computed together."""
    return far["loss"].dims == here["loss"].dims and np.allclose(far["loss"], here["loss"], 1e-5)


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    """Two nodes of one CPU each on this machine, with one results folder."""
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("DYNASCOPE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("RAY_worker_niceness", "0")  # else others that compute here starve them
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    made.second = made.add_node(num_cpus=1)
    made.wait_for_nodes()
    ray.init(address=made.address, log_to_driver=False, logging_level="error")
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.fixture
def shown(monkeypatch):
    """What the bar was told: (done, total)."""
    told = []

    class Bar(ray_cluster.Progress):
        def update(self, done, note=""):
            told.append((done, self.total))

    monkeypatch.setattr(ray_cluster, "Progress", Bar)
    return told


@pytest.fixture
def sent(monkeypatch):
    """The fingerprints of the blocks that were given to the cluster."""
    found, module = [], sys.modules[sweep.__module__]
    real = module.run_everywhere

    def noting(blocks, *rest, **more):
        found.extend(map(fingerprint, blocks))
        return real(blocks, *rest, **more)

    monkeypatch.setattr(module, "run_everywhere", noting)
    return found


def busy() -> list[int]:
    """Workers that are computing a block."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            line = Path(f"/proc/{pid}/cmdline").read_text()
        except OSError:
            continue
        if line.startswith(f"ray::{ray_cluster.TITLE}"):
            found.append(int(pid))
    return found


def until(condition):
    """What the condition gives once it is something, or None after a long time."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.05)
    return None


def finished(folder) -> set[str]:
    return {e.fingerprint for e in Store(folder).runs() if e.outcome == "finished"}


class Accident(threading.Thread):
    """Does something once the first block is stored and another is being computed."""

    def __init__(self, folder, act) -> None:
        super().__init__(daemon=True)
        self.folder, self.act, self.happened = folder, act, False
        self.start()

    def run(self) -> None:
        if until(lambda: finished(self.folder)) and (pids := until(busy)):
            self.act(pids)
            self.happened = True


def kill_one(pids) -> None:
    os.kill(pids[0], signal.SIGKILL)


def check_the_end(folder, shown) -> None:
    """One whole record, and a bar that only went forward and to the end."""
    assert [e.outcome for e in Store(folder).runs()] == ["finished"]
    done = [n for n, _ in shown]
    assert done == sorted(done) and shown[-1] == (4, 4)


def test_a_worker_killed_in_the_middle_changes_nothing(cluster, tmp_path, here, shown, sent):
    accident = Accident(tmp_path / "store", kill_one)
    found = whole(Store(tmp_path / "store"), "ray")
    accident.join(PATIENCE)
    assert accident.happened and same(found, here) and len(set(sent)) == len(sent) == 4
    check_the_end(tmp_path / "store", shown)


def test_a_lost_node_changes_nothing(cluster, tmp_path, here, shown):
    accident = Accident(tmp_path / "store", lambda _: cluster.remove_node(cluster.second))
    found = whole(Store(tmp_path / "store"), "ray")
    accident.join(PATIENCE)
    assert accident.happened and same(found, here)
    check_the_end(tmp_path / "store", shown)


def test_a_killed_driver_goes_on_with_what_is_not_stored(cluster, tmp_path, here, shown, sent):
    folder, tests = tmp_path / "store", Path(__file__).parents[1]
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(tests), str(folder)],
        env={**os.environ, "RAY_ADDRESS": cluster.address},
    )
    until(lambda: finished(folder) or driver.poll() is not None)
    driver.kill()
    driver.wait()
    before = finished(folder)
    assert before, "it was killed after its first block"
    found = whole(Store(folder), "ray")
    assert same(found, here)
    assert len(before) + len(sent) == 4 and not before & set(sent), "nothing is computed twice"
    assert shown[0][0] >= len(before), "what is stored counts as done"
    check_the_end(folder, shown)


def test_workers_of_one_disk_compile_once(cluster, tmp_path):
    def compiled():
        return {p.name for p in (tmp_path / "home" / "compiled").glob("*-cache")}

    whole(executor="ray", seeds=2)
    first = compiled()
    assert first
    whole(executor="ray", seeds=4)  # other blocks, perhaps on the other node
    again = compiled()
    whole(executor="ray", seeds=4)
    assert compiled() == again


def test_the_command_of_the_page_runs(cluster, tmp_path):
    page = Path(__file__).parents[2] / "docs" / "ray.md"
    [line] = [s for s in page.read_text().splitlines() if s.startswith("dynascope ")]
    done = subprocess.run(
        [sys.executable, "-m", *line.split()], capture_output=True, text=True, cwd=tmp_path,
        env={**os.environ, "RAY_ADDRESS": cluster.address},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "computed and stored" in done.stdout + done.stderr


def test_a_worker_with_too_little_memory_says_so(monkeypatch):
    monkeypatch.setenv("RAY_worker_niceness", "0")
    ray.init(num_cpus=1, log_to_driver=False, logging_level="error", include_dashboard=False,
             runtime_env={"env_vars": {"DYNASCOPE_MEMORY": "1K"}})  # fmt: skip
    try:
        with pytest.raises(BadInput, match=r"on .*: this experiment needs about .* are free"):
            whole(executor="ray")
    finally:
        ray.shutdown()


@pytest.mark.parametrize("address", ["127.0.0.1:1", "nonsense", "ray://127.0.0.1:1"])
def test_a_cluster_that_is_not_there_is_told_in_one_line(monkeypatch, address):
    monkeypatch.setenv("RAY_ADDRESS", address)
    with pytest.raises(ClusterError, match=f"{address} cannot be reached") as caught:
        whole(executor="ray")
    assert "\n" not in str(caught.value)
