"""A torch model at its present weights, seen on one batch: loss, gradient, exact products.

The model is called through `torch.func.functional_call` with parameters and buffers of our own,
so nothing of the user's is written to: not `.grad`, not the statistics of batch norm. Parameters
are not copied (half precision is widened to float32); the graph of the gradient is built once,
and every product with the Hessian is one more backward pass through it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property, reduce
from typing import Any

import torch
from torch.autograd.graph import get_gradient_edge
from torch.func import functional_call

from dynascope.core.errors import BadInput, bad
from dynascope.watching.culprits import ends_in_error, first_without_second_derivative
from dynascope.watching.eigenpairs import BASIS, TOLERANCE, Eigenpair, top_eigenpair
from dynascope.watching.pullbacks import NUMBERS, pull
from dynascope.watching.quiet import has_dropout, undisturbed, widened
from dynascope.watching.rules import UpdateRule
from dynascope.watching.spectrum import Spectrum, top_spectrum
from dynascope.watching.torch_optimizers import rule_of, scaling

CHANCES = 4096  # random numbers in a start that is known
Pullback = tuple[list[torch.Tensor], torch.Tensor, list[torch.Tensor]]


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
        self._room: torch.Tensor | None = None

    def about(self) -> dict[str, Any]:
        """What the record's settings say of it."""
        return {"model": type(self.module).__name__, "parameters": self.size}

    def weights(self) -> dict[str, torch.Tensor]:
        """The parameters as they are now, by name, not copied."""
        return {name: self.module.get_parameter(name).detach() for name in self.names}

    @staticmethod
    def rate(given: Any, now: Any) -> float:
        """Of the first group of the optimiser, now or given before; NaN without one."""
        groups = getattr(given if now is None else now, "param_groups", None)
        return float(groups[0]["lr"]) if groups else math.nan

    def read_rule(
        self, given: Any, now: Any, rate: float
    ) -> tuple[UpdateRule, torch.Tensor | None]:
        """The rule of the optimiser, now or given before, and D^(1/2) if it scales the curvature.

        Args:
            given: The optimiser of the run, or None.
            now: The optimiser of this step, or None.
            rate: Not used: the optimiser knows.

        Returns:
            The rule and the root.
        """
        optimizer = given if now is None else now
        if not hasattr(optimizer, "param_groups"):
            raise bad("optimizer", type(optimizer).__name__, "a torch.optim.Optimizer")
        found = scaling(optimizer, self.module, self.names, self.device)
        return rule_of(optimizer), None if found is None else found.sqrt_()

    def room(self, dtype: torch.dtype) -> torch.Tensor:
        """Where searches keep their bases; made once."""
        if self._room is None or self._room.dtype != dtype:
            self._room = torch.empty(BASIS + 1, self.size, dtype=dtype, device=self.device)
        return self._room

    @staticmethod
    def top_square(matrix: torch.Tensor, start: Any) -> tuple[float, Any]:
        """The largest squared singular value of a matrix, and where to start from next time.

        The search begins at the sum of the columns, and later at the last vector with a tenth of
        that: whatever has overtaken it has a share there.
        """
        wide = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T
        wide = wide.float()
        begin = wide.sum(1) + wide[:, 0]
        if start is not None:
            begin = start + 0.1 * begin / begin.norm().clamp_min(1e-30)
        found = top_eigenpair(lambda v, out: torch.mv(wide, v @ wide, out=out), begin, TOLERANCE)
        return found.value, found.vector

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
            some = torch.ones(self.size, dtype=point.dtype, device=self.device)
            point.hessian_product(some, torch.empty_like(some))
            once = not point.twice_differentiable
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
        self._pulling: Pullback | None = None
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
    def _slopes(self) -> tuple[torch.Tensor, list[Any]]:
        """The gradient's length, and for each parameter the place in the graph where it leaves.

        Products need that place alone, so the gradient itself is not kept.
        """
        found = torch.autograd.grad(
            self._loss, tuple(self._params.values()), create_graph=True, allow_unused=True
        )
        parts = [g.detach().norm() for g in found if g is not None]
        edges = [get_gradient_edge(g) if g is not None and g.requires_grad else None for g in found]
        return torch.stack(parts).norm(), edges

    @property
    def gradient_norm(self) -> float:
        """Length of the gradient."""
        return float(self._slopes[0])

    @property
    def twice_differentiable(self) -> bool:
        """Whether every part of the gradient's graph can be differentiated."""
        return not any(ends_in_error(edge.node) for edge in self._slopes[1] if edge is not None)

    @property
    def dtype(self) -> torch.dtype:
        """Of vectors over all parameters."""
        return reduce(torch.promote_types, [p.dtype for p in self._params.values()])

    def _parts(self, v: torch.Tensor) -> list[torch.Tensor]:
        """A vector over all parameters in their shapes, not copied."""
        params = self._params.values()
        cut = v.split([p.numel() for p in params])
        return [part.view_as(p) for part, p in zip(cut, params, strict=True)]

    def hessian_product(self, v: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
        """H v into `out`, for the Hessian H of the loss on the batch; `out` may be v."""
        params = tuple(self._params.values())
        given = zip(self._slopes[1], self._parts(v), params, strict=True)
        used = [(edge, part.to(p.dtype)) for edge, part, p in given if edge is not None]
        if not used:
            return out.zero_()
        edges, parts = zip(*used, strict=True)
        found = torch.autograd.grad(edges, params, parts, retain_graph=True, allow_unused=True)
        for place, new in zip(self._parts(out), found, strict=True):
            place.zero_() if new is None else place.copy_(new)
        return out

    def sharpness(
        self, start: Any, tolerance: float, root: torch.Tensor | None = None, most: int = BASIS
    ) -> Eigenpair:
        """The largest eigenvalue of H, or of D^(1/2) H D^(1/2) for a positive diagonal D.

        Args:
            start: The last vector, which is used up; None for a random one.
            tolerance: Largest residual that counts as converged.
            root: D^(1/2), one number per parameter; D is rates over preconditioner.
            most: Vectors that the search keeps before it restarts.

        Returns:
            The eigenpair with its residual.
        """
        room, begin = self._owner.room(self.dtype)[: most + 1], self._begin(start)
        if root is None:
            return top_eigenpair(self.hessian_product, begin, tolerance, room=room)
        factors = root

        def scaled(v: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
            return self.hessian_product(torch.mul(factors, v, out=out), out).mul_(factors)

        return top_eigenpair(scaled, begin, tolerance, room=room)

    def _begin(self, last: torch.Tensor | None) -> torch.Tensor:
        """Where the search for the sharpness starts: chance, or the last vector.

        The last vector, if it is still an eigenvector, would never let another one be seen that
        has overtaken it: in place it is given a tenth of chance, at some thousand places. What
        leads by little can still be missed, as `numerics.eigenpairs.starts` says.
        """
        if last is None:
            return torch.randn(self._owner.size, dtype=self.dtype, device=self._owner.device)
        places = last[:: -(-self._owner.size // CHANCES)]
        drawn = torch.randn_like(places)
        places.add_(drawn, alpha=0.1 / float(drawn.norm()))
        return last

    @cached_property
    def output_gradient(self) -> torch.Tensor:
        """dL/df for every output f on the batch, as one vector."""
        (found,) = torch.autograd.grad(self._loss, self._outputs, retain_graph=True)
        return found.reshape(-1)

    def _pullback(self, v: torch.Tensor) -> Pullback:
        """Parameters that outputs use, v, and J^T v for them as a graph that is linear in v."""
        v = v.detach().clone().requires_grad_()
        params = tuple(self._params.values())
        found = torch.autograd.grad(self._outputs, params, v, create_graph=True, allow_unused=True)
        used = [(p, g) for p, g in zip(params, found, strict=True) if g is not None]
        return [p for p, _ in used], v, [g for _, g in used]

    def kernel_products(self, block: torch.Tensor) -> torch.Tensor:
        """K u = J J^T u for every row u, K the tangent kernel: J is J^T transposed."""
        vectors, found = block.reshape(-1, *self._outputs.shape), []
        if self._pulling is None:  # the graph is made with the first vector, which has then its J^T
            self._pulling = self._pullback(vectors[0])
            _, v, pulling = self._pulling
            found += pull(pulling, [v], [part.detach()[None] for part in pulling])
            vectors = vectors[1:]
        params, v, pulling = self._pulling
        for part in vectors.split(max(1, NUMBERS // self._owner.size)):
            if len(part):
                found += pull(pulling, [v], pull([self._outputs], params, [part]))
        return torch.cat(found).reshape(block.shape)

    def like_outputs(self, numbers: Any) -> torch.Tensor:
        """Plain numbers as a vector of the outputs' kind."""
        like = self._outputs
        return torch.as_tensor(numbers, dtype=like.dtype, device=like.device)

    def kernel_top(self, starts: Any, count: int, tolerance: float) -> Spectrum:
        """The largest eigenvalues of the tangent kernel, searched from `starts` and dL/df.

        Args:
            starts: The last vectors, or None for random ones.
            count: How many, at most.
            tolerance: Largest residual that counts as converged.

        Returns:
            The pairs; fewer where there are fewer outputs.
        """
        size = self._outputs.numel()
        count = min(count, size)
        if starts is None:
            starts = torch.randn(count, size, dtype=self._outputs.dtype, device=self._owner.device)
        slope = self.output_gradient
        useful = count < size and bool(slope.any()) and bool(slope.isfinite().all())
        guard = [slope[None]] if useful else []
        return top_spectrum(self.kernel_products, torch.cat([starts, *guard]), count, tolerance)

    def input_slopes(self) -> torch.Tensor | None:
        """G with G^T G the average over the batch of (df/dx)^T (df/dx); None for tokens.

        It has at most as many rows as there are inputs.
        """
        if self._owner.loss is None:
            return None
        x, _ = self._batch
        if not isinstance(x, torch.Tensor) or not x.is_floating_point():
            return None
        inputs = x[0].numel()
        x = x.detach().requires_grad_()
        outputs, _ = self._owner.call(self._params, self._fixed, (x, self._batch[1]))
        rows = outputs.reshape(len(x), -1)
        columns = torch.eye(rows.shape[1], dtype=rows.dtype, device=rows.device)
        many = max(1, NUMBERS // (len(x) * max(inputs, len(columns))))
        slopes = [
            pull([rows], [x], [part[:, None].expand(-1, *rows.shape)])[0].reshape(-1, inputs)
            for part in columns.split(many)
        ]
        together = torch.cat(slopes) / len(x) ** 0.5
        return together if len(together) <= inputs else torch.linalg.qr(together, mode="r").R


def _flat(batch: Any) -> list:
    if isinstance(batch, tuple | list):
        return [item for part in batch for item in _flat(part)]
    return [batch]
