"""Families of models, each by what it can tell apart at every depth.

`wl` stands for all message-passing networks of a depth. Every other family is a
graph-augmented MLP: at depth K it sees the features propagated through the powers 1..K of one
fixed operator, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from dynascope.core.registry import Registry
from dynascope.graphs import operators
from dynascope.graphs.conversion import as_graph
from dynascope.graphs.features import read_features
from dynascope.graphs.graph import Graph
from dynascope.graphs.grouping import group_values, meet
from dynascope.graphs.injective import injective_powers
from dynascope.graphs.powers import Power, matrix_powers, real_powers
from dynascope.graphs.refinement import rounds

Propagate = Callable[[np.ndarray], Iterator[Power]]


@dataclass(frozen=True, eq=False)
class Level:
    """What a family tells apart at one depth.

    Attributes:
        colours: (nodes,) equal exactly where the family sees no difference.
        tolerance: Largest error bound of a value over the largest value; values closer than
            their bounds count as equal. 0 for exact families.
    """

    colours: np.ndarray
    tolerance: float = 0.0


@dataclass(frozen=True)
class Family:
    """A named family.

    Attributes:
        name: As used in `family=`.
        meaning: What its models may look at.
        prepare: Builds the propagation on a graph; None for message passing.
        local: True if the operator acts on the classes of a stable colouring, so that its
            powers from their number on bring nothing new.
    """

    name: str
    meaning: str
    prepare: Callable[[Graph], Propagate] | None
    local: bool = True


def levels(
    graph: Any, family: str = "wl", features: Any = None, include_identity: bool = False
) -> Iterator[Level]:
    """What a family tells apart at depth 0, 1, 2, ..., without end.

    Args:
        graph: A `Graph`, networkx graph or sparse matrix.
        family: A name of `families`.
        features: Initial colours or a table of numbers; None for all alike.
        include_identity: Let graph-augmented models see the features themselves too
            (message passing always does).

    Yields:
        One `Level` for each depth.
    """
    graph = as_graph(graph)
    chosen, start = families.get(family), read_features(features, graph.nodes)
    if chosen.prepare is None:
        yield from (Level(colours) for colours in rounds(graph, start.colours))
        return
    colours = start.colours if include_identity else np.zeros_like(start.colours)
    yield Level(colours)
    propagate = chosen.prepare(graph)
    streams = [propagate(column) for column in start.columns()]
    while True:
        powers = [next(stream) for stream in streams]
        for power in powers:
            for values in power.values:
                colours = meet(colours, group_values(values, power.error))
        yield Level(colours, max(_relative_error(power) for power in powers))


def _relative_error(power: Power) -> float:
    if power.error is None:
        return 0.0
    largest = max(float(abs(values).max()) for values in power.values)
    return float(power.error.max()) / largest if largest else 0.0


def _of_matrix(build: Callable[[Graph], sparse.csr_array], graph: Graph) -> Propagate:
    return partial(matrix_powers, build(graph))


def _of_bethe(graph: Graph) -> Propagate:
    """The diagonal is a difference, so its rounding is bounded by the sum of its terms."""
    matrix = operators.shifted_bethe_hessian(graph)
    terms = operators.BETHE_SHIFT + 1 + operators.average_degree(graph) + graph.degrees
    size = sparse.csr_array(abs(matrix) + sparse.diags_array(terms))
    return partial(matrix_powers, matrix, size=size)


def _of_pagerank(graph: Graph) -> Propagate:
    """All entries are positive, so the operator is its own absolute value."""
    apply = partial(operators.personalized_pagerank, graph)
    longest = int(graph.degrees.max()) + 8
    return partial(
        real_powers, apply, apply, operators.pagerank_terms(operators.TELEPORT) * longest
    )


families: Registry[Family] = Registry("family")
for _family in (
    Family("wl", "message passing: own colour and the multiset of neighbour colours", None),
    Family("adjacency", "powers of A", partial(_of_matrix, operators.adjacency)),
    Family("normalized", "powers of D^-1/2 A D^-1/2", partial(_of_matrix, operators.normalized)),
    Family(
        "self_loop",
        "powers of (D+I)^-1/2 (A+I) (D+I)^-1/2, the operator of GCN and SGC",
        partial(_of_matrix, operators.self_loop),
    ),
    Family(
        "power", "powers of min(A^2, 1)", partial(_of_matrix, operators.power_graph), local=False
    ),
    Family("triangle", "powers of A ∘ A^2", partial(_of_matrix, operators.triangle), local=False),
    Family("bethe", "powers of 8 I minus the Bethe Hessian", _of_bethe, local=False),
    Family("ppr", "powers of personalised PageRank, teleport 0.15", _of_pagerank),
    Family(
        "injective",
        "D and powers of A D^-alpha, alpha from the largest degree, exact",
        lambda graph: partial(injective_powers, graph),
    ),
):
    families.add(_family.name, _family)
