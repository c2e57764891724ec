"""Alignment and jets against dense Hessians, differences, and networks with frozen signs."""

from __future__ import annotations

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from compiling import quick  # tests is on the path
from dynascope.core.errors import BadInput
from dynascope.core.randomness import key_for
from dynascope.dynamics import GradientDescent
from dynascope.engine import simulate
from dynascope.models import MLP
from dynascope.numerics.products import flatten
from dynascope.probes import EdgeOfStability, edge_of_stability, line_jet
from dynascope.probes.edge import Edge
from dynascope.tasks import Blobs

RATE = 0.8


@cache  # one function object is compiled once
def network(activation, depth, seed=0):
    """A small network's loss, parameters and samples, in float64."""
    built = MLP(depth, 6, activation).build(5, 1)
    random = np.random.default_rng(seed)
    x, y = random.normal(size=(40, 5)), random.normal(size=(40, 1))

    def loss(params):
        return jnp.mean((built.apply(params, x) - y) ** 2)

    return loss, quick(built.init)(jax.random.key(seed)), x, y


def along(loss, params):
    """The loss by distance along minus the gradient, and the length of a step."""
    vector, restore = flatten(params)
    slope, _ = flatten(quick(jax.grad(loss))(params))
    size = float(jnp.linalg.norm(slope))
    line = quick(lambda t: loss(restore(vector - t * slope / size)))
    return (lambda t: float(line(t))), RATE * size


@pytest.mark.slow
def test_jets_of_a_smooth_network_are_those_of_differences():
    with jax.enable_x64(True):
        loss, params, *_ = network("tanh", 2)
        f, length = along(loss, params)
        jet = line_jet(loss, params, RATE)
        at, h = jet.place * length, 0.01
        # Central differences of sixth order and more: a fit through 13 points.
        steps = h * np.arange(-6, 7)
        fit = np.polynomial.Polynomial.fit(steps, [f(at + s) for s in steps], 12).convert().coef
    assert jet.second == pytest.approx(2 * fit[2], rel=1e-4)
    assert jet.third == pytest.approx(6 * fit[3], rel=1e-4)
    assert jet.fourth == pytest.approx(24 * fit[4], rel=1e-4)
    expected = 3 * (6 * fit[3]) ** 2 - 2 * fit[2] * 24 * fit[4]
    assert jet.criticality == pytest.approx(expected, rel=1e-4)


@pytest.mark.slow
def test_jets_of_a_relu_network_are_those_of_its_frozen_piece():
    """With signs frozen the loss along a line is a polynomial of degree 6: it is fitted."""
    with jax.enable_x64(True):
        loss, params, x, y = network("relu", 3, seed=3)
        jet = line_jet(loss, params, RATE)
        _, length = along(loss, params)
        vector, restore = flatten(params)
        slope, _ = flatten(quick(jax.grad(loss))(params))
        unit = slope / jnp.linalg.norm(slope)
        there = restore(vector - jet.place * length * unit)
        signs, hidden = [], x
        for layer in there[:-1]:
            before = hidden @ layer["weight"].T + layer["bias"]
            signs.append(before > 0)
            hidden = before * signs[-1]

        def frozen(t):
            hidden = x
            layers = restore(vector - (jet.place * length + t) * unit)
            for layer, sign in zip(layers[:-1], signs, strict=True):
                hidden = (hidden @ layer["weight"].T + layer["bias"]) * sign
            last = hidden @ layers[-1]["weight"].T + layers[-1]["bias"]
            return float(jnp.mean((last - y) ** 2))

        places = np.linspace(-2, 2, 9)
        fit = np.polynomial.Polynomial.fit(places, [frozen(t) for t in places], 6).convert().coef
    parts = (jet.second, jet.third, jet.fourth)
    assert parts == pytest.approx((2 * fit[2], 6 * fit[3], 24 * fit[4]), rel=1e-6)


def test_the_place_is_the_lowest_of_the_step():
    with jax.enable_x64(True):
        loss, params, *_ = network("tanh", 2)
        f, length = along(loss, params)
        best = line_jet(loss, params, RATE).place
        everywhere = [f(c * length) for c in np.linspace(0, 1, 201)]
        assert f(best * length) <= min(everywhere) + 1e-12
        assert 0 < best < 1, "the step crosses the valley"
        small = line_jet(loss, params, RATE / 100)
    assert small.place == pytest.approx(1)  # a short step ends before the valley


def test_sharpness_and_alignment_are_those_of_the_dense_hessian():
    with jax.enable_x64(True):
        loss, params, *_ = network("tanh", 2)
        vector, restore = flatten(params)
        flat = lambda v: loss(restore(v))  # noqa: E731
        dense, slope = quick(lambda v: (jax.hessian(flat)(v), jax.grad(flat)(v)))(vector)
        (values, vectors), slope = np.linalg.eigh(dense), np.asarray(slope)
        cosine = abs(vectors[:, -1] @ slope) / np.linalg.norm(slope)
        seen = edge_of_stability(loss, params, RATE)
        assert seen[2:] == tuple(line_jet(loss, params, RATE))
    assert seen.sharpness == pytest.approx(values[-1], rel=1e-6)
    assert seen.alignment == pytest.approx(cosine, abs=1e-3)
    assert 0.01 < cosine < 0.999, "neither orthogonal nor parallel by accident"


def test_along_the_top_eigenvector_the_alignment_is_one():
    bowl = lambda w: 2 * w[0] ** 2 + w[1] ** 2 / 2  # noqa: E731
    assert edge_of_stability(bowl, jnp.array([1.0, 0.0]), 0.1).alignment == pytest.approx(1)
    assert edge_of_stability(bowl, jnp.array([0.0, 1.0]), 0.1).alignment == pytest.approx(
        0, abs=1e-3
    )


def test_the_probe_looks_at_the_tasks_loss():
    """For one affine layer the Hessian is 2 [x, 1]^T [x, 1] / n, and the valley a parabola."""
    task = Blobs(count=30, dimension=4)
    run = simulate(task, MLP(1), GradientDescent(0.3), steps=2, probes=[EdgeOfStability(0.3)])
    parts = run["edge_of_stability"]
    assert parts["part"].values.tolist() == list(Edge._fields)
    x, _ = task.samples(key_for(0, "data"))
    rows = np.concatenate([x, np.ones((30, 1))], axis=1)
    top = np.linalg.eigvalsh(2 * rows.T @ rows / 30)[-1]
    assert parts.sel(part="sharpness").values == pytest.approx(top, rel=1e-4)
    assert parts.sel(part=["third", "fourth"]).values == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize("rate", [0.0, -1.0, float("inf"), float("nan")])
def test_rates_that_are_none_are_refused(rate):
    with pytest.raises(BadInput, match="learning_rate"):
        line_jet(lambda w: (w**2).sum(), jnp.ones(1), rate)
    with pytest.raises(BadInput, match="learning_rate"):
        EdgeOfStability(rate)
