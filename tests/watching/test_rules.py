"""The critical rate of every rule on a quadratic: below it converges, above it diverges."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import dynascope
from dynascope.watching.rules import UpdateRule
from dynascope.watching.torch_optimizers import rule_of, scaling

pytestmark = pytest.mark.slow  # torch is installed for make test-all alone

CURVATURE = 3.0


class Quadratic(torch.nn.Module):
    """w with the loss curvature / 2 w^2, and a flat direction beside it."""

    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.tensor([1e-3, 0.0], dtype=torch.float64))

    def forward(self):
        return CURVATURE / 2 * self.w[0] ** 2


@pytest.mark.parametrize(
    ("make", "limit"),
    [
        (lambda p, r: torch.optim.SGD(p, r), 2 / CURVATURE),
        (lambda p, r: torch.optim.SGD(p, r, momentum=0.9), 3.8 / CURVATURE),
        (lambda p, r: torch.optim.SGD(p, r, momentum=0.5), 3 / CURVATURE),
        (lambda p, r: torch.optim.SGD(p, r, 0.9, nesterov=True), 3.8 / 2.8 / CURVATURE),
        (lambda p, r: torch.optim.SGD(p, r, 0.9, dampening=0.9), 38 / CURVATURE),
        (lambda p, r: torch.optim.SGD(p, r, 0.9, dampening=0.5), 7.6 / CURVATURE),
    ],
)
def test_descent_grows_above_the_limit_and_shrinks_below(make, limit):
    for share, grows in ((0.95, False), (1.05, True)):
        model = Quadratic()
        optimizer = make(model.parameters(), share * limit)
        assert rule_of(optimizer).limit / CURVATURE == pytest.approx(limit)
        for _ in range(800):
            optimizer.zero_grad()
            model().backward()
            optimizer.step()
        assert (abs(float(model.w[0].detach())) > 1e-3) == grows


@pytest.mark.parametrize(
    ("make", "limit"),
    [
        (lambda p, r: torch.optim.Adam(p, r, betas=(0.9, 0.999)), 38.0),
        (lambda p, r: torch.optim.Adam(p, r, betas=(0.0, 0.999)), 2.0),
        (lambda p, r: torch.optim.NAdam(p, r, betas=(0.9, 0.999)), 38 / 2.8),
        (lambda p, r: torch.optim.RMSprop(p, r, alpha=0.999), 2.0),
        (lambda p, r: torch.optim.RMSprop(p, r, alpha=0.999, momentum=0.9), 3.8),
        (lambda p, r: torch.optim.Adamax(p, r, betas=(0.9, 0.999)), 38.0),
        (lambda p, r: torch.optim.Adagrad(p, r, lr_decay=1e-5), 4.0),
    ],
)
def test_preconditioned_rules_at_frozen_second_moments(make, limit):
    """With the second moment held fixed the rule is descent on the preconditioned loss."""
    for share, grows in ((0.95, False), (1.05, True)):
        model = Quadratic()
        optimizer = make(model.parameters(), 1.0)
        model().backward()
        optimizer.step()
        state = optimizer.state[model.w]
        (name,) = {"exp_avg_sq", "square_avg", "exp_inf", "sum"} & set(state)
        frozen = torch.full_like(model.w, 0.04).detach()
        with torch.no_grad():
            model.w.copy_(torch.tensor([1e-3, 0.0], dtype=torch.float64))
            for key in state:
                if key in ("exp_avg", "momentum_buffer", "mu_product"):
                    state[key].zero_()
                if key == "step":
                    state[key].fill_(100_000)
            state[name].copy_(frozen)
        curvature = CURVATURE * float(scaling(optimizer, model, ["w"], "cpu")[0])
        optimizer.param_groups[0]["lr"] = share * limit / curvature
        assert rule_of(optimizer).limit == pytest.approx(limit, rel=1e-4)
        for _ in range(800):
            optimizer.zero_grad()
            model().backward()
            optimizer.step()
            state[name].copy_(frozen)
        assert (abs(float(model.w[0].detach())) > 1e-3) == grows


@pytest.mark.parametrize(
    ("make", "held"),
    [
        (lambda p: torch.optim.Adam(p, amsgrad=True), {"exp_avg_sq": 0.01, "max_exp_avg_sq": 0.04}),
        (lambda p: torch.optim.RMSprop(p, centered=True), {"square_avg": 0.29, "grad_avg": 0.5}),
    ],
    ids=["amsgrad", "centered"],
)
def test_what_the_rule_divides_by(make, held):
    """The largest second moment, or the variance: the root of 0.04 in both."""
    model = Quadratic()
    optimizer = make(model.parameters())
    model().backward()
    optimizer.step()
    state = optimizer.state[model.w]
    for name, value in held.items():
        state[name].fill_(value)
    state["step"].fill_(100_000)
    assert scaling(optimizer, model, ["w"], "cpu").tolist() == pytest.approx([5, 5], rel=1e-5)


def test_groups_of_different_rates_scale_the_curvature():
    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
    groups = [
        {"params": net[0].parameters(), "lr": 0.1},
        {"params": net[1].parameters(), "lr": 0.3},
    ]
    names = [name for name, _ in net.named_parameters()]
    found = scaling(torch.optim.SGD(groups), net, names, "cpu")
    assert found.tolist() == pytest.approx([1.0] * 6 + [3.0] * 3)


COUPLED = np.array([[3.0, 1.0, 0.5], [1.0, 2.0, -0.7], [0.5, -0.7, 4.0]])


class Three(torch.nn.Module):
    """Three weights of one coupled quadratic, each a group of its own."""

    def __init__(self):
        super().__init__()
        make = lambda: torch.nn.Parameter(torch.full((1,), 1e-3, dtype=torch.float64))  # noqa: E731
        self.parts = torch.nn.ParameterList([make() for _ in range(3)])

    def forward(self):
        w = torch.cat(list(self.parts))
        return w @ torch.tensor(COUPLED) @ w / 2


def sgd_groups(parts, factor):
    settings = [
        {"momentum": 0.9, "lr": 0.1},
        {"momentum": 0.0, "lr": 0.03},
        {"momentum": 0.5, "lr": 0.06, "nesterov": True},
    ]
    groups = [{"params": [p], **s, "lr": factor * s["lr"]} for p, s in zip(parts, settings)]
    return torch.optim.SGD(groups, lr=1.0), {}


def adam_groups(parts, factor):
    """With moments as after many steps, different ones for each."""
    settings = [
        {"betas": (0.9, 0.999), "lr": 0.1},
        {"betas": (0.0, 0.999), "lr": 0.02},
        {"betas": (0.5, 0.999), "lr": 0.1},
    ]
    groups = [{"params": [p], **s, "lr": factor * s["lr"]} for p, s in zip(parts, settings)]
    optimizer = torch.optim.Adam(groups)
    held = dict(zip(parts, (0.04, 0.01, 0.25)))
    for p, value in held.items():
        optimizer.state[p] = {
            "step": torch.tensor(100_000.0),
            "exp_avg": torch.zeros_like(p.detach()),
            "exp_avg_sq": torch.full_like(p.detach(), value),
        }
    return optimizer, held


@pytest.mark.parametrize("make", [sgd_groups, adam_groups])
def test_groups_with_rules_of_their_own_share_one_limit(make):
    """All rates scaled alike, a coupled quadratic diverges from the stated rate on."""
    names = [f"parts.{i}" for i in range(3)]
    model = Three()
    optimizer, _ = make(list(model.parts), 1.0)
    rule, root = rule_of(optimizer), scaling(optimizer, model, names, "cpu").sqrt().double().numpy()
    assert "first of 3 groups" in rule.words()
    top = np.linalg.eigvalsh(root[:, None] * COUPLED * root)[-1]
    critical = rule.limit / top / optimizer.param_groups[0]["lr"]
    for share, grows in ((0.98, False), (1.02, True)):
        model = Three()
        optimizer, held = make(list(model.parts), share * critical)
        for _ in range(1500):
            optimizer.zero_grad()
            model().backward()
            optimizer.step()
            for p, value in held.items():
                optimizer.state[p]["exp_avg_sq"].fill_(value)
        size = max(abs(float(p.detach())) for p in model.parts)
        assert size > 1e-2 if grows else size < 1e-4


def test_early_steps_of_adam_have_a_limit_of_their_own():
    """Momentum is divided by 1 - b^t: after one step the gradient counts in full."""
    model = Quadratic()
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.999))
    for steps in (1, 2, 3):
        model().backward()
        optimizer.step()
        filled = 1 - 0.9**steps
        assert rule_of(optimizer).limit == pytest.approx(38 * filled, rel=1e-6)


def test_a_rule_that_is_not_known_has_no_critical_rate_and_says_so():
    net = torch.nn.Linear(2, 1)
    optimizer = torch.optim.RAdam(net.parameters())
    watch = dynascope.watch(
        net, torch.nn.MSELoss(), every=1, store=None, strict=True, optimizer=optimizer
    )
    watch(1.0, batch=(torch.randn(4, 2), torch.randn(4, 1)))
    data = watch.dataset()
    assert np.isfinite(data["sharpness"][0]) and np.isnan(data["critical_learning_rate"][0])
    assert "Critical rate: not known for RAdam" in watch.summary()


def test_words_say_for_whom():
    assert UpdateRule("SGD with momentum 0.9", 0.9).words() == (
        "3.8 / sharpness, for SGD with momentum 0.9"
    )
