"""What an optimiser of torch says about itself: rates of its groups, rule, preconditioner."""

from __future__ import annotations

from typing import Any

import torch

from dynascope.watching.rules import UpdateRule


def rule_of(optimizer: torch.optim.Optimizer) -> UpdateRule:
    """The rule of a known optimiser; plain descent, said so, for others."""
    group = optimizer.param_groups[0]
    if isinstance(optimizer, torch.optim.SGD):
        momentum = float(group["momentum"])
        name = "SGD" if not momentum else f"SGD with momentum {momentum:g}"
        dampening = float(group["dampening"]) if momentum else 0.0  # torch has none without
        return UpdateRule(name, momentum, bool(group["nesterov"]), dampening)
    if isinstance(optimizer, torch.optim.Adam | torch.optim.AdamW | torch.optim.NAdam):
        b = float(group["betas"][0])
        ahead = isinstance(optimizer, torch.optim.NAdam)
        return UpdateRule(type(optimizer).__name__, b, ahead, dampening=b, preconditioned=True)
    if isinstance(optimizer, torch.optim.RMSprop):
        b = float(group["momentum"])
        return UpdateRule("RMSprop", b, preconditioned=True)
    return UpdateRule(f"{type(optimizer).__name__} taken as plain descent")


def rates(optimizer: torch.optim.Optimizer) -> list[float]:
    """The learning rate of each group."""
    return [float(group["lr"]) for group in optimizer.param_groups]


def scaling(
    optimizer: torch.optim.Optimizer, module: torch.nn.Module, names: list[str], device: Any
) -> torch.Tensor | None:
    """D, one number per parameter: its group's rate over the first one's, over the preconditioner.

    None before the first step of a preconditioned rule, and where all are 1.
    """
    groups = {id(p): group for group in optimizer.param_groups for p in group["params"]}
    first = float(optimizer.param_groups[0]["lr"]) or 1.0
    rule = rule_of(optimizer)
    if not rule.preconditioned and len({float(g["lr"]) for g in optimizer.param_groups}) == 1:
        return None
    parts = []
    for name in names:
        p = module.get_parameter(name)
        group = groups.get(id(p))
        if group is None:  # not trained by this optimiser
            parts.append(torch.zeros(p.numel(), device=device))
            continue
        share = torch.full((p.numel(),), float(group["lr"]) / first, device=device)
        if rule.preconditioned:
            root = _root_of_second_moment(optimizer.state.get(p, {}), group)
            if root is None:
                return None
            share /= root.reshape(-1)
        parts.append(share)
    return torch.cat(parts)


def _root_of_second_moment(state: dict, group: dict) -> torch.Tensor | None:
    """sqrt(v) + eps as the rule divides by it."""
    if "exp_avg_sq" in state:
        step = float(state["step"])
        correction = 1 - group["betas"][1] ** step
        square = state.get("max_exp_avg_sq", state["exp_avg_sq"])  # the largest, for amsgrad
        return (square / correction).sqrt_().add_(group["eps"])
    if "square_avg" in state:
        square = state["square_avg"]
        if "grad_avg" in state:  # centered: the variance of the gradient
            square = square.addcmul(state["grad_avg"], state["grad_avg"], value=-1)
        return square.sqrt().add_(group["eps"])
    return None
