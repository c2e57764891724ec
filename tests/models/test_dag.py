"""DAG and convolutional networks against loops over vertices and windows."""

from __future__ import annotations

import jax
import networkx as nx
import numpy as np
import pytest
from scipy.signal import correlate

from compiling import quick  # tests is on the path
from dynascope import models
from dynascope.core.errors import BadInput
from dynascope.core.plain import fingerprint, from_plain, to_plain
from dynascope.models.wiring_families import densely_connected, drop_edges, fully_connected
from dynascope.runtime.precision import precision

ACTS = {
    "relu": lambda z: np.maximum(z, 0),
    "tanh": np.tanh,
    "swish": lambda z: z / (1 + np.exp(-z)),
}


def by_vertex(model, params, x, act, out=lambda z: z):
    """Definition 2.2.2 with one loop per vertex, for one input."""
    net = model.wiring
    weight = {}
    names = [v for layer in net.layers for v in layer]
    for layer, mask, w in zip(net.layers[1:], net.masks, params, strict=True):
        reads = [names[j] for j in np.flatnonzero(mask.any(axis=0))]
        weight |= {(u, v): float(w[i, j]) for i, v in enumerate(layer) for j, u in enumerate(reads)}
    value = dict(zip(net.inputs, x, strict=True))
    for v in net.fed:
        into = [u for u, t in net.edges if t == v]
        z = sum(weight[u, v] * value[u] for u in into) / len(into) ** 0.5
        value[v] = out(z) if v in net.outputs else act(z)
        value[v] += sum(value[u] for u, t in model.skips if t == v)
    return [value[v] for v in net.outputs]


def random_dag(seed):
    graph = nx.gnp_random_graph(14, 0.3, seed=seed, directed=True)
    return nx.DiGraph([(a, b) for a, b in graph.edges if a < b])


@pytest.mark.parametrize(("activation", "seed"), [("tanh", 0), ("relu", 1), ("swish", 2)])
def test_a_network_is_its_definition_vertex_by_vertex(activation, seed):
    model = models.Dag(random_dag(seed), activation=activation)
    net = model.wiring
    with precision("float64"):
        network = model.build(len(net.inputs), len(net.outputs))
        params = quick(network.init)(jax.random.key(seed))
        x = np.random.default_rng(0).normal(size=(3, len(net.inputs)))
        out = np.asarray(quick(network.apply)(params, x))
    slow = np.array([by_vertex(model, params, row, ACTS[activation]) for row in x])
    assert np.allclose(out, slow, rtol=1e-12, atol=1e-14)


def test_fully_connected_graph_is_the_mlp():
    with precision("float64"):
        dag = models.Dag(fully_connected((3, 5, 4, 2)).edges).build(3, 2)
        params = quick(dag.init)(jax.random.key(0))
        mlp = models.MLP(3, 5, "tanh", parameterization="ntk").build(3, 2)
        x = np.random.default_rng(0).normal(size=(6, 3))
        layers = [{"weight": w} for w in params]
        assert np.allclose(quick(dag.apply)(params, x), quick(mlp.apply)(layers, x), rtol=1e-12)


def test_a_wiring_can_be_given_as_it_is():
    net = models.drop_edges(models.densely_connected((3, 5, 5, 1)), 0.5, seed=4)
    model = models.Dag(net)
    assert sorted(model.wiring.edges) == sorted(net.edges) and model.wiring.inputs == net.inputs
    assert model == models.Dag(net.edges, vertices=range(14))


def test_skips_add_values_without_weights():
    edges = fully_connected((2, 3, 3, 1)).edges
    model = models.Dag(edges, skips=((2, 5), (0, 6), (1, 2)))
    with precision("float64"):
        network = model.build(2, 1)
        params = quick(network.init)(jax.random.key(0))
        x = np.random.default_rng(0).normal(size=2)
        out = float(quick(network.apply)(params, x)[0])
    assert np.isclose(out, by_vertex(model, params, x, np.tanh)[0], rtol=1e-12)
    assert sum(p.size for p in params) == len(edges)


def test_output_activation_and_outputs_in_different_layers():
    model = models.Dag([("x", "a"), ("a", "y"), ("x", "z")], output_activation="tanh")
    with precision("float64"):
        network = model.build(1, 2)
        params = quick(network.init)(jax.random.key(0))
        out = np.asarray(quick(network.apply)(params, np.array([0.7])))
    assert model.wiring.outputs == ("z", "y")
    assert np.allclose(out, by_vertex(model, params, [0.7], np.tanh, np.tanh), rtol=1e-12)


def test_entries_without_an_edge_are_zero_and_have_no_gradient():
    net = drop_edges(densely_connected((4, 6, 6, 1)), 0.5, 3)
    network = models.Dag(net.edges, vertices=tuple(range(17))).build(4, 1)
    params = quick(network.init)(jax.random.key(0))
    slopes = quick(jax.grad(lambda p: network.apply(p, np.ones(4, np.float32))[0]))(params)
    assert sum(int((np.asarray(w) != 0).sum()) for w in params) == len(net.edges)
    for w, slope in zip(params, slopes, strict=True):
        assert not np.asarray(slope)[np.asarray(w) == 0].any()


def test_the_fingerprint_of_a_graph_survives_storage_and_knows_the_edges():
    model = models.Dag(nx.DiGraph([("x", "a"), ("a", "y")]))
    assert from_plain(to_plain(model)) == model
    assert fingerprint(model) != fingerprint(models.Dag([("x", "a"), ("a", "y"), ("x", "y")]))


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: models.Dag([("a", "b"), ("b", "a")]), "a cycle"),
        (lambda: models.Dag([("x", "a"), ("a", "y")]).build(2, 1), "inputs of the graph: got 1"),
        (lambda: models.Dag([("x", "a"), ("a", "y")]).build(1, 2), "outputs of the graph: got 1"),
        (lambda: models.Dag([("x", "a"), ("a", "y")], skips=(("a", "y"),)), "skips"),
        (lambda: models.Dag([("x", "a"), ("a", "y")], skips=(("q", "a"),)), "unknown vertex 'q'"),
        (lambda: models.CNN(shape=(4, 4)).build(15, 1), "shape"),
        (lambda: models.CNN(shape=(4,)), "shape"),
        (lambda: models.CNN(window=0), "window"),
    ],
)
def test_networks_that_cannot_be_built_are_refused(make, told):
    with pytest.raises(BadInput, match=told):
        make()


@pytest.mark.parametrize("window", [3, 2, 4])
def test_convolution_is_the_sum_of_the_text(window):
    """zhu2024 (C.6) with +p, +q: zero padding, window from i - ceil((s - 1)/2), stride 1."""
    h, w, c = 5, 4, 2
    model = models.CNN(3, 3, window, (h, w, c), "tanh", parameterization="ntk")
    x = np.random.default_rng(0).normal(size=(h, w, c))
    with precision("float64"):
        network = model.build(h * w * c, 2)
        params = quick(network.init)(jax.random.key(0))
        out = np.asarray(quick(network.apply)(params, x.ravel()))
    a = x
    for layer in params[:-1]:
        weight = np.asarray(layer["weight"])
        low = -(-(window - 1) // 2)
        b = np.zeros((h, w, weight.shape[0]))
        for i, j, p, q in np.ndindex(h, w, window, window):
            r, s = i + p - low, j + q - low
            if 0 <= r < h and 0 <= s < w:
                b[i, j] += weight[:, p, q] @ a[r, s]
        a = np.tanh(b / (a.shape[-1] * window**2) ** 0.5)
    last = np.asarray(params[-1]["weight"]) @ a.ravel() / a.size**0.5
    assert np.allclose(out, last, rtol=1e-12)


def test_convolution_on_a_line_is_scipys():
    model = models.CNN(2, 1, 3, activation="linear", bias=False)
    x = np.random.default_rng(0).normal(size=9)
    with precision("float64"):
        network = model.build(9, 1)
        kernel, last = (np.asarray(p["weight"]) for p in quick(network.init)(jax.random.key(0)))
        out = float(quick(network.apply)([{"weight": kernel}, {"weight": last}], x)[0])
    seen = correlate(x, kernel[0, :, 0], mode="same")
    assert np.isclose(out, last[0] @ seen, rtol=1e-12)
