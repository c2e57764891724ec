"""Weights by name where blocks are stacked: `blocks.3.attention.query` is row 3 of a stack."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from dynascope.core.errors import bad, unknown
from dynascope.models.transformer import named_weights, with_named_weights

_BLOCK = re.compile(r"blocks\.(\d+)\.(.+)")


class StackedWeights(Mapping[str, np.ndarray]):
    """Names to arrays, under the names that `models.Transformer` gives its weights.

    Example:
        >>> weights = StackedWeights({"blocks": {"a": np.arange(6).reshape(2, 3)}})
        >>> list(weights), weights["blocks.1.a"].tolist()
        (['blocks.0.a', 'blocks.1.a'], [3, 4, 5])
        >>> changed = weights.replaced({"blocks.1.a": np.zeros(3, int)})
        >>> changed["blocks"]["a"].tolist(), weights["blocks.1.a"].tolist()
        ([[0, 1, 2], [0, 0, 0]], [3, 4, 5])
    """

    def __init__(self, params: dict[str, Any]) -> None:
        self._params = params
        self._arrays = named_weights(params)
        inside = [a for name, a in self._arrays.items() if name.startswith("blocks.")]
        self._layers = len(inside[0]) if inside else 0

    def __getitem__(self, name: str) -> np.ndarray:
        stack, layer = self._place(name)
        if stack not in self._arrays:
            raise KeyError(name)
        array = np.asarray(self._arrays[stack])
        return array if layer is None else array[layer]

    def _place(self, name: str) -> tuple[str, int | None]:
        """The name of the stack that holds an array, and the row."""
        found = _BLOCK.fullmatch(name)
        if not found or int(found[1]) >= self._layers:
            return ("" if found or name.startswith("blocks.") else name), None
        return f"blocks.{found[2]}", int(found[1])

    def __iter__(self) -> Iterator[str]:
        for name in self._arrays:
            if name.startswith("blocks."):
                rest = name.removeprefix("blocks.")
                yield from (f"blocks.{i}.{rest}" for i in range(self._layers))
            else:
                yield name

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def replaced(self, changes: Mapping[str, np.ndarray]) -> dict[str, Any]:
        """The parameters with some arrays replaced; only the stacks that change are copied."""
        new: dict[str, Any] = {}
        for name, value in changes.items():
            stack, layer = self._place(name)
            if stack not in self._arrays:
                raise unknown("weight", name, self)
            if np.shape(value) != self[name].shape:
                raise bad(name, np.shape(value), f"an array of shape {self[name].shape}")
            if layer is None:
                new[stack] = np.asarray(value)
                continue
            if stack not in new:
                new[stack] = np.array(self._arrays[stack])
            new[stack][layer] = value
        return with_named_weights(self._params, new)


def stacked(arrays: Mapping[str, np.ndarray], layers: int) -> dict[str, Any]:
    """Parameters from arrays by name: the way back from `StackedWeights`."""
    tree: dict[str, Any] = {}
    for name, array in arrays.items():
        found = _BLOCK.fullmatch(name)
        if found and int(found[1]) > 0:
            continue
        if found:
            names = [f"blocks.{i}.{found[2]}" for i in range(layers)]
            missing = [n for n in names if n not in arrays]
            if missing:
                raise unknown("weight", missing[0], arrays)
            array = np.stack([arrays[n] for n in names])
        *path, last = (f"blocks.{found[2]}" if found else name).split(".")
        place = tree
        for part in path:
            place = place.setdefault(part, {})
        place[last] = array
    return tree
