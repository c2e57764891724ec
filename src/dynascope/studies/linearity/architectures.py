"""The networks of 004 chapter 2 and appendix A, each for a given width."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dynascope.models.wiring import Wiring, wire
from dynascope.models.wiring_families import (
    bypassed,
    densely_connected,
    drop_edges,
    fully_connected,
    narrow_vertices,
)

NARROW = 2  # vertices of the narrow layer


class Drawn(NamedTuple):
    """A wiring with what is not wired: skips, tanh at the output, the layer that is watched."""

    net: Wiring
    skips: tuple[tuple[int, int], ...] = ()
    bend: float = 0.0
    watched: int | None = None  # the last one by default

    @property
    def measured(self) -> list[int] | None:
        """Place of the vertex that is measured, the first of its layer."""
        if self.watched is None:
            return None
        return [sum(len(layer) for layer in self.net.layers[: self.watched])]

    @property
    def width(self) -> int:
        """Smallest in-degree from the second layer on, after edges were dropped."""
        return int(wire(self.net.edges).width)


@dataclass(frozen=True)
class Architecture:
    """A family of networks: how to draw one, and whether 004 says it becomes linear."""

    words: str
    draw: Callable[[int, int, int], Drawn]  # inputs, width, seed
    linear: bool
    source: str


def _skips(inputs: int, width: int) -> tuple[tuple[int, int], ...]:
    """First-layer vertices get an input each, those of the second one of the first."""
    first = [(i % inputs, inputs + i) for i in range(width)]
    return (*first, *((inputs + i, inputs + width + i) for i in range(width)))


ARCHITECTURES = {
    "fully connected": Architecture(
        "fully connected, three layers",
        lambda d, m, s: Drawn(fully_connected((d, m, m, 1))),
        True, "004 Thm. 2.3.6, (A.4)",
    ),
    "two layers": Architecture(
        "fully connected, two layers",
        lambda d, m, s: Drawn(fully_connected((d, m, 1))),
        True, "004 Thm. 2.3.6, B.3.1",
    ),
    "pre-activation": Architecture(
        "a pre-activation in the second layer",
        lambda d, m, s: Drawn(fully_connected((d, m, m, 1)), watched=2),
        True, "004 Thm. 2.3.8",
    ),
    "first pre-activation": Architecture(
        "a pre-activation in the first layer",
        lambda d, m, s: Drawn(fully_connected((d, m, m, 1)), watched=1),
        True, "004 Remark 2.3.9",
    ),
    "dense": Architecture(
        "DenseNet, three layers",
        lambda d, m, s: Drawn(densely_connected((d, m, m, 1))),
        True, "004 (A.5), (A.6)",
    ),
    "dropped": Architecture(
        "DenseNet with half of its edges dropped",
        lambda d, m, s: Drawn(drop_edges(densely_connected((d, m, m, 1)), 0.5, s)),
        True, "004 A.1, Fig. 2.2",
    ),
    "skips": Architecture(
        "fully connected with skips that are not trained",
        lambda d, m, s: Drawn(fully_connected((d, m, m, 1)), skips=_skips(d, m)),
        True, "004 Thm. A.4.1",
    ),
    "two narrow vertices": Architecture(
        "fully connected, two vertices with one edge only",
        lambda d, m, s: Drawn(narrow_vertices(fully_connected((d, m, m, 1)), 2, 2, 1, s)),
        True, "004 Fig. 2.3, A.6",
    ),
    "narrow layer": Architecture(
        f"a layer of {NARROW} vertices between wide ones",
        lambda d, m, s: Drawn(fully_connected((d, m, NARROW, m, 1))),
        False, "004 A.6",
    ),
    "bypassed": Architecture(
        f"a layer of {NARROW} vertices with wide connections around it",
        lambda d, m, s: Drawn(bypassed((d, m, NARROW, m, 1), 2)),
        True, "004 A.6",
    ),
    "tanh output": Architecture(
        "fully connected with tanh on the output",
        lambda d, m, s: Drawn(fully_connected((d, m, m, 1)), bend=1.0),
        False, "004 section 2.3",
    ),
    "mixed": Architecture(
        "in-degrees from m to m^2",
        lambda d, m, s: Drawn(fully_connected((d, m**2, m, 1))),
        True, "004 Assumption 2.3.5",
    ),
}  # fmt: skip


def inputs(count: int, rows: int, seed: int, padded: int) -> np.ndarray:
    """Standard normal inputs (rows, padded), zero beyond the first `count`."""
    x = np.zeros((rows, padded))
    x[:, :count] = np.random.default_rng(seed).normal(size=(rows, count))
    return x
