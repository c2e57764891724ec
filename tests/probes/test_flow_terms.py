"""Growth, suppression and noise as probes, against a dense twin and the loss's own gradient."""

import itertools
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import dynascope as ds
from dynascope import dynamics, models, probes, tasks
from dynascope.core.errors import BadInput
from dynascope.engine.record import At

TERMS = (probes.Growth(), probes.Suppression(), probes.Noise())
SIGNAL = np.array([1 / 3 + 0.05**2, 2.25 / 3 + 0.1**2, 4.84 / 3 + 0.05**2, 0.0])


@cache
def run(moment="A", rotated=False):
    task = tasks.IdentityMapping(
        (1.0, 1.5, 2.2), (0.05, 0.1, 0.05), 4, moment=moment, rotated=rotated
    )
    return ds.simulate(
        task, models.TiedLinear(3, 0.4), dynamics.GradientDescent(0.01), steps=60, seeds=3,
        probes=[*TERMS, probes.InputJacobian()], record=At((7,)), dtype="float64",
    )  # fmt: skip


def by_the_definition(w, a):
    """The three sums as they are printed, entry by entry."""
    d = len(a)
    growth, suppression, noise = (np.zeros((d, d)) for _ in range(3))
    for i, j in itertools.product(range(d), repeat=2):
        growth[i, j] = w[i, j] * (a[i] + a[j])
        pull = w[i, i] * (3 * a[i] + a[j])
        pull += w[j, j] * (3 * a[j] + a[i]) if i != j else 0.0
        suppression[i, j] = w[i, j] * pull / 2
        others = [k for k in range(d) if k not in (i, j)]
        noise[i, j] = sum(w[k, i] * w[k, j] * (a[i] + a[j] + 2 * a[k]) for k in others) / 2
    return growth, suppression, noise


@pytest.mark.parametrize("moment", ["A", "A^2"])
def test_terms_equal_the_printed_sums_on_every_seed_and_step(moment):
    found, a = run(moment), SIGNAL if moment == "A" else SIGNAL**2
    for seed, step in itertools.product(range(3), range(found.sizes["step"])):
        here = found.isel(seed=seed, step=step)
        twin = by_the_definition(here["input_jacobian"].values, a)
        for name, expected in zip(("growth", "suppression", "noise"), twin, strict=True):
            np.testing.assert_allclose(here[name].values, expected, rtol=1e-12, atol=1e-15)


def test_the_flow_of_the_loss_is_twice_growth_less_suppression_less_noise():
    found = run().isel(step=1)
    for seed in range(3):
        here = found.isel(seed=seed)
        w = here["input_jacobian"].values
        with jax.enable_x64(True):
            u = jnp.linalg.cholesky(jnp.asarray(w) + 1e-13 * jnp.eye(4))  # width 3: singular
            a = jnp.asarray(SIGNAL)

            def loss(u, a=a):
                return jnp.sum((u @ u.T - jnp.eye(4)) ** 2 * a) / 2

            move = -jax.grad(loss)(u)
            velocity = np.asarray(move @ u.T + u @ move.T)
        rate = (here["growth"] - here["suppression"] - here["noise"]).values
        np.testing.assert_allclose(velocity, 2 * rate, rtol=1e-5, atol=1e-6)


def test_a_rotated_task_is_measured_in_its_own_coordinates():
    here = run(rotated=True).isel(seed=1, step=1)
    growth, _, _ = by_the_definition(here["input_jacobian"].values, SIGNAL)
    np.testing.assert_allclose(here["growth"].values, growth, rtol=1e-9, atol=1e-12)


def test_units_are_stored_with_the_terms():
    assert run()["growth"].attrs["units"] == "1/paper time"
    assert run()["noise"].dims == ("seed", "step", "output", "input")


@pytest.mark.parametrize("term", TERMS)
def test_a_model_that_is_not_linear_is_refused(term):
    task = tasks.IdentityMapping(samples_per_cluster=10)
    with pytest.raises(BadInput, match="needs a linear model"):
        ds.simulate(
            task, models.MLP(2, 4, "relu"), dynamics.GradientDescent(0.1), steps=1, probes=[term]
        )
