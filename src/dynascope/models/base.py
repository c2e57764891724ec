"""The Model interface.

To add one: derive a frozen dataclass from `Model` and write `build`, which returns a
`Network`: two pure functions, `init(key) -> params` and `apply(params, x)`, where x has
shape (..., input). A linear model also gives `matrix(params) -> (W, offset or None)`,
which lets tasks use exact second moments; a denoiser gives its noise levels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import jax

from dynascope.core.spec import Spec

Params = Any  # a pytree of arrays


class Network(NamedTuple):
    """A model for given sizes, as pure functions."""

    init: Callable[[jax.Array], Params]
    apply: Callable[[Params, jax.Array], jax.Array]
    matrix: Callable[[Params], tuple[jax.Array, jax.Array | None]] | None = None
    level: Callable[[Params, jax.Array], jax.Array] | None = None  # gamma(t) of a denoiser

    def bind(self, params: Params) -> Predictor:
        """The function x -> output of these parameters."""
        return Predictor(self, params)


class Predictor(NamedTuple):
    """A network with its parameters; what a task calls `predict`."""

    network: Network
    params: Params

    def __call__(self, x: jax.Array) -> jax.Array:
        """The output at x, of shape (..., input)."""
        return self.network.apply(self.params, x)

    @property
    def linear(self) -> bool:
        """Whether there is a matrix."""
        return self.network.matrix is not None

    def affine(self) -> tuple[jax.Array, jax.Array | None]:
        """Matrix and offset; only for linear models."""
        if self.network.matrix is None:
            raise TypeError("this model is not linear: it has no matrix")
        return self.network.matrix(self.params)

    def noise_level(self, t: jax.Array) -> jax.Array:
        """Gamma at a time from 0 (data) to 1 (noise); only for denoisers."""
        if self.network.level is None:
            raise TypeError("this model is no denoiser: it has no noise levels")
        return self.network.level(self.params, t)


@dataclass(frozen=True)
class Model(Spec):
    """What learns; frozen settings that build a network for given sizes."""

    # What `apply` takes as x: rows (..., input), sequences of them (..., token, input), graphs,
    # or corrupted data with their noise level and condition (`tasks.diffusion.Noised`).
    reads: ClassVar[Literal["vectors", "sequences", "graphs", "noised"]] = "vectors"

    def accepts(self, kind: str) -> bool:
        """Whether the model can read what a task offers; see `Task.offers`.

        Example:
            >>> Model().accepts("sequences"), Model().accepts("graphs")
            (True, False)
        """
        rows = ("vectors", "sequences")  # a model of vectors reads a sequence row by row
        return kind in rows if self.reads in rows else kind == self.reads

    def build(self, input_size: int, output_size: int) -> Network:
        """The pure functions of this model for a task's sizes."""
        raise NotImplementedError
