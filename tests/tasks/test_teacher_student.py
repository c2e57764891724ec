"""The teacher-student task, its model and the probe of its weights."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.dynamics import GradientDescent
from dynascope.engine import simulate
from dynascope.models import MLP, Neurons
from dynascope.probes import Loss, NeuronWeights
from dynascope.runtime.precision import precision
from dynascope.tasks import TeacherStudent


def test_points_lie_on_the_sphere_and_the_teacher_fits_itself():
    task = TeacherStudent(neurons=2, dimension=3, points=500)
    drawn = task.samples(jax.random.key(0))
    assert np.allclose(np.linalg.norm(drawn[0], axis=1), 1, atol=1e-6)
    assert np.allclose(np.asarray(drawn[0]).mean(axis=0), 0, atol=0.1)
    copy = Neurons(start=((2.0, 0.5, 0, 0), (0.5, 0, 2.0, 0))).build(3, 1)
    assert float(task.loss(copy.bind(copy.init(jax.random.key(1))), drawn)) < 1e-12
    other = Neurons(start=((2.0, 0.6, 0, 0), (0.5, 0, 2.0, 0))).build(3, 1)
    assert float(task.loss(other.bind(other.init(jax.random.key(1))), drawn)) > 1e-3


def test_noise_is_a_share_of_every_neurons_length():
    start = tuple((1.0, *row) for row in 100.0 * np.eye(40))
    params = Neurons(start=start, noise=0.01).build(40, 1).init(jax.random.key(0))
    moved = np.asarray(params["input"]) - 100 * np.eye(40)
    assert moved.std() == pytest.approx(1.0, rel=0.05)
    assert np.all(np.asarray(params["output"]) == 1)


def test_noise_is_normal_and_every_seeds_own():
    start = ((1.0, *[1.0] * 400),)  # a length of 20
    built = Neurons(start=start, noise=0.1).build(400, 1)
    drawn = [np.asarray(built.init(jax.random.key(s))["input"]) - 1 for s in (0, 1)]
    assert drawn[0].std() == pytest.approx(2.0, rel=0.15) and abs(drawn[0]).max() > 4
    assert abs(np.corrcoef(*(d.ravel() for d in drawn))[0, 1]) < 0.2


def test_a_random_start_is_even_within_one_over_the_root_of_the_inputs():
    params = Neurons(width=900).build(25, 4).init(jax.random.key(0))
    first, second = (np.asarray(params[name]) for name in ("input", "output"))
    assert (first.shape, second.shape) == ((900, 25), (4, 900))
    for weights, bound in ((first, 1 / 5), (second, 1 / 30)):
        assert 0.99 * bound < abs(weights).max() <= bound
        assert weights.std() == pytest.approx(bound / 3**0.5, rel=0.05)
    assert not np.allclose(first.ravel()[:3600] / 0.2, second.ravel() * 30, atol=1e-3)
    other = Neurons(width=900).build(25, 4).init(jax.random.key(1))
    assert not np.array_equal(first, other["input"])


def test_points_are_spread_evenly_and_every_seeds_own():
    task = TeacherStudent(neurons=1, dimension=3, points=20_000)
    x, other = (np.asarray(task.samples(jax.random.key(s))[0]) for s in (0, 1))
    assert not np.allclose(x, other)
    moments = x.T @ x / len(x)  # the identity over the dimension
    assert moments == pytest.approx(np.eye(3) / 3, abs=0.01)
    assert (x**4).mean(axis=0) == pytest.approx(1 / 5, abs=0.01)  # 3 / (d (d + 2))


def test_descent_of_one_neuron_is_a_plain_loop():
    task, start = TeacherStudent(1, 2, 200), ((0.1, 0.0, 0.1),)
    run = simulate(task, Neurons(start=start), GradientDescent(2.2), steps=30,
                   probes=[Loss(), NeuronWeights()], dtype="float64")  # fmt: skip
    with precision("float64"):
        from dynascope.core.randomness import key_for

        x, y = map(np.asarray, task.samples(key_for(0, "data")))
    v, w = 0.1, np.array([0.0, 0.1])
    for _ in range(30):
        mine = np.maximum(x @ w, 0)
        error = v * mine - y[:, 0]
        slopes = 2 * (error * mine).mean(), 2 * v * (error * (x @ w > 0)) @ x / len(x)
        v, w = v - 2.2 * slopes[0], w - 2.2 * slopes[1]
    last = run["neuron_weights"].sel(step=30).values.ravel()
    assert last == pytest.approx([v, *w], abs=1e-10)
    assert run["weight"].values.tolist() == ["output", "0", "1"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TeacherStudent(neurons=3, dimension=2), "neurons"),
        (lambda: TeacherStudent(points=0), "points"),
        (lambda: Neurons(width=0), "width"),
        (lambda: Neurons(noise=0.1), "noise"),
        (lambda: Neurons(start=((1.0, 2.0),), noise=-0.1), "noise"),
        (lambda: Neurons(start=((1.0, 2.0),)).build(1, 2), "start"),
        (lambda: Neurons(start=((1.0, 2.0), (1.0,))), "start"),
        (lambda: Neurons(start=((1.0, 2.0),)).build(2, 1), "start"),
        (lambda: simulate(TeacherStudent(1, 2, 5), MLP(), GradientDescent(0.1), steps=1,
                          probes=[NeuronWeights()]), "models.Neurons"),
    ],
)  # fmt: skip
def test_what_cannot_be_built_is_refused(make, message):
    with pytest.raises(BadInput, match=message):
        make()


def test_width_follows_a_given_start():
    assert Neurons(width=7, start=((1.0, 2.0),)).width == 1
    assert jnp.shape(Neurons(3).build(2, 1).init(jax.random.key(0))["input"]) == (3, 2)
