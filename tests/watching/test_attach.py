"""The loop's side: budget, record on disk, errors that do not stop a training, bad input."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
import warnings
from functools import partial

import numpy as np
import pytest
import torch

import dynascope
from dynascope.core.errors import BadInput
from dynascope.store import Store
from dynascope.watching.budget import Budget
from dynascope.watching.measurements import Kernel

from .models import made

pytestmark = pytest.mark.slow  # torch is installed for make test-all alone


def test_a_quadratic_by_hand():
    """Loss mean (w x - y)^2 over x = 1, 2: sharpness 2 mean x^2 = 5."""
    net = torch.nn.Linear(1, 1, bias=False)
    batch = (torch.tensor([[1.0], [2.0]]), torch.tensor([[0.0], [0.0]]))
    watch = dynascope.watch(net, torch.nn.MSELoss(), every=1, store=None)
    watch(3.0, batch=batch, learning_rate=0.1, metrics={"test_loss": 0.25})
    data = watch.dataset()
    assert float(data["sharpness"][0]) == pytest.approx(5, rel=1e-4)
    assert float(data["critical_learning_rate"][0]) == pytest.approx(0.4, rel=1e-4)
    assert float(data["rate_over_critical"][0]) == pytest.approx(0.25, rel=1e-4)
    assert (float(data["loss"][0]), float(data["test_loss"][0])) == (3.0, 0.25)
    assert "2 / sharpness" in watch.summary()


def test_budget_thins_out(monkeypatch):
    clock = iter(np.arange(0, 1e6, 0.5))
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(clock)))
    budget = Budget(0.5, every=1)
    for call in range(400):
        with budget.inside():
            if budget.due(call):
                with budget.measuring():
                    pass
    # A step of the loop takes 0.5 s, a call 0.5, one that measures 1.5.
    assert budget.used <= 0.5 + 1.5 / budget.loop or budget.measured == 1
    assert budget.skipped and "left out" in budget.words()


def test_record_is_stored_and_grows_a_column(tmp_path):
    net, loss, batch = made("mlp")
    store = Store(tmp_path)
    with dynascope.watch(net, loss, every=2, store=store, label="mine") as watch:
        for i in range(5):
            watch(float(i), batch=batch, learning_rate=0.1)
        time.sleep(1.5)
        for i in range(5, 8):
            watch(float(i), batch=batch, learning_rate=0.1, metrics={"test_loss": 1.0})
        time.sleep(1.5)
        name = watch.record
    (entry,) = store.runs()
    assert (entry.label, entry.outcome, entry.id) == ("mine", "finished", name)
    data = store.load(name)
    assert data["loss"].values.tolist() == list(range(8))
    assert np.isnan(data["test_loss"][:5]).all() and (data["test_loss"][5:] == 1).all()


def test_a_killed_process_leaves_what_it_saw(tmp_path):
    code = (
        "import time, torch, dynascope\n"
        "net = torch.nn.Linear(2, 1)\n"
        "watch = dynascope.watch(net, torch.nn.MSELoss(), every=4)\n"
        "batch = (torch.randn(4, 2), torch.randn(4, 1))\n"
        "for i in range(10**9):\n"
        "    watch(float(i), batch=batch, learning_rate=0.1)\n"
        "    print(i, time.time(), flush=True)\n"
        "    time.sleep(0.02)\n"
    )
    environment = {**os.environ, "DYNASCOPE_HOME": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        seen = [process.stdout.readline().split() for _ in range(150)]
        process.send_signal(signal.SIGKILL)
        rest = process.stdout.read().splitlines()
    seen += [line.split() for line in rest if len(line.split()) == 2]
    killed = float(seen[-1][1])
    old = sum(float(when) < killed - 3 for _, when in seen)  # a loaded machine writes late
    (entry,) = Store(tmp_path).runs()
    data = Store(tmp_path).load(entry.id)
    assert data.sizes["step"] >= old > 0
    assert data["loss"].values.tolist() == list(range(data.sizes["step"]))


def test_a_process_that_ends_leaves_all_of_it(tmp_path):
    code = (
        "import torch, dynascope\n"
        "net = torch.nn.Linear(2, 1)\n"
        "watch = dynascope.watch(net, torch.nn.MSELoss(), every=4)\n"
        "batch = (torch.randn(4, 2), torch.randn(4, 1))\n"
        "for i in range(20):\n"
        "    watch(float(i), batch=batch, learning_rate=0.1)\n"
    )
    environment = {**os.environ, "DYNASCOPE_HOME": str(tmp_path)}
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    assert not ended.stderr
    (entry,) = Store(tmp_path).runs()
    assert entry.outcome == "finished"
    assert Store(tmp_path).load(entry.id)["loss"].values.tolist() == list(range(20))


def test_a_full_disk_stops_the_saving_alone(tmp_path, monkeypatch):
    from dynascope.store import RecordSink

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(RecordSink, "append", full)
    net, loss, batch = made("mlp")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with dynascope.watch(net, loss, every=1, store=Store(tmp_path)) as watch:
            for _ in range(3):
                watch(1.0, batch=batch, learning_rate=0.1)
            time.sleep(1)
            watch(1.0, batch=batch, learning_rate=0.1)
    assert sum("no longer saves" in str(w.message) for w in said) == 1
    assert watch.dataset().sizes["step"] == 4


def test_an_error_in_a_probe_is_recorded_and_the_loop_goes_on():
    net, loss, batch = made("mlp")

    def mine(model, batch):
        raise ZeroDivisionError("no luck")

    watch = dynascope.watch(net, loss, every=1, probes=[mine], store=None, budget=1e9)
    with pytest.warns(UserWarning, match="no luck"):
        watch(1.0, batch=batch, learning_rate=0.1)
    watch(1.0, batch=batch, learning_rate=0.1)
    assert len(watch.errors) == 2 and "ZeroDivisionError" in watch.summary()
    assert watch.dataset()["sharpness"].count() == 2
    strict = dynascope.watch(net, loss, every=1, probes=[mine], store=None, strict=True)
    with pytest.raises(ZeroDivisionError):
        strict(1.0, batch=batch, learning_rate=0.1)


def test_a_measurement_of_ours_can_be_added_to_a_preset():
    net, loss, batch = made("mlp")
    found = []
    for given in ({"preset": "light", "probes": [Kernel()]}, {"preset": "full"}):
        watch = dynascope.watch(net, loss, store=None, strict=True, **given)
        watch(1.0, batch=batch, learning_rate=0.1)
        found.append(watch.dataset())
    norms = [float(data["tangent_kernel_norm"][0]) for data in found]
    assert norms[0] == pytest.approx(norms[1], rel=1e-3)
    assert "update_stable_rank" in found[1] and "update_stable_rank" not in found[0]


def test_after_a_batch_that_is_not_finite_measurements_go_on():
    """The vectors of the bad batch are no start for the next."""
    net, loss, (x, y) = made("mlp")
    watch = dynascope.watch(net, loss, every=1, budget=1e9, preset="full", store=None, strict=True)
    for inputs in (x, x * np.nan, x):
        watch(1.0, batch=(inputs, y), learning_rate=0.1)
    data = watch.dataset()
    for name in ("sharpness", "critical_learning_rate", "tangent_kernel_norm"):
        first, bad, last = data[name].values
        assert np.isnan(bad) and last == pytest.approx(first, rel=1e-2)
    assert data["sharpness_converged"].values.tolist() == [1, 0, 1]
    assert (data["sharpness_products"] >= 1).all()


class Writer:
    """The call that TensorBoard's SummaryWriter has."""

    def __init__(self):
        self.rows = []

    def add_scalar(self, tag, scalar_value, global_step=None):
        self.rows.append((tag, scalar_value, global_step))


def test_numbers_are_forwarded():
    net, loss, batch = made("mlp")
    writer = Writer()
    watch = dynascope.watch(net, loss, store=None, forward=writer.add_scalar)
    watch(2.0, batch=batch, learning_rate=0.1, metrics={"test_loss": 3.0}, step=7)
    found = {name: value for name, value, _ in writer.rows}
    assert found["dynascope/loss"] == 2.0 and found["dynascope/test_loss"] == 3.0
    assert found["dynascope/sharpness"] > 0 and {step for *_, step in writer.rows} == {7}


def test_a_forward_that_fails_does_not_stop_the_loop():
    net, loss, batch = made("mlp")

    def closed(*_):
        raise OSError("no connection")

    watch = dynascope.watch(net, loss, store=None, forward=closed)
    with pytest.warns(UserWarning, match="no connection"):
        watch(2.0, batch=batch, learning_rate=0.1)
    assert watch.dataset().sizes["step"] == 1


def test_a_loss_of_many_numbers_is_refused_in_one_line():
    net, loss, batch = made("mlp")
    watch = dynascope.watch(net, loss, store=None)
    with pytest.raises(BadInput, match="a single number"):
        watch(torch.ones(3), batch=batch, learning_rate=0.1)


def test_two_processes_write_to_one_store(tmp_path):
    code = (
        "import sys, torch, dynascope\n"
        "net = torch.nn.Linear(2, 1)\n"
        "batch = (torch.randn(4, 2), torch.randn(4, 1))\n"
        "with dynascope.watch(net, torch.nn.MSELoss(), every=50, label=sys.argv[1]) as watch:\n"
        "    for i in range(400):\n"
        "        watch(float(i), batch=batch, learning_rate=0.1)\n"
    )
    environment = {**os.environ, "DYNASCOPE_HOME": str(tmp_path)}
    processes = [
        subprocess.Popen([sys.executable, "-c", code, name], env=environment) for name in "ab"
    ]
    assert [process.wait() for process in processes] == [0, 0]
    found = Store(tmp_path).runs()
    assert sorted(entry.label for entry in found) == ["a", "b"]
    for entry in found:
        assert Store(tmp_path).load(entry.id)["loss"].values.tolist() == list(range(400))


class Twice(torch.autograd.Function):
    """A function without a second derivative."""

    @staticmethod
    def forward(context, x):
        return 2 * x

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(context, slope):
        return 2 * slope


class Doubler(torch.nn.Module):
    def forward(self, x):
        return Twice.apply(x)


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: (torch.nn.Tanh(), torch.nn.MSELoss(), None), "parameters to train"),
        (lambda: (torch.nn.Linear(2, 1), torch.nn.MSELoss(reduction="none"),
                  (torch.ones(3, 2), torch.ones(3, 1))), "a single number"),
        (lambda: (torch.nn.Linear(2, 1), torch.nn.MSELoss(), torch.ones(3, 2)), "inputs, targets"),
        (lambda: (torch.nn.Linear(2, 1), torch.nn.MSELoss(),
                  (torch.ones(3, 2, device="meta"), torch.ones(3, 1))), "on cpu"),
        (lambda: (torch.nn.Sequential(torch.nn.Linear(2, 2), Doubler(), torch.nn.Linear(2, 1)),
                  torch.nn.MSELoss(), (torch.ones(3, 2), torch.ones(3, 1))), "1 (Doubler)"),
        (lambda: (object(), torch.nn.MSELoss(), None), "Equinox"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line(make, word):
    model, loss, batch = make()
    with pytest.raises(BadInput) as caught:
        dynascope.watch(model, loss, store=None)(1.0, batch=batch, learning_rate=0.1)
    assert word in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "given",
    [{"every": 0}, {"budget": 0}, {"preset": "huge"}, {"samples": 0}, {"probes": [partial(max)]}],
)
def test_bad_options_are_one_line(given):
    with pytest.raises(BadInput):
        dynascope.watch(torch.nn.Linear(1, 1), torch.nn.MSELoss(), store=None, **given)
