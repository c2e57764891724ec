"""The critical rate of every rule on a quadratic: below it converges, above it diverges."""

from __future__ import annotations

import pytest
import torch

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
        name = "exp_avg_sq" if "exp_avg_sq" in state else "square_avg"
        frozen = torch.full_like(model.w, 0.04).detach()
        with torch.no_grad():
            model.w.copy_(torch.tensor([1e-3, 0.0], dtype=torch.float64))
            for key in state:
                if key in ("exp_avg", "momentum_buffer"):
                    state[key].zero_()
                if key == "step":
                    state[key].fill_(100_000)
            state[name].copy_(frozen)
        curvature = CURVATURE * float(scaling(optimizer, model, ["w"], "cpu")[0])
        optimizer.param_groups[0]["lr"] = share * limit / curvature
        assert rule_of(optimizer).limit == pytest.approx(limit)
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


def test_words_say_for_whom():
    assert UpdateRule("SGD with momentum 0.9", 0.9).words() == (
        "3.8 / sharpness, for SGD with momentum 0.9"
    )
