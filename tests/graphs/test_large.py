"""A million nodes, the size that the README names; `benchmarks/graphs.py` prints the times."""

from __future__ import annotations

import numpy as np
import pytest

from dynascope.graphs import from_edges, refine


@pytest.mark.slow
def test_the_first_round_on_a_million_nodes_finds_the_degrees():
    pairs = np.random.default_rng(0).integers(0, 10**6, (5 * 10**6, 2))
    graph = from_edges(pairs, 10**6)
    rows = refine(graph, 5)
    assert rows.shape == (6, 10**6)
    assert rows[1].max() + 1 == len(np.unique(graph.degrees))
