"""Every truncation of some layers and matrices beside its controls, on all prompts at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dynascope.core.errors import bad
from dynascope.edits import (
    KeepRandom,
    KeepSmallest,
    Selection,
    Truncate,
    directions,
    layout,
)
from dynascope.language.model import LanguageModel
from dynascope.language.prompts.encoding import Encoded
from dynascope.language.search.resuming import Resumed
from dynascope.runtime.progress import Progress

KEEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8)
FEED_FORWARD = ("mlp_in", "mlp_gate", "mlp_out")
KINDS = {"largest": Truncate, "random": KeepRandom, "smallest": KeepSmallest}


class Grid(NamedTuple):
    """Log probabilities of answer, generic and other token, the last axis of every array."""

    layers: tuple[int, ...]
    matrices: tuple[str, ...]
    keeps: tuple[float, ...]
    ranks: np.ndarray  # (matrix, keep)
    energy: np.ndarray  # (layer, matrix, keep): kept by the largest
    base: np.ndarray  # (prompt, 3): the model as it is
    kept: np.ndarray  # (kind, layer, matrix, keep, prompt, 3), kinds in the order of KINDS
    dropped: np.ndarray  # (layer, prompt, 3): without the whole feed-forward part

    def gain(self, scores: np.ndarray) -> np.ndarray:
        """Logarithm of how much larger p(answer) / p(generic) became: (..., prompt)."""
        return _log_ratio(scores) - _log_ratio(self.base)

    def edit(self, kind: str, layer: int, matrix: int, keep: int) -> Selection:
        """The edit at a place of `kept`."""
        return KINDS[kind](self.layers[layer], self.matrices[matrix], keep=self.keeps[keep])


def joined(grids: Sequence[Grid]) -> Grid:
    """One grid of those of single layers, in the order of the layers."""
    return grids[0]._replace(
        layers=tuple(layer for g in grids for layer in g.layers),
        energy=np.concatenate([g.energy for g in grids]),
        kept=np.concatenate([g.kept for g in grids], axis=1),
        dropped=np.concatenate([g.dropped for g in grids]),
    )


def _log_ratio(scores: np.ndarray) -> np.ndarray:
    return scores[..., 0] - scores[..., 1]


def measure_grid(
    model: LanguageModel,
    prompts: Encoded,
    layers: Sequence[int] | None = None,
    matrices: Sequence[str] | None = None,
    keeps: Sequence[float] = KEEPS,
    *,
    progress: bool = True,
) -> Grid:
    """Put every truncation to all prompts: one decomposition a matrix, prefixes computed once.

    Args:
        model: The model.
        prompts: Each with an answer and a generic token.
        layers: From 0; all by default.
        matrices: By default those of the feed-forward part.
        keeps: Shares of directions that are kept.
        progress: Whether to show how far it is.

    Returns:
        The grid.
    """
    layers = tuple(range(model.layers) if layers is None else sorted(layers))
    for layer in layers:
        if not 0 <= layer < model.layers:
            raise bad("layers", layer, f"whole numbers from 0 to {model.layers - 1}")
    gated = model.transformer.feed_forward == "gated"
    own = [m for m in FEED_FORWARD if gated or m != "mlp_gate"]
    matrices, keeps = tuple(matrices or own), tuple(keeps)
    shape = (len(layers), len(matrices), len(keeps))
    count = len(prompts.texts)
    kept = np.zeros((len(KINDS), *shape, count, 3), np.float32)
    dropped = np.zeros((len(layers), count, 3), np.float32)
    ranks, energy = np.zeros(shape[1:], int), np.zeros(shape)
    found, here = layout(model.weights, model.config), Resumed(model, prompts)
    base = here.scores(matrices[0], found.matrix(0, matrices[0]))
    with Progress("search", len(layers) * len(matrices), enabled=progress) as bar:
        for i, layer in enumerate(layers):
            while here.layer < layer:
                here.advance()
            dropped[i] = here.dropped("mlp")
            for j, matrix in enumerate(matrices):
                parts = directions(found.matrix(layer, matrix), found.tensor(layer, matrix))
                for k, keep in enumerate(keeps):
                    for n, kind in enumerate(KINDS.values()):
                        which = kind(layer, matrix, keep=keep).which(len(parts.sigma))
                        kept[n, i, j, k] = here.scores(matrix, parts.kept(which))
                        if n == 0:
                            ranks[j, k], energy[i, j, k] = len(which), parts.energy(which)
                bar.update(i * len(matrices) + j + 1, f"layer {layer}, {matrix}")
    return Grid(layers, matrices, keeps, ranks, energy, base, kept, dropped)
