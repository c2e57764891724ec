import networkx as nx
import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.probes.lattice import (
    comparable_pairs,
    corners,
    lattice_edges,
    lattice_layout,
    order_violations,
)
from dynascope.theories.swing_by.closed_form import flow_decay, one_layer_jacobian
from dynascope.theories.swing_by.schur import factor_jacobian
from dynascope.theories.swing_by.tied_flow import tied_descent


def corner_losses(path, means):
    """Losses of linear maps at all corners, (time, corner)."""
    points = corners(len(means)) * np.asarray(means, float)
    wrong = np.einsum("tij,cj->tci", path, points) - points
    return (wrong**2).sum(axis=-1) / 2


@pytest.mark.parametrize("concepts", [1, 2, 3, 4, 5])
def test_pairs_and_edges_are_those_of_the_subset_order(concepts):
    points = corners(concepts)
    pairs = {tuple(p) for p in comparable_pairs(concepts).tolist()}
    expected = {
        (i, j)
        for i, u in enumerate(points)
        for j, v in enumerate(points)
        if i != j and (u <= v).all()
    }
    assert pairs == expected and len(pairs) == 3**concepts - 2**concepts
    graph = nx.Graph(lattice_edges(concepts).tolist())
    assert nx.is_isomorphic(graph, nx.hypercube_graph(concepts))


def test_one_layer_from_zero_never_violates_the_order():  # M21
    means, times = np.array([1.0, 2.0, 3.0, 4.0]), np.linspace(0, 10, 201)
    signal = 0.25 + means**2 / 4
    path = one_layer_jacobian(flow_decay(signal, times), np.zeros((4, 4)))
    found = order_violations(corner_losses(path, means))
    assert found.pairs == 65
    assert (found.count == 0).all() and (found.gap == 0).all()


def test_swing_by_violates_the_order_for_a_third_of_the_time():  # M21
    means = np.array([1.0, 2.0])
    start = factor_jacobian(0.01 * np.array([[1.0, 0.9], [0.9, 1.0]]))
    losses = corner_losses(tied_descent(start, means**2 / 2 + 0.0025, 0.001, 30_000), means)
    weak, both = 2, 3  # concept 0 alone, and both
    excess = losses[:, weak] - losses[:, both]
    assert 0.30 < (excess > 1e-12).mean() < 0.45
    assert excess.max() == pytest.approx(0.166, abs=0.001)
    found = order_violations(losses)
    assert found.gap.max() == excess.max()
    assert found.count.tolist() == (excess > 1e-12).astype(int).tolist()
    # In exact arithmetic it never ends: the rate depends on what still counts.
    shares = [order_violations(losses, tolerance=t).count.mean() for t in (1e-4, 1e-12, 0.0)]
    assert shares[0] < shares[1] - 0.1 < shares[2] - 0.2


def test_random_losses_violate_about_half_the_pairs():
    """A control: without any order the rate is one half."""
    losses = np.random.default_rng(0).uniform(size=(500, 16))
    assert order_violations(losses).rate.mean() == pytest.approx(0.5, abs=0.02)


def test_layout_puts_equal_sizes_in_columns_without_overlap():
    places = lattice_layout(4)
    assert np.array_equal(places[:, 0], corners(4).sum(axis=1))
    assert len({tuple(p) for p in places.tolist()}) == 16
    assert places[:, 1].sum() == 0


def test_bad_input_is_refused():
    with pytest.raises(BadInput, match="corner"):
        order_violations([1.0, 2.0, 3.0])
    with pytest.raises(BadInput, match="NaN"):
        order_violations([np.nan, 1.0])
    with pytest.raises(BadInput, match="concepts"):
        corners(40)
