"""Run somebody's torch model inside a probe without a trace in their training run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel


@contextmanager
def undisturbed(model: torch.nn.Module, device: torch.device) -> Iterator[None]:
    """Modes, random numbers and autocast are as before afterwards; attention can be differentiated.

    Within it, modules are in evaluation mode (no dropout), except for normalisations over the
    batch, which keep the mode of the loop and so use the batch's statistics while training.
    The fused attention kernels have no second derivative: the plain one is used.
    """
    modes = [(module, module.training) for module in model.modules()]
    fast = torch.backends.mha.get_fastpath_enabled()
    accelerators = [device] if device.type == "cuda" else []
    try:
        for module, training in modes:
            module.training = training and _takes_batch_statistics(module)
        torch.backends.mha.set_fastpath_enabled(False)
        with ExitStack() as stack:
            stack.enter_context(torch.random.fork_rng(accelerators))
            stack.enter_context(sdpa_kernel(SDPBackend.MATH))
            stack.enter_context(torch.autocast(device.type, enabled=False))
            stack.enter_context(torch.enable_grad())
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
        for module, training in modes:
            module.training = training


def has_dropout(model: torch.nn.Module) -> bool:
    """Whether evaluation mode leaves something out that training has."""
    rates = [getattr(m, "p", 0) for m in model.modules() if "Dropout" in type(m).__name__]
    rates += [getattr(m, "dropout", 0) for m in model.modules()]
    return any(isinstance(rate, float | int) and rate > 0 for rate in rates)


def _takes_batch_statistics(module: torch.nn.Module) -> bool:
    return isinstance(module, torch.nn.modules.batchnorm._NormBase)


def widened(value: Any) -> Any:
    """A tree of tensors with half-precision numbers as float32; others as they are."""
    if isinstance(value, torch.Tensor):
        half = value.is_floating_point() and value.dtype not in (torch.float32, torch.float64)
        return value.float() if half else value
    if isinstance(value, Mapping):
        return {key: widened(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return type(value)(widened(item) for item in value)
    return value
