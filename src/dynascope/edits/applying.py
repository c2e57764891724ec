"""Edits put to a model, one after the other; what is given stays as it was.

A model is anything whose weights have names: a language model, the parameters of a
`models.Transformer`, or a dictionary of arrays under the names of a known family.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from dynascope.core.errors import bad
from dynascope.edits.changes import DropPart, Edit, Selection, Truncate
from dynascope.edits.directions import Directions, directions
from dynascope.edits.families import MATRICES
from dynascope.edits.weight_names import Layout, layout
from dynascope.models.transformer import named_weights, with_named_weights


class Kept(NamedTuple):
    """What an edit leaves of a matrix."""

    shape: tuple[int, int]
    rank: int
    energy: float  # share of the squared entries
    spectrum: np.ndarray  # all singular values before, the largest first


def apply(model: Any, *edits: Edit | DropPart) -> Any:
    """A new model with the edits put to it, in order.

    Args:
        model: See the module; it stays as it is, bit by bit.
        edits: What is done.

    Returns:
        A model of the same kind.

    Example:
        >>> w = {f"layers.0.self_attn.{n}_proj.weight": np.eye(2) for n in "qkvo"}
        >>> w["layers.0.mlp.down_proj.weight"] = np.diag([2.0, 1.0])
        >>> cut = apply(w, Truncate(0, "mlp_out", rank=1))
        >>> cut["layers.0.mlp.down_proj.weight"].tolist()
        [[2.0, 0.0], [0.0, 0.0]]
    """
    for edit in edits:
        found = layout_of(model)
        if isinstance(edit, DropPart):
            model = _with(model, _silenced(found, edit), {})
            continue
        w = found.matrix(edit.layer, edit.matrix)
        parts = _decomposed(found, edit)
        name = found.tensor(edit.layer, edit.matrix)
        changes = found.replaced(edit.layer, edit.matrix, edit.changed(w, parts))
        factors = {}
        if isinstance(edit, Selection):
            which = edit.which(len(parts.sigma))
            if len(which) * sum(w.shape) < w.size:
                factors = {name: parts.factors(which)}
        model = _with(model, changes, factors)
    return model


def truncate(
    model: Any, *, layer: int, matrix: str, keep: float | None = None, rank: int | None = None
) -> Any:
    """LASER: a new model in which one matrix has only its largest singular values.

    Args:
        model: A language model, parameters of a transformer, or arrays by name.
        layer: From 0.
        matrix: "mlp_in", "mlp_gate", "mlp_out", "q", "k", "v" or "o".
        keep: The share of singular values that stay, or
        rank: their number.

    Returns:
        A model of the same kind; the one given stays as it is.
    """
    return apply(model, Truncate(layer, matrix, keep=keep, rank=rank))


def kept(model: Any, edit: Selection) -> Kept:
    """What an edit would leave of its matrix: rank, energy, and the spectrum that it cuts."""
    found = layout_of(model)
    parts = _decomposed(found, edit)
    which = edit.which(len(parts.sigma))
    shape = found.matrix(edit.layer, edit.matrix).shape
    return Kept((shape[0], shape[1]), len(which), parts.energy(which), parts.sigma)


def layout_of(model: Any) -> Layout:
    """The names of a model's weights, understood."""
    if hasattr(model, "with_weights"):
        return layout(model.weights, model.config)
    if _is_params(model):
        return layout({n: np.asarray(a) for n, a in named_weights(model).items()})
    if isinstance(model, Mapping) and all(isinstance(name, str) for name in model):
        # Matrices of the feed-forward part do not ask for the heads; one stands for any number.
        return layout(model, getattr(model, "config", {}) or {"num_attention_heads": 1})
    raise bad("model", type(model).__name__, "a language model, parameters, or arrays by name")


def _is_params(model: Any) -> bool:
    return isinstance(model, dict) and isinstance(model.get("blocks"), list)


def _with(model: Any, changes: dict[str, np.ndarray], factors: dict[str, Any]) -> Any:
    if hasattr(model, "with_weights"):
        return model.with_weights(changes, factors)
    if _is_params(model):
        return with_named_weights(model, changes)
    return {**model, **changes}


def _decomposed(found: Layout, edit: Edit) -> Directions:
    w = found.matrix(edit.layer, edit.matrix)
    return directions(np.asarray(w), found.tensor(edit.layer, edit.matrix))


def _silenced(found: Layout, edit: DropPart) -> dict[str, np.ndarray]:
    """The last matrix of a part, and its offsets, as zeros."""
    matrix = {"attention": "o", "mlp": "mlp_out"}[edit.part]
    assert matrix in MATRICES
    w = found.matrix(edit.layer, matrix)
    changes = found.replaced(edit.layer, matrix, np.zeros_like(w))
    for name in found.offset_names(edit.layer, matrix):
        changes[name] = np.zeros_like(np.asarray(found.weights[name]))
    return changes
