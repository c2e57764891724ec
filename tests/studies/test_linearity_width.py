"""`linearity-width`: slopes at smoke scale, and measures on planted networks."""

from __future__ import annotations

import numpy as np
import pytest

from dynascope.runner.evaluation import Evaluation
from dynascope.runtime.precision import precision
from dynascope.studies import studies
from dynascope.studies.linearity.linearity_width import images
from dynascope.studies.linearity.linearity_width import runs as study_runs
from dynascope.studies.linearity.linearity_width.claims import (
    RATE,
    are_linear,
    below_bound,
    power_of_distance,
    slope,
    within_outputs,
)
from dynascope.studies.linearity.linearity_width.family import HIDDEN, Curve, Seen, collect
from dynascope.studies.linearity.linearity_width.runs import effort, families
from dynascope.studies.linearity.linearity_width.several_outputs import hessian_norms

STUDY = "linearity-width"


@pytest.fixture(scope="module")
def found(outcome):
    study = studies.get(STUDY)
    value = Evaluation(study, study.at("smoke"), outcome.store, progress=False).value
    return {name: value(node) for name, node in families.items()
            if name not in ("mixed", "convolutional")}  # fmt: skip


def test_slopes_have_the_order_of_the_text(found):
    value = {name: f.slope().value for name, f in found.items()
             if name not in ("first pre-activation", HIDDEN)}  # fmt: skip
    assert -0.6 < value["fully connected"] < -0.25 and -0.6 < value["two layers"] < -0.25
    assert value["narrow layer"] > value["fully connected"] + 0.15
    assert value["bypassed"] < value["narrow layer"] - 0.15
    assert all(f.converged for f in found.values())


def test_charts_show_what_the_claims_say(outcome, found):
    headline, slopes, gaps, drift = outcome.charts
    bars = slopes.panels[1].marks[0]
    assert bars.y[0] == pytest.approx(found["fully connected"].slope().value)
    measured, bound = gaps.panels[0].marks[:2]
    assert np.all(np.array(measured.y) <= 1.02 * np.array(bound.y))
    assert drift.panels[1].title == "Slopes in log-log" and len(drift.panels) == 3
    norms = headline.panels[0].marks[0]
    assert np.allclose(norms.x, found["fully connected"].widths) and norms.y[0] > norms.y[-1] > 0
    assert RATE.low < -0.5 < RATE.high


def test_a_planted_power_is_found_at_its_place_and_against_its_axis():
    """Norms like 1/sqrt(width) at the start, constant elsewhere; drift like 1/m, m = width^2."""
    seen = {
        (m, seed): Seen(m**0.5, np.array([m**-0.25, 1.0]), np.array([0.0, 2.0]), 1 / m, 0.1, m > 4)
        for m in (4, 16, 64)
        for seed in range(3)
    }
    family = collect(seen)
    assert family.norms.shape == (3, 3, 2) and family.m.tolist() == [4, 16, 64]
    assert slope(family).value == pytest.approx(-0.5)
    assert slope(family, "norms", 1).value == pytest.approx(0, abs=1e-12)
    assert slope(family, "drift").value == pytest.approx(-2)
    assert slope(family, "drift", against_m=True).value == pytest.approx(-1)
    assert not family.converged


def test_a_planted_gap_is_held_against_its_bound():
    below = Curve(np.array([0.0, 1.0, 3.0]), np.array([0.0, 2.0, 4.0]))
    above = Curve(np.array([0.0, 1.0, 4.1]), np.array([0.0, 2.0, 4.0]))  # 2 % is the grid's
    assert below_bound({(8, 0): below, (8, 1): above}).value == 0.5


def test_planted_families_have_their_powers():
    found = study_runs.planted.function(None)
    assert slope(found["-1/2"], "gaps", 2).value == pytest.approx(-0.5)
    assert slope(found["-1"], "drift", 0, True).value == pytest.approx(-1)
    assert are_linear(found["linear"]).value == 1 and are_linear(found["0"]).value == 0
    distances = np.array([1, 1.5, 2, 2.5, 3, 3.5, 4])
    assert power_of_distance(np.outer(distances**9, [1, 2])).value == pytest.approx(9)


@pytest.mark.parametrize("outputs", [1, 3])
def test_the_norm_of_several_outputs_is_that_of_autodiff(outputs):
    """Dense Hessians of four neurons; the worst of many mixtures of outputs, refined."""
    import jax
    import jax.numpy as jnp
    from scipy.optimize import minimize

    m, d, seed = 4, 3, 5
    rng = np.random.default_rng(seed)
    x, u, v = rng.normal(size=d), rng.normal(size=(m, d)), rng.normal(size=(outputs, m))

    def f(w):
        hidden = jnp.tanh(w[: m * d].reshape(m, d) @ x / d**0.5)
        return w[m * d :].reshape(outputs, m) @ hidden / m**0.5

    with precision("float64"):
        each = np.asarray(jax.hessian(f)(jnp.asarray(np.concatenate([u.ravel(), v.ravel()]))))

    def minus_norm(s):
        return -np.linalg.norm(np.tensordot(s / np.linalg.norm(s), each, 1), 2)

    found = hessian_norms(m, outputs, seed, inputs=d)
    starts = np.random.default_rng(0).normal(size=(20, outputs))
    best = min(minimize(minus_norm, s, method="Nelder-Mead").fun for s in starts)
    assert found.tensor == pytest.approx(-best, rel=1e-4)
    assert found.largest == pytest.approx(max(np.linalg.norm(h, 2) for h in each), rel=1e-9)
    norms = {"tensor": np.array([[3.0, 3.1]]), "largest": np.array([[1.0, 1.0]])}
    assert within_outputs(norms, 3).value == 0.5


def test_half_of_the_edges_of_a_densenet_are_left():
    """The network of Fig. 2.2 as arrays: shapes of (A.6), one number, in-degrees of one half."""
    for concatenated in (True, False):
        net = images.dropped(60, 40, 0, concatenated)
        assert [mask.shape for mask in net.masks] == [(40, 60), (40, 100), (1, 140)]
        assert net.masks[0].mean() == pytest.approx(0.5, abs=0.05)
        assert net.masks[1][:, 60:].mean() == pytest.approx(0.5, abs=0.05)
        assert (net.masks[1][:, :60].sum() > 0) == concatenated
        x = np.random.default_rng(1).normal(size=(5, 60))
        weights = net.draw(np.random.default_rng(2))
        hidden = [x]
        for mask, weight in zip(net.masks, weights, strict=True):
            before = np.concatenate(hidden, axis=1)
            last = before @ (weight * mask / np.sqrt(mask.sum(axis=1, keepdims=True))).T
            hidden.append(np.tanh(last))
        with precision("float64"):
            assert np.allclose(net.outputs(weights, x), last)


def test_what_the_settings_ask_for_of_each_architecture():
    smoke, laptop = (studies.get(STUDY).at(scale) for scale in ("smoke", "laptop"))
    assert effort(smoke, "mixed").widths == () and effort(smoke, "dense").steps == 0
    assert effort(smoke, "two layers").widths == smoke.widths
    assert effort(laptop, "two layers").widths == laptop.two_layer_widths
    assert effort(laptop, "dense").steps == laptop.steps and effort(laptop, "dense").places == 1
    assert effort(laptop, "narrow layer").places == 5 and effort(laptop, HIDDEN).places == 0
    assert effort(laptop, HIDDEN).size == 300 and effort(laptop, "tanh output").seeds == 48


@pytest.mark.slow
def test_slopes_from_64_to_512_are_those_of_the_ledger():
    """Three layers, tanh: -1/2 flattened by logarithms; tanh on the output: none."""
    from dynascope.studies.linearity.linearity_width.family import Effort, collect, measure

    def slope(name):
        effort = Effort((64, 128, 256, 512), 4, 10, (), 0, 1)
        starts = [(m, seed) for m in effort.widths for seed in range(effort.seeds)]
        return collect({start: measure(name, effort, *start) for start in starts}).slope().value

    assert -0.6 <= slope("fully connected") <= -0.35
    assert -0.2 <= slope("tanh output") <= 0.1
