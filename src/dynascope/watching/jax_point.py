"""A jax model at given weights, seen on one batch: what `torch_point` is for torch.

Models of Equinox are called on one sample, without dropout, and mapped over the batch; those of
Flax and plain functions `apply(params, x)` on the whole batch, as they are. Eigenpairs come from
the compiled solver of `numerics.eigenpairs`; a program is compiled once for each shape of batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.core.errors import bad
from dynascope.numerics.eigenpairs import MAX_PRODUCTS, starts, top_eigenpairs
from dynascope.numerics.products import hessian_product, kernel_product
from dynascope.probes.kernels import kernel_pairs
from dynascope.watching.eigenpairs import BASIS, TOLERANCE, Eigenpair
from dynascope.watching.optax_rules import rate_of, response
from dynascope.watching.rules import UpdateRule
from dynascope.watching.spectrum import Spectrum


class JaxModel:
    """A function of parameters and inputs, and its loss.

    Args:
        model: A module of Equinox or Flax, `apply(params, x)`, or a pair (init, apply).
        loss: `loss(outputs, targets)`, a scalar.
    """

    def __init__(self, model: Any, loss: Callable | None) -> None:
        if loss is None:
            raise bad("loss", None, "loss(outputs, targets)", "only torch models bring their own")
        self.own, self.apply = _apply(model)
        self._name = getattr(self.apply if self.own is None else type(model), "__name__", "model")
        self._equinox = self.own is not None
        self.loss = loss
        self.names: list[str] = []
        self.size = 0
        self._last: Any = None
        self.notes = ["Measured without dropout."] if _has_dropout(self.own) else []
        if self.own is not None:
            self.now(self.own)

    def about(self) -> dict[str, Any]:
        """What the record's settings say of it; the size is known where weights are inside."""
        return {"model": self._name, **({"parameters": self.size} if self.size else {})}

    def now(self, params: Any) -> Any:
        """The trainable arrays of what the loop holds: of a module, its floating ones."""
        if params is None:
            raise bad("params", None, "the weights as they are now", "watch(..., params=params)")
        if self._equinox:
            import equinox as eqx

            params = eqx.filter(params, eqx.is_inexact_array)
        leaves = jax.tree_util.tree_leaves_with_path(params)
        if not leaves:
            raise bad("model", type(params).__name__, "a model with parameters to train")
        for path, leaf in leaves:
            if not jnp.issubdtype(getattr(leaf, "dtype", jnp.int32), jnp.floating):
                got = f"{type(leaf).__name__} at {jax.tree_util.keystr(path)}"
                raise bad("params", got, "a tree of floating arrays", "parameters to train alone")
        self.names = [jax.tree_util.keystr(path) for path, _ in leaves]
        self.size = sum(leaf.size for _, leaf in leaves)
        self._last = params
        return params

    def weights(self) -> dict[str, Any]:
        """The parameters as they were last given, by name."""
        leaves = jax.tree_util.tree_leaves(self._last)
        return dict(zip(self.names, leaves, strict=True))

    @staticmethod
    def rate(given: Any, now: Any) -> float:
        """Of the optimiser's state, where it is there; NaN if not."""
        return rate_of(now)

    def read_rule(self, given: Any, now: Any, rate: float) -> tuple[UpdateRule, jax.Array | None]:
        """The rule of an optimiser at the weights of the last call, and D^(1/2) for it.

        Args:
            given: The `optax.GradientTransformation`.
            now: Its state.
            rate: Of the step.

        Returns:
            The rule and the root, None if it does not scale the curvature.
        """
        if not hasattr(given, "update"):
            raise bad("optimizer", type(given).__name__, "an optax.GradientTransformation",
                      "dynascope.watch(model, loss, optimizer=optax.adam(rate))")  # fmt: skip
        if now is None:
            raise bad("optimizer", None, "the state of the optax transformation",
                      "watch(loss, ..., optimizer=state)")  # fmt: skip
        if not rate > 0:
            raise bad("learning_rate", rate, "the rate of this step", "watch(..., learning_rate=)")
        rule, scaling = response(given, now, self._last, rate)
        return rule, None if scaling is None else jnp.sqrt(scaling)

    @staticmethod
    def top_square(matrix: jax.Array, start: Any) -> tuple[float, Any]:
        """The largest squared singular value of a matrix, and where to start from next time."""
        begin = jnp.zeros(min(matrix.shape), matrix.dtype) if start is None else start
        found = _top_square(jnp.asarray(matrix), begin)
        return float(found.values[0]), found.vectors[0]

    @contextmanager
    def at(self, batch: Any, params: Any = None) -> Iterator[JaxPoint]:
        """The model on a batch, at the weights of the loop."""
        if not isinstance(batch, tuple | list) or len(batch) != 2:
            raise bad("batch", type(batch).__name__, "(inputs, targets)")
        if self._equinox and params is not None:
            import equinox as eqx

            self.own = eqx.combine(self.now(params), self.own)
        yield JaxPoint(self, self.now(params), jax.tree.map(jnp.asarray, tuple(batch)))

    def outputs(self, params: Any, x: Any) -> jax.Array:
        """Outputs for all rows of x."""
        if self._equinox:
            import equinox as eqx

            params = eqx.combine(params, eqx.filter(self.own, eqx.is_inexact_array, inverse=True))
        return self.apply(params, x)

    def objective(self, params: Any, batch: Any) -> jax.Array:
        """The loss on a batch."""
        return self.loss(self.outputs(params, batch[0]), batch[1])


class JaxPoint:
    """Everything a probe may ask for; each is worked out when first asked."""

    def __init__(self, owner: JaxModel, params: Any, batch: tuple) -> None:
        self._owner, self._params, self._batch = owner, params, batch
        shape = jax.eval_shape(owner.objective, params, batch)
        if shape.shape != ():
            raise bad("loss", shape.shape, "a single number", "take its mean over the batch")

    @cached_property
    def _first(self) -> tuple[jax.Array, Any]:
        return _loss_and_gradient(self._owner, self._params, self._batch)

    @property
    def loss(self) -> float:
        """The loss on the batch."""
        return float(self._first[0])

    @property
    def gradient(self) -> jax.Array:
        """The gradient as one vector."""
        return self._first[1]

    @property
    def gradient_norm(self) -> float:
        """Its length."""
        return float(jnp.linalg.norm(self.gradient))

    def sharpness(
        self, start: Any, tolerance: float, root: jax.Array | None = None, most: int = BASIS
    ) -> Eigenpair:
        """The largest eigenvalue of H, or of D^(1/2) H D^(1/2); see `TorchPoint.sharpness`.

        `most` is not used: the compiled solver has a basis of its own.
        """
        # Zeros stand for no start: with None the second measurement would compile anew.
        begin = jnp.zeros_like(self.gradient) if start is None else start
        found = _hessian_top(self._owner, tolerance, self._params, self._batch, begin, root)
        value, residual = float(found.values[0]), float(found.residuals[0])
        products, converged = int(found.products[0]), bool(found.converged[0])
        return Eigenpair(value, found.vectors[0], residual, products, converged)

    @cached_property
    def output_gradient(self) -> jax.Array:
        """dL/df for every output f on the batch, as one vector."""
        return _output_gradient(self._owner, self._params, self._batch)

    def like_outputs(self, numbers: Any) -> jax.Array:
        """Plain numbers as a vector of the outputs' kind."""
        return jnp.asarray(numbers, self.output_gradient.dtype)

    def kernel_products(self, block: jax.Array) -> jax.Array:
        """K u = J J^T u for every row u, K the tangent kernel of the batch's outputs."""
        return _kernel_products(self._owner, self._params, self._batch, block)

    def kernel_top(self, starts: Any, count: int, tolerance: float) -> Spectrum:
        """The largest eigenvalues of the tangent kernel."""
        outputs = jax.eval_shape(self._owner.outputs, self._params, self._batch[0])
        count = min(count, outputs.size)
        blank = jnp.zeros((count, outputs.size), outputs.dtype)
        warm = blank if starts is None else starts
        found = _kernel_top(self._owner, count, tolerance, self._params, self._batch, warm)
        values, residuals = np.asarray(found.values), np.asarray(found.residuals)
        products, converged = int(found.products.sum()), np.asarray(found.converged)
        return Spectrum(values, found.vectors, residuals, products, converged)

    def input_slopes(self) -> jax.Array | None:
        """G with G^T G the average over the batch of (df/dx)^T (df/dx); None for tokens.

        It has at most as many rows as there are inputs.
        """
        if not jnp.issubdtype(self._batch[0].dtype, jnp.floating):
            return None
        return _input_slopes(self._owner, self._params, self._batch[0])


@partial(jax.jit, static_argnums=0)
def _loss_and_gradient(owner: JaxModel, params: Any, batch: Any) -> tuple[jax.Array, jax.Array]:
    loss, gradient = jax.value_and_grad(owner.objective)(params, batch)
    return loss, jax.flatten_util.ravel_pytree(gradient)[0]


@jax.jit
def _top_square(matrix: jax.Array, warm: jax.Array) -> Any:
    wide = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T
    begin = starts(1, len(wide), wide.dtype, warm[None])
    return top_eigenpairs(lambda v: wide @ (v @ wide), begin, tolerance=TOLERANCE)


@partial(jax.jit, static_argnums=(0, 1))
def _hessian_top(
    owner: JaxModel, tolerance: float, params: Any, batch: Any, warm: Any, root: Any
) -> Any:
    plain = hessian_product(lambda p: owner.objective(p, batch), params)
    product = plain if root is None else lambda v: root * plain(root * v)
    vector, _ = jax.flatten_util.ravel_pytree(params)
    begin = starts(1, vector.size, vector.dtype, warm[None])
    return top_eigenpairs(product, begin, tolerance=tolerance, max_products=MAX_PRODUCTS)


@partial(jax.jit, static_argnums=(0, 1, 2))
def _kernel_top(
    owner: JaxModel, count: int, tolerance: float, params: Any, batch: Any, warm: Any
) -> Any:
    outputs = lambda p: owner.outputs(p, batch[0])  # noqa: E731
    return kernel_pairs(outputs, params, count, tolerance, MAX_PRODUCTS, warm)


@partial(jax.jit, static_argnums=0)
def _kernel_products(owner: JaxModel, params: Any, batch: Any, block: jax.Array) -> jax.Array:
    return jax.lax.map(kernel_product(lambda p: owner.outputs(p, batch[0]), params), block)


@partial(jax.jit, static_argnums=0)
def _output_gradient(owner: JaxModel, params: Any, batch: Any) -> jax.Array:
    outputs = owner.outputs(params, batch[0])
    return jax.grad(lambda out: owner.loss(out, batch[1]))(outputs).reshape(-1)


@partial(jax.jit, static_argnums=0)
def _input_slopes(owner: JaxModel, params: Any, x: jax.Array) -> jax.Array:
    rows = lambda row: owner.outputs(params, row[None])[0].reshape(-1)  # noqa: E731
    jacobian = jax.vmap(jax.jacrev(rows))(x)  # (samples, outputs, *inputs)
    flat = jacobian.reshape(jacobian.shape[0] * jacobian.shape[1], -1)
    together = flat / len(x) ** 0.5
    return together if len(flat) <= flat.shape[1] else jnp.linalg.qr(together, mode="r")


def _has_dropout(module: Any) -> bool:
    import equinox as eqx

    of_kind = lambda part: isinstance(part, eqx.nn.Dropout)  # noqa: E731
    return any(of_kind(part) for part in jax.tree.leaves(module, is_leaf=of_kind))


def _apply(model: Any) -> tuple[Any, Callable]:
    """The module itself if its weights are inside, and how to call it on a batch."""
    import equinox as eqx

    if isinstance(model, eqx.Module):
        return model, lambda module, x: jax.vmap(eqx.nn.inference_mode(module))(x)
    if hasattr(model, "apply") and hasattr(model, "init"):  # Flax
        return None, model.apply
    if isinstance(model, tuple) and len(model) == 2 and all(callable(f) for f in model):
        return None, model[1]
    if callable(model):
        return None, model
    raise bad(
        "model", type(model).__name__,
        "a torch.nn.Module, a module of Equinox or Flax, or apply(params, x)",
    )  # fmt: skip
