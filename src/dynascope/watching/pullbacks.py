"""Backward passes for several vectors at once: weights are read once for all of them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import torch

# That a block of results may hold: where those of one vector fill it, larger blocks save nothing,
# and their memory is new to the process each time.
NUMBERS = 2**20


def pull(
    outputs: Sequence[torch.Tensor],
    inputs: Sequence[torch.Tensor],
    block: Sequence[torch.Tensor],
) -> list[torch.Tensor]:
    """J^T u for every u of a block, J the derivative of outputs by inputs.

    A part of the model that torch cannot map over vectors (a function with a backward pass of the
    user's own) is gone through once for each.

    Args:
        outputs: Tensors that depend on all inputs.
        inputs: What they depend on.
        block: For each output a tensor of vectors, the first axis counting them.

    Returns:
        For each input a tensor of results, the first axis counting them.

    Example:
        >>> x = torch.ones(2, requires_grad=True)
        >>> pull([3 * x], [x], [torch.tensor([[1.0, 0.0], [0.0, 2.0]])])[0].tolist()
        [[3.0, 0.0], [0.0, 6.0]]
    """
    if len(block[0]) > 1:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of parts that it maps slowly
                return list(torch.autograd.grad(
                    outputs, inputs, block, retain_graph=True, is_grads_batched=True
                ))  # fmt: skip
        except RuntimeError:
            pass
    found = [
        torch.autograd.grad(outputs, inputs, vectors, retain_graph=True)
        for vectors in zip(*block, strict=True)
    ]
    if len(found) == 1:
        return [part[None] for part in found[0]]
    return [torch.stack(parts) for parts in zip(*found, strict=True)]
