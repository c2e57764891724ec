"""Graph models against dense numpy twins written from the formulas."""

from __future__ import annotations

import jax
import networkx as nx
import numpy as np
import pytest

from compiling import quick  # tests is on the path
from dynascope.core.errors import BadInput
from dynascope.graphs import operators
from dynascope.models import GIN, CommunityNetwork, GraphAugmentedMLP, gfn, sgc, sign
from dynascope.models.affine_layers import draw_layers
from dynascope.models.propagation import OPERATORS, powers, standardise
from dynascope.runtime.precision import precision
from dynascope.tasks.graph_input import DenseGraph, sparse_graph

NODES = 12


@pytest.fixture(scope="module")
def graph():
    """A random graph with triangles and a node without edges."""
    drawn = nx.gnp_random_graph(NODES - 1, 0.35, seed=3)
    drawn.add_node(NODES - 1)
    return drawn


@pytest.fixture(scope="module")
def features():
    return np.random.default_rng(0).normal(size=(NODES, 2))


def matrix(name, graph):
    if name == "ppr":
        return operators.personalized_pagerank(graph, np.eye(NODES))
    build = {"bethe": operators.shifted_bethe_hessian}.get(name) or getattr(operators, name)
    return build(graph).toarray()


def both(graph, features):
    dense = DenseGraph(np.asarray(features), nx.to_numpy_array(graph))
    return sparse_graph(graph, features), dense


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_are_those_of_the_exact_room(graph, features, name):
    with precision("float64"):
        for given in both(graph, features):
            got = quick(lambda g: OPERATORS[name](g)(g.features))(given)
            np.testing.assert_allclose(got, matrix(name, graph) @ features, atol=1e-12)


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_commute_with_renaming_nodes(graph, features, name):
    order = np.random.default_rng(1).permutation(NODES)
    a = nx.to_numpy_array(graph)
    with precision("float64"):
        one, two = DenseGraph(features, a), DenseGraph(features[order], a[np.ix_(order, order)])
        act = quick(lambda g: OPERATORS[name](g)(g.features))
        first = np.asarray(act(one))
        np.testing.assert_allclose(act(two), first[order], atol=1e-12)


def test_powers_with_and_without_standardising(graph, features):
    a = nx.to_numpy_array(graph)
    with precision("float64"):
        given = sparse_graph(graph, features)
        plain = powers(given.neighbour_sum, given.features, 3, normalise=False)
        stepped = powers(given.neighbour_sum, given.features, 2, normalise=True)
    np.testing.assert_allclose(plain[2], a @ a @ a @ features, atol=1e-10)
    once = a @ features
    once = (once - once.mean(0)) / np.sqrt(once.var(0) + 1e-5)
    twice = a @ once
    np.testing.assert_allclose(
        stepped[1], (twice - twice.mean(0)) / np.sqrt(twice.var(0) + 1e-5), atol=1e-10
    )


def test_a_constant_column_becomes_zero():
    assert not np.asarray(standardise(np.full((5, 1), 3.0))).any()


def relu(x):
    return np.maximum(x, 0)


def dense_layers(layers, x):
    for i, layer in enumerate(layers):
        x = x @ np.asarray(layer["weight"]).T + np.asarray(layer["bias"])
        x = relu(x) if i + 1 < len(layers) else x
    return x


def test_graph_augmented_mlp_is_an_mlp_of_stacked_powers(graph, features):
    model = GraphAugmentedMLP(("adjacency", "bethe"), (2, 1), width=5, normalise="none")
    a, h = nx.to_numpy_array(graph), matrix("bethe", graph)
    stacked = np.hstack([features, a @ features, a @ a @ features, h @ features])
    with precision("float64"):
        network = model.build(2, 1)
        params = quick(network.init)(jax.random.key(0))
        for given in both(graph, features):
            np.testing.assert_allclose(
                quick(network.apply)(params, given), dense_layers(params, stacked), atol=1e-10
            )


def test_standardised_columns_have_mean_zero_and_variance_one(graph, features):
    with precision("float64"):
        model = GraphAugmentedMLP(powers=(3,))
        blocks = np.asarray(quick(model.propagate)(sparse_graph(graph, features)))
    assert blocks.shape == (4, NODES, 2)
    np.testing.assert_allclose(np.mean(blocks, axis=1), 0, atol=1e-12)
    np.testing.assert_allclose(np.var(blocks, axis=1), 1, atol=1e-4)


def test_named_members_of_the_family(graph, features):
    s, d = matrix("self_loop", graph), matrix("degree", graph)
    with precision("float64"):
        given = sparse_graph(graph, features)
        simple = sgc(3).build(2, 4)
        params = quick(simple.init)(jax.random.key(1))
        np.testing.assert_allclose(
            quick(simple.apply)(params, given),
            dense_layers(params, s @ s @ s @ features),
            atol=1e-10,
        )
        blocks = quick(gfn(2).propagate)(given)
    wanted = np.stack([features, d @ features, s @ features, s @ s @ features])
    wanted = (wanted - wanted.mean(1, keepdims=True)) / np.sqrt(wanted.var(1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(blocks, wanted, atol=1e-10)


def test_sign_gives_every_propagation_a_first_layer_of_its_own(graph, features):
    model = sign(adjacency=2, width=3)
    with precision("float64"):
        given = sparse_graph(graph, features)
        network = model.build(2, 1)
        params = quick(network.init)(jax.random.key(2))
        blocks, got = quick(model.propagate)(given), quick(network.apply)(params, given)
    assert blocks.shape[0] == 5  # I, two normalised, PPR, triangles
    hidden = np.hstack([b @ w for b, w in zip(np.asarray(blocks), np.asarray(params["own"]))])
    np.testing.assert_allclose(got, dense_layers(params["head"], relu(hidden)), atol=1e-10)


@pytest.mark.parametrize("jumping", [False, True])
def test_gin_is_its_formula(graph, features, jumping):
    a = nx.to_numpy_array(graph)
    with precision("float64"):
        network = GIN(2, 4, jumping).build(2, 1)
        params = quick(network.init)(jax.random.key(0))
        params["eps"] = np.array([0.3, -0.2])
        got = [quick(network.apply)(params, given) for given in both(graph, features)]
    h, kept = features, []
    for k, eps in enumerate((0.3, -0.2)):
        h = relu(dense_layers(params["maps"][2 * k : 2 * k + 2], (1 + eps) * h + a @ h))
        kept.append(h)
    wanted = dense_layers(params["maps"][-2:], np.hstack(kept) if jumping else h)
    for each in got:
        np.testing.assert_allclose(each, wanted, atol=1e-10)


@pytest.mark.parametrize("layers", [1, 3])
def test_community_network_is_its_formula(graph, features, layers):
    a = nx.to_numpy_array(graph)
    with precision("float64"):
        network = CommunityNetwork(layers, 4).build(2, 2)
        params = quick(network.init)(jax.random.key(0))
        got = quick(network.apply)(params, DenseGraph(features, a))
    own = [params["entry"]]
    own += [{n: v[k] for n, v in params["stack"].items()} for k in range(layers - 1)]
    h = features
    for layer in own:
        h = dense_layers([layer], np.hstack([h, a @ h, a @ a @ h]))
        h = np.hstack([relu(h[:, :2]), h[:, 2:]])
        h = (h - h.mean(0)) / np.sqrt(h.var(0) + 1e-5)
    np.testing.assert_allclose(got, dense_layers([params["head"]], h), atol=1e-9)


def test_layers_are_uniform_within_the_usual_bound():
    (layer,) = draw_layers(jax.random.key(0), [(100, 50)])
    weight = np.asarray(layer["weight"])
    assert np.abs(weight).max() <= 0.1 and np.abs(layer["bias"]).max() <= 0.1
    assert weight.std() == pytest.approx(0.1 / 3**0.5, rel=0.03)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: GraphAugmentedMLP(powers=(1, 2)), "one for each of 1"),
        (lambda: GraphAugmentedMLP(powers=(0,)), "at least 1"),
        (lambda: GraphAugmentedMLP(separate=True, depth=3), "first layers of their own"),
        (lambda: GraphAugmentedMLP(("adjacncy",)), "did you mean 'adjacency'"),
        (lambda: GIN(0), "at least 1"),
        (lambda: CommunityNetwork(width=3), "even number"),
    ],
)
def test_settings_that_make_no_model_are_refused(build, message):
    with pytest.raises(BadInput, match=message):
        build()
