"""The networks of zhu2024 chapter 2 and appendix A, each for a given width."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from dynascope.models import wiring_families as wirings
from dynascope.models.wiring import Wiring, wire
from dynascope.models.wiring_families import densely_connected, fully_connected

NARROW = 2  # vertices of the narrow layer
NARROW_LAYER = f"a layer of {NARROW} vertices between wide ones"


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


def _skips(inputs: int, width: int) -> tuple[tuple[int, int], ...]:
    """First-layer vertices get an input each, those of the second one of the first."""
    first = [(i % inputs, inputs + i) for i in range(width)]
    return (*first, *((inputs + i, inputs + width + i) for i in range(width)))


# By name, from d inputs, width m and seed s; three layers unless the comment says otherwise.
ARCHITECTURES: dict[str, Callable[[int, int, int], Drawn]] = {
    # Thm. 2.3.6, (A.4)
    "fully connected": lambda d, m, s: Drawn(fully_connected((d, m, m, 1))),
    # two layers: Thm. 2.3.6, B.3.1
    "two layers": lambda d, m, s: Drawn(fully_connected((d, m, 1))),
    # a pre-activation in the second layer: Thm. 2.3.8
    "pre-activation": lambda d, m, s: Drawn(fully_connected((d, m, m, 1)), watched=2),
    # a pre-activation in the first layer: Remark 2.3.9
    "first pre-activation": lambda d, m, s: Drawn(fully_connected((d, m, m, 1)), watched=1),
    # DenseNet: (A.5), (A.6)
    "dense": lambda d, m, s: Drawn(densely_connected((d, m, m, 1))),
    # DenseNet with half of its edges dropped: A.1, Fig. 2.2
    "dropped": lambda d, m, s: Drawn(wirings.drop_edges(densely_connected((d, m, m, 1)), 0.5, s)),
    # with skips that are not trained: Thm. A.4.1
    "skips": lambda d, m, s: Drawn(fully_connected((d, m, m, 1)), skips=_skips(d, m)),
    # two vertices with one edge only: Fig. 2.3, A.6
    "two narrow vertices": lambda d, m, s: Drawn(
        wirings.narrow_vertices(fully_connected((d, m, m, 1)), 2, 2, 1, s)
    ),
    # four layers, one of them narrow: A.6
    "narrow layer": lambda d, m, s: Drawn(fully_connected((d, m, NARROW, m, 1))),
    # the same with wide connections around the narrow layer: A.6
    "bypassed": lambda d, m, s: Drawn(wirings.bypassed((d, m, NARROW, m, 1), 2)),
    # section 2.3
    "tanh output": lambda d, m, s: Drawn(fully_connected((d, m, m, 1)), bend=1.0),
    # in-degrees from m to m^2: Assumption 2.3.5
    "mixed": lambda d, m, s: Drawn(fully_connected((d, m**2, m, 1))),
}
