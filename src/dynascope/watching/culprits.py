"""Which module of a torch model cannot be differentiated twice?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


def first_without_second_derivative(model: torch.nn.Module, call: Callable[[], None]) -> str | None:
    """The name of the first innermost module whose double backward pass fails, or None.

    Args:
        model: The model, on whose modules hooks are set for the time of one call.
        call: Calls it once.

    Returns:
        Such as "encoder.3 (Roll)"; None if every module can, so that the loss is to blame.
    """
    seen: list[tuple[str, Any]] = []
    inner = [(n, m) for n, m in model.named_modules() if not any(True for _ in m.children())]

    def watcher(name: str) -> Callable:
        def hook(module: torch.nn.Module, inputs: tuple, output: Any) -> None:
            seen.append((f"{name} ({type(module).__name__})", (module, inputs)))

        return hook

    hooks = [module.register_forward_hook(watcher(name)) for name, module in inner]
    try:
        call()
    finally:
        for hook in hooks:
            hook.remove()
    return next((name for name, (m, inputs) in seen if not _twice(m, inputs)), None)


def _twice(module: torch.nn.Module, inputs: tuple) -> bool:
    leaves = [
        x.detach().requires_grad_() if isinstance(x, torch.Tensor) and x.is_floating_point() else x
        for x in inputs
    ]
    wanted = [x for x in leaves if isinstance(x, torch.Tensor) and x.requires_grad]
    output = module(*leaves)
    if not wanted or not isinstance(output, torch.Tensor) or not output.requires_grad:
        return True
    try:
        first = torch.autograd.grad((output**2).sum(), wanted, create_graph=True)
        curved = [g for g in first if g.requires_grad]
        if any(ends_in_error(g.grad_fn) for g in curved):
            return False
        if curved:
            torch.autograd.grad([g.sum() for g in curved], wanted, allow_unused=True)
    except RuntimeError:
        return False
    return True


def ends_in_error(graph: Any) -> bool:
    """Whether a part of a gradient's graph, given by its last node, refuses to be differentiated.

    torch marks the result of a function that can be differentiated once only by a node that raises.
    Asked for the derivative by certain inputs, it does not go there, and leaves the part out in
    silence: so the graph is looked through instead.
    """
    waiting, seen = [graph], set()
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if "Error" in type(node).__name__ or "Error" in node.name():
            return True
        waiting += [following for following, _ in node.next_functions]
    return False
