"""A torch model at its present weights, seen on one batch: loss, gradient, exact products.

The model is called through `torch.func.functional_call` with parameters and buffers of our own,
so nothing of the user's is written to: not `.grad`, not the statistics of batch norm. Parameters
are not copied (half precision is widened to float32); the graph of the gradient is built once,
and every product with the Hessian is one more backward pass through it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import torch
from torch.func import functional_call

from dynascope.core.errors import BadInput, bad
from dynascope.watching.culprits import ends_in_error, first_without_second_derivative
from dynascope.watching.eigenpairs import Eigenpair, top_eigenpair
from dynascope.watching.quiet import has_dropout, undisturbed, widened

LARGEST_AGOP = 4096  # inputs; the matrix has their square


class TorchModel:
    """A module and its loss.

    Args:
        model: Its parameters that require a gradient are what is watched.
        loss: `loss(outputs, targets)`, or None for models that return their own (`.loss`).
    """

    def __init__(self, model: torch.nn.Module, loss: Callable | None) -> None:
        self.module, self.loss = model, loss
        self.names = [name for name, p in model.named_parameters() if p.requires_grad]
        if not self.names:
            raise bad("model", type(model).__name__, "a module with parameters to train")
        first = model.get_parameter(self.names[0])
        self.device = first.device
        self.size = sum(model.get_parameter(name).numel() for name in self.names)
        self.notes = ["Measured without dropout."] if has_dropout(model) else []

    def about(self) -> dict[str, Any]:
        """What the record's settings say of it."""
        return {"model": type(self.module).__name__, "parameters": self.size}

    def weights(self) -> dict[str, torch.Tensor]:
        """The parameters as they are now, by name, not copied."""
        return {name: self.module.get_parameter(name).detach() for name in self.names}

    @contextmanager
    def at(self, batch: Any, params: Any = None) -> Iterator[TorchPoint]:
        """The model on a batch; `params` is for models without weights of their own."""
        self.check(batch)
        with undisturbed(self.module, self.device):
            yield TorchPoint(self, widened(batch))

    def check(self, batch: Any) -> None:
        """Raise in one line for a batch that this model cannot be called with."""
        if self.loss is None:
            if not isinstance(batch, Mapping):
                raise bad("batch", type(batch).__name__, "the model's keyword arguments",
                          "or give watch a loss(outputs, targets) and (x, y)")  # fmt: skip
            tensors = [v for v in batch.values() if isinstance(v, torch.Tensor)]
        else:
            if not isinstance(batch, tuple | list) or len(batch) != 2:
                raise bad("batch", type(batch).__name__, "(inputs, targets)")
            tensors = [v for v in _flat(batch) if isinstance(v, torch.Tensor)]
        for tensor in tensors:
            if tensor.device != self.device:
                raise bad("batch", f"a tensor on {tensor.device}", f"on {self.device}",
                          "move it to where the model is")  # fmt: skip

    def check_second_derivative(self, point: TorchPoint) -> None:
        """Raise, naming the module, if a part of the model cannot be differentiated twice."""
        try:
            point.hessian_product(torch.ones(self.size, device=self.device))
            once = ends_in_error(point.gradient)
        except RuntimeError:
            once = True
        if once:
            culprit = first_without_second_derivative(self.module, point.call_again)
            raise BadInput(
                f"{culprit or 'the loss'} has no second derivative, so the curvature of this model "
                "cannot be measured; write that part with torch's own functions"
            )

    def call(self, params: dict, buffers: dict, batch: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """Outputs and loss."""
        if self.loss is None:
            found = functional_call(self.module, {**params, **buffers}, (), dict(batch))
            return found.logits, found.loss
        x, y = batch
        inputs = tuple(x) if isinstance(x, tuple | list) else (x,)
        outputs = functional_call(self.module, {**params, **buffers}, inputs)
        return outputs, self.loss(outputs, y)


class TorchPoint:
    """Everything a probe may ask for; each is worked out when first asked."""

    def __init__(self, owner: TorchModel, batch: Any) -> None:
        self._owner, self._batch = owner, batch
        weights = {name: widened(w).requires_grad_() for name, w in owner.weights().items()}
        frozen = {
            name: widened(p.detach())
            for name, p in owner.module.named_parameters()
            if name not in weights
        }
        buffers = {name: widened(b).clone() for name, b in owner.module.named_buffers()}
        self._params = weights
        self._fixed = {**frozen, **buffers}
        self._outputs, loss = owner.call(weights, self._fixed, batch)
        if not isinstance(loss, torch.Tensor) or loss.numel() != 1:
            shape = tuple(loss.shape) if isinstance(loss, torch.Tensor) else type(loss).__name__
            raise bad("loss", shape, "a single number", "take its mean over the batch")
        self._loss = loss.reshape(())
        if not self._loss.requires_grad:
            raise bad("loss", "a number that does not depend on the parameters", "one that does")

    def call_again(self) -> None:
        """Run the model once more, for hooks to look at."""
        self._owner.call(self._params, self._fixed, self._batch)

    @property
    def loss(self) -> float:
        """The loss on the batch, without dropout."""
        return float(self._loss.detach())

    @cached_property
    def gradient(self) -> torch.Tensor:
        """The gradient as one vector, part of a graph, so that it can be differentiated."""
        found = torch.autograd.grad(
            self._loss, tuple(self._params.values()), create_graph=True, allow_unused=True
        )
        return _vector(found, self._params)

    @property
    def gradient_norm(self) -> float:
        """Its length."""
        return float(self.gradient.detach().norm())

    def hessian_product(self, v: torch.Tensor) -> torch.Tensor:
        """H v for the Hessian H of the loss on the batch."""
        if not self.gradient.requires_grad:
            return torch.zeros_like(v)
        found = torch.autograd.grad(
            self.gradient, tuple(self._params.values()), v, retain_graph=True, allow_unused=True
        )
        return _vector(found, self._params).detach()

    def sharpness(
        self, start: Any, tolerance: float, scaling: torch.Tensor | None = None
    ) -> Eigenpair:
        """The largest eigenvalue of H, or of D^(1/2) H D^(1/2) for a positive `scaling` D.

        Args:
            start: The last vector, or None for a random one.
            tolerance: Largest residual that counts as converged.
            scaling: One number per parameter: rates over preconditioner.

        Returns:
            The eigenpair with its residual.
        """
        root = None if scaling is None else scaling.sqrt()

        def multiply(v: torch.Tensor) -> torch.Tensor:
            return (
                self.hessian_product(v) if root is None else root * self.hessian_product(root * v)
            )

        return top_eigenpair(multiply, self._start(start, self._owner.size), tolerance)

    @cached_property
    def output_gradient(self) -> torch.Tensor:
        """dL/df for every output f on the batch, as one vector."""
        (found,) = torch.autograd.grad(self._loss, self._outputs, retain_graph=True)
        return found.reshape(-1)

    @cached_property
    def _pullback(self) -> tuple[torch.Tensor, torch.Tensor]:
        """(v, J^T v) as a graph that is linear in v: its transpose is the product with J."""
        v = torch.zeros_like(self._outputs, requires_grad=True)
        found = torch.autograd.grad(
            self._outputs, tuple(self._params.values()), v, create_graph=True, allow_unused=True
        )
        return v, _vector(found, self._params)

    def kernel_product(self, u: torch.Tensor) -> torch.Tensor:
        """K u = J J^T u for the tangent kernel of the batch's outputs."""
        pulled = torch.autograd.grad(
            self._outputs, tuple(self._params.values()), u.reshape(self._outputs.shape),
            retain_graph=True, allow_unused=True,
        )  # fmt: skip
        v, image = self._pullback
        (found,) = torch.autograd.grad(image, v, _vector(pulled, self._params), retain_graph=True)
        return found.reshape(-1)

    def like_outputs(self, numbers: Any) -> torch.Tensor:
        """Plain numbers as a vector of the outputs' kind."""
        like = self._outputs
        return torch.as_tensor(numbers, dtype=like.dtype, device=like.device)

    def kernel_top(self, starts: Any, count: int, tolerance: float) -> list[Eigenpair]:
        """The largest eigenvalues of the tangent kernel, each orthogonal to those before."""
        pairs: list[Eigenpair] = []
        size = self._outputs.numel()
        for i in range(min(count, size)):
            known = [pair.vector for pair in pairs]

            def multiply(v: torch.Tensor, known: list = known) -> torch.Tensor:
                return _without(known, self.kernel_product(_without(known, v)))

            begin = _without(known, self._start(None if starts is None else starts[i], size))
            pairs.append(top_eigenpair(multiply, begin, tolerance))
        return pairs

    def agop(self) -> torch.Tensor | None:
        """The average over the batch of (df/dx)^T (df/dx): inputs x inputs; None for tokens."""
        if self._owner.loss is None:
            return None
        x, _ = self._batch
        if not isinstance(x, torch.Tensor) or not x.is_floating_point():
            return None
        inputs = x[0].numel()
        if inputs > LARGEST_AGOP:
            raise bad("inputs", inputs, f"at most {LARGEST_AGOP} for the gradient outer product")
        x = x.detach().requires_grad_()
        outputs, _ = self._owner.call(self._params, self._fixed, (x, self._batch[1]))
        rows = outputs.reshape(len(x), -1)
        total = x.new_zeros((inputs, inputs))
        for column in range(rows.shape[1]):
            (found,) = torch.autograd.grad(rows[:, column].sum(), x, retain_graph=True)
            flat = found.reshape(len(x), -1)
            total += flat.T @ flat / len(x)
        return total

    def _start(self, start: Any, size: int) -> torch.Tensor:
        like = self._outputs
        drawn = torch.randn(size, dtype=torch.float32, device=like.device)
        drawn = drawn / drawn.norm()
        # A tenth of chance finds a vector that has overtaken the known one.
        return drawn if start is None else start / start.norm() + 0.1 * drawn


def _vector(parts: Any, params: dict[str, torch.Tensor]) -> torch.Tensor:
    """Gradients as one vector; zeros for parameters that the loss does not use."""
    return torch.cat([
        (torch.zeros_like(p) if g is None else g).reshape(-1)
        for g, p in zip(parts, params.values(), strict=True)
    ])


def _without(known: list[torch.Tensor], v: torch.Tensor) -> torch.Tensor:
    for vector in known:
        v = v - (vector @ v) * vector
    return v


def _flat(batch: Any) -> list:
    if isinstance(batch, tuple | list):
        return [item for part in batch for item in _flat(part)]
    return [batch]
