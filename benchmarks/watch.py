"""What watching a PyTorch loop costs, beside Cockpit in the same run.

The MLP of Cockpit's own benchmark (784-1000-500-100-10, ReLU) on batches of 128 pictures. How many
products an eigenvalue takes depends on the data: there is a row for one batch of random pictures,
one for 64 of them in turn, and one for MNIST itself, where it is at hand. Times are of the
processor, one thread, so that other programs do not count; each ratio is the median of three, of a
watched loop to the plain ones before and after it.
Cockpit needs `pip install cockpit-for-pytorch==1.0.2 'setuptools<81'`, here or in an environment
of its own whose interpreter COCKPIT_PYTHON names. Memory is the most that was resident, from /proc
on Linux, of a layer of 36 MB: smaller tensors may lie in the C library's heap, which keeps holes.
"""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import torch

BATCH, EVERY = 128, 16
WIDE = 3000  # a side of the layer whose memory is measured
CERTIFIED = ("sharpness", "tangent_kernel_norm")
SEARCHES = {"SGD": ("sharpness",), "Adam": ("sharpness", "scaled_sharpness")}


def mlp(*sizes):
    layers = []
    for a, b in pairwise(sizes):
        layers += [torch.nn.Linear(a, b), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1])


def random_batches(count):
    torch.manual_seed(1)
    return [(torch.rand(BATCH, 784), torch.randint(0, 10, (BATCH,))) for _ in range(count)]


def real_batches():
    """An epoch of MNIST, or None where it is not at hand."""
    from dynascope import data

    if not data.there("mnist"):
        return None
    found = data.load("mnist", download=False)
    order = torch.randperm(len(found.x_train), generator=torch.Generator().manual_seed(1))
    x = torch.tensor(found.x_train).float().reshape(len(order), -1)
    x, y = (x / x.max())[order], torch.tensor(found.y_train).long()[order]
    return list(zip(x.split(BATCH), y.split(BATCH)))[:-1]


def problem():
    """The MLP, its loss and its optimiser."""
    torch.manual_seed(0)
    net, loss = mlp(784, 1000, 500, 100, 10), torch.nn.CrossEntropyLoss()
    return net, loss, torch.optim.SGD(net.parameters(), 0.01)


def looped(net, loss, optimizer, batches, steps, watch=None):
    """Seconds of processor per step, without the first two rounds."""
    begun = 0.0
    for step in range(steps + 2 * EVERY):
        if step == 2 * EVERY:
            begun = time.process_time()
        batch = batches[step % len(batches)]
        optimizer.zero_grad()
        value = loss(net(batch[0]), batch[1])
        value.backward()
        optimizer.step()
        if watch is not None:
            watch(value, batch=batch)
    return (time.process_time() - begun) / steps


def slower(preset, batches, budget=math.inf, steps=10 * EVERY, repeats=3):
    """How many times a plain step a watched one takes, and the last watch."""
    import dynascope

    found = []
    before = looped(*problem(), batches, steps)
    for _ in range(repeats):
        net, loss, optimizer = problem()
        watch = dynascope.watch(
            net, loss, every=EVERY, budget=budget, preset=preset, optimizer=optimizer, store=None,
            strict=True,
        )  # fmt: skip
        watched = looped(net, loss, optimizer, batches, steps, watch)
        after = looped(*problem(), batches, steps)
        found.append(2 * watched / (before + after))
        before = after
    return sorted(found)[repeats // 2], watch


def cockpit(steps):
    """With all of its quantities every 16 steps, a step over a plain one before and after."""
    from backpack import extend
    from cockpit import Cockpit
    from cockpit.utils.configuration import configuration
    from cockpit.utils.schedules import linear

    [(x, y)] = batches = random_batches(1)
    before = looped(*problem(), batches, steps)
    net, loss, optimizer = problem()
    extend(net), extend(loss)
    single = torch.nn.CrossEntropyLoss(reduction="none")
    schedule = linear(interval=EVERY)
    seen = Cockpit(net.parameters(), quantities=configuration("full", track_schedule=schedule))
    begun = 0.0
    for step in range(steps + EVERY):
        if step == EVERY:
            begun = time.process_time()
        optimizer.zero_grad()
        outputs = net(x)
        value = loss(outputs, y)
        info = {"batch_size": BATCH, "individual_losses": single(outputs, y), "loss": value,
                "optimizer": optimizer}  # fmt: skip
        with seen(step, info=info):
            value.backward(create_graph=seen.create_graph(step))
        optimizer.step()
    used = (time.process_time() - begun) / steps
    return 2 * used / (before + looped(*problem(), batches, steps))


def peak(rule, watched):
    """Most memory of a process with a wide layer and tiny batches, in MB.

    The eigenvalue is asked for a far smaller residual than usual: the basis must be filled.
    """
    import dynascope

    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(WIDE, WIDE, bias=False), torch.nn.Tanh())
    loss = torch.nn.MSELoss()
    batch = torch.randn(4, WIDE), torch.randn(4, WIDE)
    optimizer = getattr(torch.optim, rule)(net.parameters(), 1e-4)
    small = torch.nn.Linear(2, 2)
    with_it = dynascope.watch(
        net if watched else small, loss, every=2, budget=math.inf, store=None, strict=True,
        optimizer=optimizer if watched else None, tolerance=1e-4,
    )  # fmt: skip
    given = batch if watched else (torch.randn(4, 2), torch.randn(4, 2))
    for _ in range(9):
        optimizer.zero_grad()
        value = loss(net(batch[0]), batch[1])
        value.backward()
        optimizer.step()
        with_it(value, batch=given)
    counts = [with_it.dataset()[f"{name}_products"].max() for name in SEARCHES[rule]]
    if watched and not min(counts) > 17:
        raise RuntimeError("the basis was not filled: this measures nothing")
    found = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
    return int(found[1]) / 1024


class Convolutions(torch.nn.Sequential):
    """Two convolutions, with batch norm."""

    def __init__(self):
        super().__init__(
            torch.nn.Conv2d(1, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU(),
            torch.nn.Conv2d(8, 16, 3, stride=2), torch.nn.ReLU(), torch.nn.Flatten(),
            torch.nn.Linear(16 * 6 * 6, 10),
        )  # fmt: skip


class Encoder(torch.nn.Module):
    """Two transformer layers."""

    def __init__(self):
        super().__init__()
        layer = torch.nn.TransformerEncoderLayer(32, 4, 64, 0.1, batch_first=True)
        self.body = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = torch.nn.Linear(32, 10)

    def forward(self, x):
        """Scores from the last place."""
        return self.head(self.body(x)[:, -1])


MODELS = {
    "MLP": (lambda: mlp(64, 128, 128, 10), (64, 64)),
    "CNN": (Convolutions, (32, 1, 16, 16)),
    "transformer": (Encoder, (16, 12, 32)),
}


def share(name, budget, steps=2000):
    """The share of the loop's time that watching took over all steps after the first."""
    import dynascope

    torch.manual_seed(0)
    make, shape = MODELS[name]
    net, loss = make(), torch.nn.CrossEntropyLoss()
    batch = torch.randn(shape), torch.randint(0, 10, shape[:1])
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    watch = dynascope.watch(
        net, loss, every=EVERY, budget=budget, optimizer=optimizer, store=None, live=False
    )
    inside = loop = 0.0
    for step in range(steps):
        begun = time.perf_counter()
        optimizer.zero_grad()
        value = loss(net(batch[0]), batch[1])
        value.backward()
        optimizer.step()
        stepped = time.perf_counter()
        watch(value, batch=batch)
        if step:  # the first measurement warms up, and is not counted
            loop += stepped - begun
            inside += time.perf_counter() - stepped
    return inside / loop, int(watch.dataset()["sharpness"].count())


def elsewhere(what, *arguments):
    """A function of this file in a process of its own, or None where it cannot run."""
    python = os.environ.get("COCKPIT_PYTHON", sys.executable) if what == "cockpit" else None
    command = [python or sys.executable, __file__, what, *map(str, arguments)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    if found.returncode:
        print(f"{what}: not run ({(found.stderr.strip().splitlines() or ['?'])[-1]})")
        return None
    return json.loads(found.stdout.strip().splitlines()[-1])


def told(words, times, watch, aim=""):
    """A row: how much slower, after how many measurements and products."""
    found = watch.dataset().isel(step=slice(2 * EVERY, None))
    products = [float(found[f"{name}_products"].mean()) for name in CERTIFIED if name in found]
    counts = " and ".join(f"{count:.1f}" for count in products)
    measured = int(found["sharpness"].count())
    print(f"{words:45}{times:8.3g}x the loop, {measured} measurements, {counts} products  {aim}")


def main() -> None:
    torch.set_num_threads(1)
    one = random_batches(1)
    for preset in ("light", "standard"):
        told(f"{preset} every 16 steps, one batch", *slower(preset, one, repeats=1))
    aim = "(aim < 2x)"
    told("full every 16 steps, one batch", *slower("full", one), aim)
    told("full every 16 steps, 64 random batches", *slower("full", random_batches(64)), aim)
    if (real := real_batches()) is None:
        print("full every 16 steps, MNIST                    not run: MNIST is not at hand")
    else:
        told("full every 16 steps, MNIST", *slower("full", real), aim)
    told("full every 16 steps, one batch, budget=0.9", *slower("full", one, 0.9), aim)
    theirs = elsewhere("cockpit", 3 * EVERY)
    if theirs is not None:
        print(f"Cockpit's full configuration every 16 steps  {theirs:8.3g}x the loop")
    for name in MODELS:
        used, count = share(name, 0.1)
        print(f"budget=0.1 over 2,000 steps, {name:12}     {used:8.3g}, {count} measurements  "
              "(aim < 0.12)")  # fmt: skip
    for rule in SEARCHES:
        memory(rule)


def memory(rule):
    """A row: copies of the parameters above the loop."""
    loop, watched = (elsewhere("peak", rule, how) for how in (0, 1))
    if loop is None or watched is None:
        return
    copies = (watched - loop) / (4 * WIDE**2 / 2**20)
    print(f"memory of standard above the loop, {rule:6}     {copies:8.3g} copies of the parameters "
          "(aim 17 of the basis, and 3)")  # fmt: skip


if __name__ == "__main__":
    torch.set_num_threads(1)
    match sys.argv[1:]:
        case ["cockpit", steps]:
            print(json.dumps(cockpit(int(steps))))
        case ["peak", rule, watched]:
            print(json.dumps(peak(rule, bool(int(watched)))))
        case _:
            main()
