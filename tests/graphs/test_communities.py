from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from dynascope.graphs import from_edges
from dynascope.graphs.communities import (
    HARDNESSES,
    adjacency_communities,
    bethe_communities,
    chance_overlap,
    overlap,
)


def block_model(nodes, inside, across, random):
    """A graph of two equal communities: edges with probability p/n inside, q/n across."""
    community = np.repeat([0, 1], nodes // 2)
    same = community[:, None] == community[None, :]
    chance = np.where(same, inside, across) / nodes
    joined = np.triu(random.random((nodes, nodes)) < chance, k=1)
    return from_edges(np.argwhere(joined), nodes), community


def mean_overlap(answer, rank, graphs):
    random = np.random.default_rng(rank)
    drawn = (block_model(250, *HARDNESSES[rank], random) for _ in range(graphs))
    scores = [overlap(answer(graph), truth) for graph, truth in drawn]
    assert all(0 <= s <= 1 for s in scores)
    return float(np.mean(scores))


def test_chance_equals_coin_flips():
    random = np.random.default_rng(0)
    truth = np.repeat([0, 1], 125)
    flips = np.mean([overlap(random.integers(0, 2, 250), truth) for _ in range(4000)])
    assert chance_overlap(250) == pytest.approx(0.0504, abs=1e-4)
    assert flips == pytest.approx(chance_overlap(250), abs=0.003)
    assert chance_overlap(2) == 0.5  # both right or both wrong in two of four cases


def test_overlap_does_not_care_how_communities_are_called():
    truth = [0, 0, 1, 1]
    assert overlap(truth, truth) == overlap([1, 1, 0, 0], truth) == 1.0
    assert overlap([0, 1, 0, 1], truth) == 0.0


def test_bethe_improves_with_the_signal_and_beats_the_adjacency():
    bethe = [mean_overlap(bethe_communities, rank, graphs=20) for rank in range(4)]
    assert bethe == sorted(bethe)
    assert bethe[0] > 2 * chance_overlap(250)
    for rank in (2, 3):
        assert bethe[rank] > mean_overlap(adjacency_communities, rank, graphs=20)


def test_without_edges_across_the_pieces_are_the_communities():
    assert mean_overlap(bethe_communities, 4, graphs=10) > 0.85
    assert mean_overlap(adjacency_communities, 4, graphs=10) > 0.85
    two = nx.disjoint_union(nx.complete_graph(5), nx.complete_graph(5))
    assert overlap(bethe_communities(two), np.repeat([0, 1], 5)) == 1.0
