"""Plain PyTorch training loops with a watch in them, as somebody would write them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from dynascope.probes.curves import bump
from dynascope.watching.attach import adapt, watch

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True)
class Loop:
    """What is trained, and how it is watched."""

    width: int = 16
    inputs: int = 4
    outputs: int = 1
    samples: int = 16
    steps: int = 300
    every: int = 6
    linear: bool = False
    start: float = 1.0  # scale of both layers
    scale: float = 1.0  # of the output, which then begins at zero
    strengths: tuple[float, ...] = ()  # targets are these multiples of single inputs
    batch: int | None = None  # samples of a step; all of them without it
    bad_batch: bool = False  # at one step the targets are wrong by a factor
    preset: str = "standard"


class Net(torch.nn.Module):
    """Two layers without biases."""

    def __init__(self, plan: Loop) -> None:
        super().__init__()
        self.first = torch.nn.Linear(plan.inputs, plan.width, bias=False)
        self.second = torch.nn.Linear(plan.width, plan.outputs, bias=False)
        self.plan = plan
        with torch.no_grad():
            for layer in (self.first, self.second):
                fan_in = layer.weight.shape[1]
                layer.weight.copy_(plan.start * torch.randn_like(layer.weight) / fan_in**0.5)
        self.register_buffer("before", torch.cat([p.detach().reshape(-1) for p in self.parts]))

    @property
    def parts(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Both layers."""
        return self.first.weight, self.second.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The outputs, less the first ones where they are scaled."""
        now = self._layers(x, *self.parts)
        if self.plan.scale == 1:
            return now
        a, b = torch.split(self.get_buffer("before"), [p.numel() for p in self.parts])
        first, second = self.parts
        was = self._layers(x, a.reshape(first.shape), b.reshape(second.shape))
        return self.plan.scale * (now - was)

    def _layers(self, x: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        hidden = x @ a.T
        return (hidden if self.plan.linear else torch.tanh(hidden)) @ b.T


def trained(plan: Loop, seed: int, *, multiple: float = 0.0, rate: float = 0.0) -> xr.Dataset:
    """The record of one training loop.

    Args:
        plan: What and how.
        seed: Decides data and weights.
        multiple: The rate as a multiple of the critical one at the start.
        rate: Or the rate itself.

    Returns:
        What the watch recorded.
    """
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        net, loss = Net(plan), torch.nn.MSELoss()
        x = torch.randn(plan.samples, plan.inputs)
        if plan.strengths:
            y = x[:, : plan.outputs] * torch.tensor(plan.strengths)
        else:
            y = torch.randn(plan.samples, plan.outputs)
        if multiple:
            with adapt(net, loss).at((x, y)) as point:
                rate = multiple * 2 / point.sharpness(None, 1e-3).value
        optimizer = torch.optim.SGD(net.parameters(), rate)
        seen = watch(
            net, loss, every=plan.every, budget=math.inf, store=None, optimizer=optimizer,
            preset=plan.preset,
        )  # fmt: skip
        wrong = plan.steps // 4 + seed % (plan.steps // 2) if plan.bad_batch else -1
        for step in range(plan.steps):
            rows = slice(None) if plan.batch is None else torch.randperm(len(x))[: plan.batch]
            factor = 5.0 if step == wrong else 1.0
            _step(net, loss, optimizer, seen, (x[rows], factor * y[rows]))
        return seen.dataset()


def _step(net: Any, loss: Any, optimizer: Any, seen: Any, batch: tuple) -> None:
    optimizer.zero_grad()
    value = loss(net(batch[0]), batch[1])
    value.backward()
    seen(value, batch=batch)  # before the step: the weights that this loss is of
    optimizer.step()


class Product(torch.nn.Module):
    """Two numbers whose product is the output."""

    def __init__(self, first: float, second: float) -> None:
        super().__init__()
        self.a = torch.nn.Parameter(torch.tensor(first))
        self.b = torch.nn.Parameter(torch.tensor(second))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Of the inputs: a b x."""
        return self.a * self.b * x


def product(seed: int, low: float, high: float) -> xr.Dataset:
    """Descent to a b = 1 on (a b - 1)^2 / 2, whose critical rate is 1, with noisy targets."""
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        rate = low + (high - low) * float(torch.rand(()))
        noise = 0.003 * float(torch.rand(()))
        net = Product(0.9 + 0.2 * float(torch.rand(())), 0.9 + 0.2 * float(torch.rand(())))
        half_square = lambda out, y: ((out - y) ** 2).mean() / 2  # noqa: E731
        optimizer = torch.optim.SGD(net.parameters(), rate)
        seen = watch(net, half_square, every=50, budget=math.inf, store=None, optimizer=optimizer)
        one = torch.ones(1)
        for _ in range(400):
            target = one + 0.05 + noise * torch.randn(1)
            _step(net, half_square, optimizer, seen, (one, target))
        return seen.dataset()


def regression(seed: int, low: float, high: float) -> xr.Dataset:
    """A linear model between two multiples of its critical rate, 60 steps."""
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        multiple = low + (high - low) * float(torch.rand(()))
        net, loss = torch.nn.Linear(5, 1), torch.nn.MSELoss()
        batch = (torch.randn(20, 5), torch.randn(20, 1))
        with adapt(net, loss).at(batch) as point:
            rate = multiple * 2 / point.sharpness(None, 1e-4).value
        optimizer = torch.optim.SGD(net.parameters(), rate)
        seen = watch(net, loss, every=5, budget=math.inf, store=None, optimizer=optimizer)
        for _ in range(60):
            _step(net, loss, optimizer, seen, batch)
        return seen.dataset()


def held_out(seed: int, start: float, overfits: bool = False) -> xr.Dataset:
    """A linear network of torch on two concepts, with its loss on their combination.

    Inputs are a concept each, of strength 1 or 2 with a little noise, and so are the targets;
    the held-out point has both. From a small start the network may swing by.

    Args:
        seed: Of the weights.
        start: Their scale.
        overfits: A held-out target that the network passes on its way and leaves behind.

    Returns:
        The record; `test_loss` has noise, and the attribute `rise` is the largest rise without it.
    """
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        net = torch.nn.Sequential(
            torch.nn.Linear(2, 2, bias=False), torch.nn.Linear(2, 2, bias=False)
        )
        with torch.no_grad():
            for parameter in net.parameters():
                parameter.copy_(start * torch.randn(2, 2))
        x = torch.tensor([[1.0, 0.0], [0.0, 2.0]]).repeat(8, 1)
        x = x + 0.05 * torch.randn_like(x)
        point = torch.tensor([[1.0, 2.0]])
        wanted = 0.5 * point if overfits else point
        loss, exact = torch.nn.MSELoss(), []
        optimizer = torch.optim.SGD(net.parameters(), 0.12)
        seen = watch(net, loss, every=10**6, budget=math.inf, store=None, optimizer=optimizer)
        for _ in range(400):
            optimizer.zero_grad()
            value = loss(net(x), x)
            value.backward()
            with torch.no_grad():
                exact.append(float(loss(net(point), wanted)))
            seen(value, metrics={"test_loss": exact[-1] + 2e-3 * float(torch.randn(()))})
            optimizer.step()
        record = seen.dataset()
        record.attrs["rise"] = float(bump(exact))
        return record
