"""A checkpoint whose names are understood: any matrix of any layer, read and replaced.

The table of names is in `families`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynascope.core.errors import BadInput, UnknownName, bad, unknown
from dynascope.edits.families import FAMILIES, Location
from dynascope.models.transformer.heads import HeadMaps


@dataclass(frozen=True)
class Layout:
    """A checkpoint whose names are understood."""

    weights: Mapping[str, np.ndarray]
    family: str
    prefix: str  # before the layer's own name, such as "transformer."
    layers: int
    heads: int
    groups: int  # heads with keys and values of their own

    @property
    def note(self) -> str:
        """What a reader of the products should know about this family."""
        return FAMILIES[self.family].note

    def tensor(self, layer: int, matrix: str) -> str:
        """The name of the tensor that holds a matrix."""
        family = FAMILIES[self.family]
        if matrix not in family.places:
            raise unknown(f"matrix of {self.family}", matrix, family.places)
        if not 0 <= layer < self.layers:
            raise bad("layer", layer, f"a whole number from 0 to {self.layers - 1}")
        return f"{self.prefix}{family.layer.format(layer)}{family.places[matrix].tensor}"

    def matrix(self, layer: int, matrix: str) -> np.ndarray:
        """A matrix of a layer as (inputs, outputs), all heads side by side."""
        array, place = self._read(layer, matrix), FAMILIES[self.family].places[matrix]
        if place.packed == "split":
            return array.reshape(*((-1, array.shape[-1]) if matrix == "o" else (len(array), -1)))
        if place.stored == "out_in":
            array = array.T
        return array[:, self._columns(place, array.shape[1])]

    def offsets(self, layer: int, matrix: str) -> np.ndarray | None:
        """What is added to a matrix's outputs; None where there is none."""
        place = FAMILIES[self.family].places[matrix]
        names = self.offset_names(layer, matrix)
        if not names:
            return None
        array = np.asarray(self.weights[names[0]])
        return array if place.packed == "split" else array[self._columns(place, len(array))]

    def offset_names(self, layer: int, matrix: str) -> list[str]:
        """The name of the tensor that holds a matrix's offsets, where there is one."""
        name = self.tensor(layer, matrix)
        stem = name.removesuffix("weight")
        full = f"{stem}bias" if stem != name else f"{name}_bias"  # ours: query, query_bias
        return [full] if full in self.weights else []

    def replaced(self, layer: int, matrix: str, value: np.ndarray) -> dict[str, np.ndarray]:
        """The tensor that holds a matrix with another matrix in its place, by name.

        What else the tensor holds stays; the checkpoint is left as it was.
        """
        name, place = self.tensor(layer, matrix), FAMILIES[self.family].places[matrix]
        array = self._read(layer, matrix)
        if value.shape != self.matrix(layer, matrix).shape:
            wanted = self.matrix(layer, matrix).shape
            raise bad(f"{matrix} of layer {layer}", value.shape, f"a matrix of shape {wanted}")
        if place.packed == "split":
            return {name: value.reshape(array.shape).astype(array.dtype)}
        changed = (array.T if place.stored == "out_in" else array).copy()
        changed[:, self._columns(place, changed.shape[1])] = value
        return {name: changed.T if place.stored == "out_in" else changed}

    def other(self, name: str, layer: int | None = None) -> np.ndarray | None:
        """A tensor that is no matrix of a layer; None where there is none."""
        full = self.other_name(name, layer)
        return np.asarray(self.weights[full]) if full in self.weights else None

    def other_name(self, name: str, layer: int | None = None) -> str:
        """The name of such a tensor in the checkpoint."""
        family = FAMILIES[self.family]
        stem, _, part = name.partition(".")
        inside = family.around.get(stem, stem) + ("." + part if part else "")
        if layer is not None:
            return f"{self.prefix}{family.layer.format(layer)}{inside}"
        return inside if stem == "output" else f"{self.prefix}{inside}"

    def _columns(self, place: Location, outputs: int) -> np.ndarray | slice:
        """Which outputs of a packed tensor belong to a matrix."""
        if place.packed == "alone":
            return slice(None)
        if place.packed == "by_head":
            return np.arange(outputs).reshape(self.heads, 3, -1)[:, place.piece].ravel()
        if place.packed == "in_turn":  # keys and values have as many heads as there are groups
            head = outputs // (self.heads + 2 * self.groups)
            ends = np.cumsum([0, self.heads, self.groups, self.groups]) * head
        else:
            ends = np.linspace(0, outputs, (3 if place.packed == "thirds" else 2) + 1).astype(int)
        return slice(ends[place.piece], ends[place.piece + 1])

    def head_maps(self, layer: int) -> HeadMaps:
        """W_K, W_Q, W_V, W_O of every query head of a layer, each (head, width, head_size)."""
        q, k, v = (self.matrix(layer, name) for name in "qkv")
        o = self.matrix(layer, "o")
        query, key, value = _heads(q, self.heads), _heads(k, self.groups), _heads(v, self.groups)
        output = o.reshape(self.heads, -1, o.shape[1]).swapaxes(1, 2)
        shared = self.heads // self.groups  # query heads that read the same keys and values
        return HeadMaps(key.repeat(shared, 0), query, value.repeat(shared, 0), output)

    def _read(self, layer: int, matrix: str) -> np.ndarray:
        name = self.tensor(layer, matrix)
        if name not in self.weights:
            near = difflib.get_close_matches(name, list(self.weights), n=3, cutoff=0.4)
            raise UnknownName(f"no tensor {name!r}{_of(self.weights)}; nearest: {', '.join(near)}")
        return np.asarray(self.weights[name])


def _heads(matrix: np.ndarray, count: int) -> np.ndarray:
    """(inputs, outputs) to (head, inputs, head_size)."""
    return matrix.reshape(len(matrix), count, -1).swapaxes(0, 1)


def layout(
    weights: Mapping[str, np.ndarray],
    config: Mapping[str, Any] | None = None,
    heads: int | None = None,
) -> Layout:
    """Recognise a checkpoint's family by its names, and find out how many heads it has.

    Args:
        weights: Names to arrays: a checkpoint, or `named_weights` of a model of ours.
        config: The model's `config.json`, whose number of heads counts.
        heads: Number of heads, where neither shapes nor config tell it.

    Returns:
        The layout.

    Example:
        >>> names = ("q_proj", "k_proj", "v_proj", "o_proj")
        >>> w = {f"model.layers.0.self_attn.{n}.weight": np.eye(6) for n in names}
        >>> found = layout(w, heads=2)
        >>> found.family, found.head_maps(0).key.shape
        ('llama', (2, 6, 3))
    """
    family, prefix, layers = _family(weights)
    config = config or {}
    first = Layout(weights, family, prefix, layers, 1, 1)
    if FAMILIES[family].places["q"].packed == "split":
        sizes = [first._read(0, name).shape[1] for name in "qk"]
        return Layout(weights, family, prefix, layers, *sizes)
    told = next((config[n] for n in ("num_attention_heads", "n_head", "num_heads") if n in config),
                None)  # fmt: skip
    count = heads or told
    if count is None:
        raise bad(
            "heads", None, f"the number of heads{_of(weights)}",
            "give it, or put the model's config.json beside the weights",
        )  # fmt: skip
    inner = first.matrix(0, "o").shape[0]
    if count < 1 or inner % count:
        raise bad("heads", count, f"a divisor of {inner}, the size of all heads together")
    groups = config.get("num_key_value_heads") or _groups(first, count, inner)
    return Layout(weights, family, prefix, layers, count, groups)


def _groups(first: Layout, heads: int, inner: int) -> int:
    """Heads with keys of their own, as the shape of the keys tells."""
    if FAMILIES[first.family].places["k"].packed == "in_turn":
        both = first._read(0, "k").shape[0] - inner  # keys and values
        return both * heads // (2 * inner)
    if FAMILIES[first.family].places["k"].packed != "alone":
        return heads
    return first.matrix(0, "k").shape[1] * heads // inner


def _family(weights: Mapping[str, np.ndarray]) -> tuple[str, str, int]:
    """The family that has tensors of queries here, what stands before its layers, their number."""
    names = list(weights)
    for name, family in FAMILIES.items():
        first, last = family.layer.split("{}")
        tensor = re.escape(last + family.places["q"].tensor)
        pattern = re.compile(rf"((?:.*\.)?){re.escape(first)}(\d+){tensor}")
        found = [match.groups() for match in map(pattern.fullmatch, names) if match]
        if found:
            prefix = found[0][0]
            numbers = {int(number) for before, number in found if before == prefix}
            return name, prefix, max(numbers) + 1
    shown = ", ".join(names[:3]) + (" ..." if len(names) > 3 else "")
    known = ", ".join(FAMILIES)
    raise BadInput(f"names of no known family{_of(weights)}: {shown}; known: {known}")


def _of(weights: Mapping[str, np.ndarray]) -> str:
    source = getattr(weights, "source", "")
    return f" in {source}" if source else ""
