"""What an optimiser of torch says about itself: rates of its groups, rules, preconditioner."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import torch

from dynascope.watching.rules import UpdateRule, averages, sums


def rule_of(optimizer: torch.optim.Optimizer) -> UpdateRule:
    """The rule of the first group, as it is after the steps so far.

    Where another group has a rule of its own, the name says so: `scaling` has the ratio of the two.
    """
    first, *others = [_rule(optimizer, group) for group in optimizer.param_groups]
    if all(math.isclose(rule.limit, first.limit, rel_tol=1e-6) for rule in others):
        return first
    told = f"{first.name} in the first of {1 + len(others)} groups, each by its own rule"
    return replace(first, name=told)


def _rule(optimizer: torch.optim.Optimizer, group: dict) -> UpdateRule:
    state = _state(optimizer, group)
    steps = float(state.get("step", 1))
    name = type(optimizer).__name__
    match optimizer:
        case torch.optim.SGD():
            b = float(group["momentum"])
            name = f"SGD with momentum {b:g}" if b else "SGD"
            name += " (Nesterov)" if group["nesterov"] else ""
            return sums(name, b, bool(group["nesterov"]), float(group["dampening"]))
        case torch.optim.NAdam():
            return _nesterov_adam(group, steps, float(state.get("mu_product", 0.0)))
        case torch.optim.Adam() | torch.optim.AdamW() | torch.optim.Adamax():
            return averages(name, float(group["betas"][0]), steps)
        case torch.optim.RMSprop():
            return replace(sums(name, float(group["momentum"]), False), preconditioned=True)
        case torch.optim.Adagrad():
            slower = 1 + (steps - 1) * float(group["lr_decay"])
            return UpdateRule(name, through=1 / slower, preconditioned=True)
    return UpdateRule(name, through=math.nan)


def _nesterov_adam(group: dict, steps: float, product: float) -> UpdateRule:
    """The momentum that is looked ahead with grows over some ten thousand steps."""
    b = float(group["betas"][0])
    now, ahead = (
        b * (1 - 0.5 * 0.96 ** (step * float(group["momentum_decay"])))
        for step in (steps, steps + 1)
    )
    direct, through = (1 - now) / (1 - product), ahead / (1 - product * ahead)
    return UpdateRule("NAdam", b, 1 - b, direct, through, preconditioned=True)


def scaling(
    optimizer: torch.optim.Optimizer, module: torch.nn.Module, names: list[str], device: Any
) -> torch.Tensor | None:
    """D, one number per parameter: what its group does to a gradient over what the first one does.

    That is rate over limit, divided by the preconditioner. None before the first step of a
    preconditioned rule, and where all are 1.
    """
    rules = [_rule(optimizer, group) for group in optimizer.param_groups]
    paces = [float(g["lr"]) / rule.limit for g, rule in zip(optimizer.param_groups, rules)]
    preconditioned, first = rules[0].preconditioned, paces[0] or 1.0
    alike = all(math.isclose(pace, paces[0], rel_tol=1e-6) for pace in paces)
    if math.isnan(first) or (alike and not preconditioned):
        return None
    groups = {
        id(p): (group, pace / first)
        for group, pace in zip(optimizer.param_groups, paces)
        for p in group["params"]
    }
    sizes = [module.get_parameter(name).numel() for name in names]
    whole = torch.empty(sum(sizes), device=device)
    for name, place in zip(names, whole.split(sizes), strict=True):
        p = module.get_parameter(name)
        group, pace = groups.get(id(p), ({}, 0.0))  # zero where this optimiser trains nothing
        if not preconditioned or not group:
            place.fill_(pace)
        elif _put_root_of_second_moment(place, optimizer.state.get(p, {}), group):
            place.reciprocal_().mul_(pace)
        else:
            return None
    return whole


def _state(optimizer: torch.optim.Optimizer, group: dict) -> dict:
    """That of a parameter of the group which has been moved already."""
    moved = (optimizer.state[p] for p in group["params"] if p in optimizer.state)
    return next((state for state in moved if "step" in state), {})


def _put_root_of_second_moment(place: torch.Tensor, state: dict, group: dict) -> bool:
    """Put sqrt(v) + eps, as the rule divides by it, in a place; whether there is such a thing.

    In place: memory beside a search is short.
    """
    if "exp_inf" in state:  # Adamax: the largest gradient, which has eps in it
        place.copy_(state["exp_inf"].reshape(-1))
        return True
    if "exp_avg_sq" in state:
        square = state.get("max_exp_avg_sq", state["exp_avg_sq"])  # the largest, for amsgrad
        place.copy_(square.reshape(-1)).div_(1 - group["betas"][1] ** float(state["step"]))
    elif "square_avg" in state:
        place.copy_(state["square_avg"].reshape(-1))
        if "grad_avg" in state:  # centered: the variance of the gradient
            mean = state["grad_avg"].reshape(-1).to(place.dtype)
            place.addcmul_(mean, mean, value=-1)
    elif "sum" in state and state["step"]:  # Adagrad
        place.copy_(state["sum"].reshape(-1))
    else:
        return False
    place.sqrt_().add_(group["eps"])
    return True
