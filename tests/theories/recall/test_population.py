"""Exact population gradients: against the layer itself, drawn rows, and checks 10 and 11."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dynascope.models import RecallLayer
from dynascope.studies.recall.first_steps.draws import drawn
from dynascope.theories.recall.attention_gap import diagonal_values, gaps, learned_values
from dynascope.theories.recall.population import Population, feed_forward_gradient
from dynascope.theories.recall.sequences import Sequences


@pytest.fixture(scope="module")
def sampled():
    """Gradients of the layer on drawn rows, with values and feed-forward part set."""
    law, rng = Sequences(5, 9, 0.4), np.random.default_rng(0)
    rows = drawn(law, 60_000, rng)
    values = 0.1 * rng.normal(size=(6, 12))
    predicted = np.full(6, 1 / 6)

    def gradient(values):
        network = RecallLayer().build(6, 6)
        params = {**network.init(jax.random.key(0)), "values": jnp.asarray(values, jnp.float32)}

        def loss(attention, values, feed):
            own = {**params, "attention": attention, "values": values, "feed_forward": feed}
            logs = jax.nn.log_softmax(network.apply(own, jnp.asarray(rows.tokens)))
            return -logs[jnp.arange(len(rows.labels)), jnp.asarray(rows.labels)].mean()

        parts = (params["attention"], params["values"], params["feed_forward"])
        return [-np.asarray(g) for g in jax.grad(loss, (0, 1, 2))(*parts)]

    return law, values, predicted, gradient


def test_the_first_gradients_are_those_of_the_layer(sampled):
    """At zero: W_QK has none (check 10), W_V and W_F those of the population."""
    law, _, predicted, gradient = sampled
    attention, value, feed = gradient(np.zeros((6, 12)))
    population = Population(law)
    assert np.abs(attention).max() == 0
    assert np.allclose(value, population.value_gradient(predicted), atol=0.004)
    assert np.allclose(feed[:, 0], feed_forward_gradient(population, predicted), atol=0.006)


def test_the_gradient_of_attention_is_that_of_the_layer(sampled):
    """At zero attention, with values that predict evenly enough: small values."""
    law, values, predicted, gradient = sampled
    small = 0.01 * values
    found = gradient(small)[0][0] / 0.01  # query W_E(q): the first row
    exact = Population(law).attention_gradient(values, predicted)
    assert np.allclose(found, exact, atol=0.12 * np.abs(exact).max())


def test_phase_two():
    """Check 10: the noise's row is 0, the diagonal (1 - alpha)^2 / N^2."""
    population = Population(Sequences(65, 256, 0.3))
    values = learned_values(population)
    assert np.abs(values[65]).max() < 1e-12
    assert values[3, 3] * 65**2 == pytest.approx(0.49, rel=0.05)
    assert values[3, 66 + 3] * 65**2 == pytest.approx(0.49, rel=0.05)


@pytest.mark.parametrize("n", [16, 32, 64])
def test_attention_turns_to_what_follows_the_trigger(n):
    """Check 11: the first gap."""
    for with_trigger in (True, False):
        population = Population(Sequences(n, 4 * n, 0.3), with_trigger)
        b = 1 / n**2
        assert gaps(population, diagonal_values(population, b, b)).after_trigger > 0


def test_attention_avoids_noise_only_without_the_trigger_as_an_answer():
    """Check 11: the second gap with either sampling, N = 65, T = 4000, alpha = 0.3."""
    law, b = Sequences(65, 4000, 0.3), 1.0
    without, too = Population(law, False), Population(law, True)
    gap = gaps(without, diagonal_values(without, b, b)).from_noise
    assert 0.9 < gap * 65**2 / (0.3 * 0.49 * 2) < 1.1
    both = gaps(too, diagonal_values(too, b, b))
    assert both.from_noise < 0 < both.from_noise_at_trigger


def test_the_spread_within_rows_is_that_of_drawn_rows():
    """Check 11, cut in size: G against 200,000 rows at N = 6, T = 12."""
    law, rng = Sequences(6, 12, 0.3), np.random.default_rng(2)
    rows = drawn(law, 200_000, rng).tokens
    eye = np.eye(7)
    here = eye[rows].mean(1)
    before = eye[rows[:, :-1]].sum(1) / 12
    mean = np.concatenate([here, before], 1)
    population = Population(law)
    exact = sum(
        population._swapped(population._features(a).mean, a) for a in population.answers
    ) / len(population.answers)
    assert np.allclose(mean.mean(0), exact, atol=1e-3)
    product = mean.T @ mean / len(mean)
    # E n_q^2 / T^2 over answers, by their two kinds
    second = lambda f: np.diag(f.mean[:7]) - f.within[:7, :7]  # noqa: E731
    whole = (second(population.own)[0, 0] + 5 * second(population.other)[0, 0]) / 6
    assert product[0, 0] == pytest.approx(whole, rel=0.01)
