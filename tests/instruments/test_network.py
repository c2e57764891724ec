"""Padded networks, points around a start and training records, against dense twins."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from compiling import quick  # tests is on the path
from dynascope import models, probes
from dynascope.instruments.network.measuring import Training, measure_linearity, train
from dynascope.instruments.network.padded import inputs, pad, pad_channels
from dynascope.models.wiring_families import densely_connected, drop_edges, fully_connected
from dynascope.runtime.precision import precision
from dynascope.studies.linearity.architectures import ARCHITECTURES

SIZES = (12, 9, 9, 9, 1)


def dense_hessian(network, weights, x):
    with precision("float64"):
        flat, back = ravel_pytree([jnp.asarray(w) for w in weights])
        row = jnp.asarray(x)[None]
        f = quick(jax.hessian(lambda v: network.outputs(back(v), row)[0, 0]))
        return np.asarray(f(flat))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dropped", "skips"])
def test_padding_changes_nothing(name):
    """A padded network has the outputs and the Hessian norm of the tight one."""
    drawn = ARCHITECTURES[name](5, 6, 1)
    options = {"skips": drawn.skips, "bend": drawn.bend}
    tight, wide = pad(drawn.net, **options), pad(drawn.net, SIZES, **options)
    x = inputs(5, 3, 0, 12)
    start = [net.draw(np.random.default_rng(0)) for net in (tight, wide)]
    with precision("float64"):
        rows = jnp.asarray(x)
        small, large = (
            quick(tight.outputs)(start[0], rows[:, :5]),
            quick(wide.outputs)(start[1], rows),
        )
        assert np.allclose(small, large, rtol=1e-12)
    found = [measure_linearity(net, 0, row, [0.0], [False]).norms[0] for net, row in
             ((tight, x[0, :5]), (wide, x[0]))]  # fmt: skip
    exact = np.abs(np.linalg.eigvalsh(dense_hessian(tight, start[0], x[0, :5]))).max()
    assert np.allclose(found, exact, rtol=1e-4)


def test_padded_wiring_is_the_model_of_the_graph():
    net = drop_edges(densely_connected((4, 6, 5, 1)), 0.4, 2)
    network = pad(net)
    start = network.draw(np.random.default_rng(0))
    x = inputs(4, 3, 0, 4)
    model = models.Dag(net.edges, vertices=range(16))
    columns = [np.flatnonzero(m.any(axis=0)) for m in model.wiring.masks]
    assert model.wiring.layers == net.layers
    with precision("float64"):
        params = [jnp.asarray(w[:, c]) for w, c in zip(start, columns, strict=True)]
        expected = quick(model.build(4, 1).apply)(params, jnp.asarray(x))
        assert np.allclose(quick(network.outputs)(start, jnp.asarray(x)), expected, rtol=1e-12)


def test_padded_channels_are_the_smaller_network():
    wide, tight = pad_channels(3, 6, 5), pad_channels(3, 6, 3)
    x = inputs(6, 4, 0, 6)
    with precision("float64"):
        a, b = (
            quick(n.outputs)(n.draw(np.random.default_rng(0)), jnp.asarray(x))
            for n in (wide, tight)
        )
        assert np.allclose(a, b, rtol=1e-12)


def test_two_layers_have_the_hessian_norm_of_the_closed_form():
    """Two layers, tanh: blocks per vertex, max |a|/2 + sqrt(a^2/4 + b^2)."""
    d, m = 5, 12
    network = pad(fully_connected((d, m, 1)))
    u, v = network.draw(np.random.default_rng(3))[0], network.draw(np.random.default_rng(3))[1]
    x = inputs(d, 1, 0, d)[0]
    z = u @ x / d**0.5
    slope, bend = 1 - np.tanh(z) ** 2, -2 * np.tanh(z) * (1 - np.tanh(z) ** 2)
    a = v[0, d:] * bend * (x @ x) / (d * m**0.5)
    b = slope * np.linalg.norm(x) / (m * d) ** 0.5
    exact = np.abs(np.abs(a) / 2 + np.sqrt(a**2 / 4 + b**2)).max()
    dense = np.abs(np.linalg.eigvalsh(dense_hessian(network, [u, v], x))).max()
    assert np.isclose(dense, exact, rtol=1e-10)
    assert np.isclose(measure_linearity(network, 3, x, [0.0], [False]).norms[0], exact, rtol=1e-5)


def test_points_lie_where_they_should_and_values_are_those_of_the_network():
    network = pad(fully_connected((4, 5, 5, 1)))
    x = inputs(4, 1, 0, 4)[0]
    seen = measure_linearity(network, 0, x, [0.0, 2.0, 2.0], [False, False, True])
    random = np.random.default_rng(0)
    start, aside = network.draw(random), network.draw(random)
    length = np.sqrt(sum((a**2).sum() for a in aside))
    there = [w + 2 * a / length for w, a in zip(start, aside, strict=True)]
    with precision("float64"):
        f = lambda w, x: network.outputs(w, x[None])[0, 0]  # noqa: E731
        value = float(quick(f)(there, jnp.asarray(x)))
        linear = float(quick(models.linearize(f, start))(there, jnp.asarray(x)))
    assert np.isclose(seen.values[1], value, rtol=1e-12)
    assert np.isclose(seen.linear[1], linear, rtol=1e-12)
    # Along the top eigenvector the gap is larger than in a random direction.
    gaps = np.abs(seen.values - seen.linear)
    assert gaps[0] == 0 and gaps[2] > 3 * gaps[1] and seen.converged.all()


def test_the_gap_is_below_its_bound_in_a_hundred_directions():
    """zhu2024 Cor. 2.3.7: |f - f_lin| <= R^2/2 max |H| on the segment; dense Hessians."""
    network = pad(fully_connected((3, 4, 4, 1)))
    x = inputs(3, 1, 0, 3)[0]
    with precision("float64"):
        start, back = ravel_pytree([jnp.asarray(w) for w in network.draw(np.random.default_rng(0))])

        def f(v):
            return network.outputs(back(v), jnp.asarray(x)[None])[0, 0]

        directions = np.random.default_rng(1).normal(size=(100, start.size))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        hessian = jax.jit(jax.vmap(lambda v: jnp.abs(jnp.linalg.eigvalsh(jax.hessian(f)(v))).max()))
        radius, shares = 2.0, np.linspace(0, 1, 9)

        @jax.jit
        def gaps(directions):
            slope, ahead = jax.grad(f)(start), jax.vmap(f)(start + radius * directions)
            return jnp.abs(ahead - f(start) - radius * directions @ slope)

        gap = np.asarray(gaps(jnp.asarray(directions)))
        largest = np.max([hessian(start + radius * s * directions) for s in shares], axis=0)
    assert (gap <= largest * radius**2 / 2).all()
    assert (gap > 0).all()


def test_training_records_the_kernel_of_the_jacobian_and_polyaks_inequality():
    network = pad(fully_connected((4, 20, 1)))
    x, y = inputs(4, 4, 0, 4), np.array([[1.0], [-1.0], [1.0], [-1.0]])
    run = train(network, 0, x, y, 60, 20)
    with precision("float64"):
        start = [jnp.asarray(w) for w in network.draw(np.random.default_rng(0))]
        rows = quick(jax.jacrev(lambda w: network.outputs(w, jnp.asarray(x))))(start)
        flat = np.concatenate([np.asarray(r).reshape(4, -1) for r in rows], axis=1)
        f0 = np.asarray(quick(network.outputs)(start, jnp.asarray(x)))[:, 0]
    assert np.allclose(run.kernels[0], flat @ flat.T, rtol=1e-10)
    assert np.isclose(run.loss[0], ((f0 - y[:, 0]) ** 2).sum() / 2, rtol=1e-12)
    assert np.isclose(run.slope[0], (f0 - y[:, 0]) @ run.kernels[0] @ (f0 - y[:, 0]), rtol=1e-10)
    assert (run.slope >= 2 * run.smallest * run.loss * (1 - 1e-9)).all()
    assert run.drift[0] == 0 and (np.diff(run.drift) >= 0).all() and run.distance[0] == 0
    assert run.loss[-1] < run.loss[0] / 10


def test_a_run_that_diverged_keeps_what_it_saw_before():
    kernels = np.array([np.eye(2), 3 * np.eye(2), np.full((2, 2), np.nan)])
    run = Training(kernels, np.ones(3), np.ones(3), np.ones(3))
    assert run.drift.tolist() == [0.0, 2.0, 2.0]
    assert run.smallest[:2].tolist() == [1.0, 3.0] and np.isnan(run.smallest[2])


def test_the_tensor_norm_of_several_outputs_is_below_their_number_times_the_largest():
    """zhu2024 A.3: sup of sum H_ijk v_i u_j s_k, by ascent, between max |H_k| and c max |H_k|."""
    net = fully_connected((3, 4, 3))
    start = pad(net).draw(np.random.default_rng(0))
    x = inputs(3, 1, 0, 3)[0]
    each = np.array([dense_hessian(pad(net, watched=[7 + k]), start, x) for k in range(3)])
    largest = np.abs(np.linalg.eigvalsh(each)).max()
    best = 0.0
    for seed in range(20):
        s = np.random.default_rng(seed).normal(size=3)
        for _ in range(100):
            values, vectors = np.linalg.eigh(np.einsum("k,kij->ij", s / np.linalg.norm(s), each))
            top = vectors[:, np.abs(values).argmax()]
            s = np.einsum("kij,i,j->k", each, top, top)
        best = max(best, float(np.linalg.norm(s)))
    assert largest * (1 - 1e-9) <= best <= 3 * largest


def test_two_relu_layers_have_the_hessian_norm_of_the_text():
    """zhu2024: |x| / sqrt(m d) exactly, whatever the weights, if a vertex is active."""
    d, m = 7, 30
    network = models.MLP(2, m, "relu", parameterization="ntk").build(d, 1)
    x = inputs(d, 1, 0, d)
    with precision("float64"):
        for seed in range(2):
            params = network.init(jax.random.key(seed))
            found = probes.output_hessian_norm(network.apply, params, x, tolerance=1e-9)
            assert found.value == pytest.approx(np.linalg.norm(x) / (m * d) ** 0.5, rel=1e-8)


def test_one_layer_is_linear():
    network = models.MLP(1, parameterization="ntk").build(3, 1)
    params = network.init(jax.random.key(0))
    found = probes.output_hessian_norm(network.apply, params, inputs(3, 2, 0, 3).astype("float32"))
    assert found.value == 0
