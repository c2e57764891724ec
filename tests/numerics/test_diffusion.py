"""The diffusion process on a Gaussian, where loss and samples are known in closed form."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from compiling import quick  # tests is on the path
from dynascope.core.errors import BadInput
from dynascope.numerics.diffusion import alpha, ancestral, antithetic_times, bound_parts, sigma
from dynascope.runtime.precision import precision

LEAST, MOST = -5.0, 10.0
MEAN, DEVIATION = 0.7, 0.4


def level(t):
    """gamma(t) from -5 to 10."""
    return LEAST + (MOST - LEAST) * t


def perfect(z, gamma):
    """E[eps | z] for normal data: sigma (z - alpha m) / (alpha^2 s^2 + sigma^2)."""
    a, b = alpha(gamma)[:, None], sigma(gamma)[:, None]
    return b * (z - a * MEAN) / (a**2 * DEVIATION**2 + b**2)


def test_levels_have_their_limits():
    gamma = jnp.asarray([-80.0, 0.0, 80.0])
    assert np.allclose(alpha(gamma), [1.0, 0.5**0.5, 0.0], atol=1e-6)
    assert np.allclose(sigma(gamma), [0.0, 0.5**0.5, 1.0], atol=1e-6)


def test_antithetic_times_are_one_in_each_stratum():
    times = np.asarray(antithetic_times(jnp.asarray(0.3), 7))
    assert np.array_equal(np.floor(times * 7), np.arange(7))
    assert np.allclose(np.diff(times), 1 / 7, rtol=1e-5)


def test_a_perfect_denoiser_pays_the_closed_form():
    """1/2 log((1 + s^2 e^-gamma0) / (1 + s^2 e^-gamma1)) nats a dimension; the rest is exact."""
    count, size, noise_of_data = 40_000, 3, 0.1
    with precision("float64"):
        keys = jax.random.split(jax.random.key(0), 2)
        x = MEAN + DEVIATION * jax.random.normal(keys[0], (count, size), jnp.float64)
        noise = jax.random.normal(keys[1], (count, size), jnp.float64)
        times = antithetic_times(jnp.asarray(0.5), count)
        pay = quick(lambda *given: bound_parts(level, perfect, *given, noise_of_data))
        parts = pay(x, times, noise)
        found = [np.asarray(p) * np.log(2) for p in parts]  # in nats a dimension
    s = DEVIATION**2
    diffusion = 0.5 * np.log((1 + s * np.exp(-LEAST)) / (1 + s * np.exp(-MOST)))
    # The error of a mean over strata is below that of a plain mean.
    assert abs(found[0].mean() - diffusion) < 4 * found[0].std() / count**0.5
    variance = 1 / (1 + np.exp(-MOST))
    square = (1 - variance) * (MEAN**2 + s)
    prior = 0.5 * (variance - 1 - np.log(variance) + square)
    assert abs(found[1].mean() - prior) < 4 * found[1].std() / count**0.5 + 1e-12
    reconstruction = 0.5 * (np.log(2 * np.pi * 0.01) + np.exp(LEAST) / 0.01)
    assert np.allclose(found[2], reconstruction, rtol=1e-10)


def test_a_denoiser_that_is_not_perfect_pays_more():
    count = 4000
    x = MEAN + DEVIATION * jax.random.normal(jax.random.key(0), (count, 2))
    noise = jax.random.normal(jax.random.key(1), (count, 2))
    times = antithetic_times(jnp.asarray(0.5), count)
    best, worse = (
        quick(
            lambda *given, share=share: bound_parts(
                level, lambda z, g: share * perfect(z, g), *given, 0.1
            )
        )(x, times, noise).diffusion.mean()
        for share in (1.0, 0.8)
    )
    assert worse > best + 0.1


def test_prior_is_the_divergence_of_two_normal_distributions():
    """Against scipy-free quadrature of the density's definition."""
    x = 1.3
    found = bound_parts(
        lambda t: 1.0 + 0.5 * t, lambda z, g: z, jnp.full((1, 1), x), jnp.zeros(1),
        jnp.zeros((1, 1)), 1.0,
    ).prior[0] * np.log(2)  # fmt: skip
    variance = 1 / (1 + np.exp(-1.5))
    mean = (1 - variance) ** 0.5 * x
    z = np.linspace(mean - 12, mean + 12, 200_001)
    density = np.exp(-((z - mean) ** 2) / (2 * variance)) / (2 * np.pi * variance) ** 0.5
    ratio = -((z - mean) ** 2) / (2 * variance) - 0.5 * np.log(variance) + z**2 / 2
    assert np.isclose(found, np.trapezoid(density * ratio, z), rtol=1e-4)


def moments(steps):
    """Mean and variance after the sampler's steps, exactly: every step is affine in z."""
    mean, variance = 0.0, 1.0
    for i in range(steps):
        gamma, after = level(1 - i / steps), level(1 - (i + 1) / steps)
        a, b = (1 / (1 + np.exp(gamma))) ** 0.5, (1 / (1 + np.exp(-gamma))) ** 0.5
        a_after, b_after = (1 / (1 + np.exp(after))) ** 0.5, (1 / (1 + np.exp(-after))) ** 0.5
        c = -np.expm1(after - gamma)
        slope = b / (a**2 * DEVIATION**2 + b**2)
        factor = a_after / a * (1 - c * b * slope)
        mean = factor * mean + a_after / a * c * b * slope * a * MEAN
        variance = factor**2 * variance + b_after**2 * c
    last = (1 / (1 + np.exp(LEAST))) ** 0.5
    return mean / last, variance / last**2


@pytest.mark.parametrize("steps", [1, 5, 100])
def test_sampler_has_the_moments_of_its_recursion(steps):
    count = 20_000
    found = np.asarray(
        quick(lambda key: ancestral(level, perfect, key, (count, 1), steps))(jax.random.key(3)),
        float,
    )
    mean, variance = moments(steps)
    assert abs(found.mean() - mean) < 4 * (variance / count) ** 0.5
    assert abs(found.var() - variance) < 4 * variance * (2 / count) ** 0.5


def test_many_steps_recover_the_data():
    """Mean m, variance s^2 and what noise is left at gamma(0)."""
    mean, variance = moments(4000)
    assert abs(mean - MEAN) < 1e-2
    assert np.isclose(variance, DEVIATION**2 + np.exp(LEAST), rtol=2e-2)


def test_no_steps_are_refused():
    with pytest.raises(BadInput, match="sampling_steps: got 0, expected a whole number"):
        ancestral(level, perfect, jax.random.key(0), (2, 1), 0)
