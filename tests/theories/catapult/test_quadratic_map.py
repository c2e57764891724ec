"""zhu2024: the map of one example, its thresholds and peaks."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.theories import QuadraticMap, phase_diagram
from dynascope.theories.catapult.phases import REGIMES
from dynascope.theories.catapult.scans import TOGETHER, ends
from dynascope.theories.catapult.steps import (
    Reduced,
    quadratic_step,
    reduced_step,
)

from .gated import Gated, followed

RATES = (0.5, 1.9, 2.5, 3.0, 3.7)  # times the first kernel


def start(model: Gated, v: float) -> QuadraticMap:
    kernel = float(model.kernel()[0, 0])
    scale = float(model.x[0] @ model.x[0]) / model.d
    return QuadraticMap(
        v / kernel, model.m, float(model.y[0]), scale, float(model.outputs()[0]), kernel
    )


def network() -> Gated:
    x = np.random.default_rng(5).normal(size=7)
    return Gated(x, 0.8, width=500, seed=1)


@pytest.mark.parametrize("v", RATES)
def test_the_map_is_descent_in_the_weights(v):
    descent = start(network(), v)
    residuals, kernels = followed(network(), descent.learning_rate, 100)
    path = descent.trajectory(100)
    scale = np.abs(residuals).max()
    assert np.abs(path.residual - residuals[:, 0]).max() < 1e-10 * scale
    assert np.abs(path.kernel / kernels[:, 0, 0] - 1).max() < 1e-10
    assert np.isfinite(path.loss).all() and path.diverged == -1


@pytest.mark.parametrize("v", RATES)
@pytest.mark.parametrize("label", [0.8, -0.8])
def test_the_reduced_map_with_its_sign_is_the_same_descent(v, label):
    descent = QuadraticMap(v, 500, label, output=0.3)
    path, state = descent.trajectory(100), descent.reduced()
    size = descent.curvature * descent.learning_rate**2
    label_size = descent.learning_rate * math.sqrt(descent.curvature) * label
    for residual, kernel in zip(path.residual, path.kernel, strict=True):
        assert state.v == pytest.approx(descent.learning_rate * kernel, rel=1e-10)
        # Tiny residuals come from cancelling ones; their error is that of the largest.
        assert state.u == pytest.approx(size * residual**2, rel=1e-8, abs=1e-26)
        if residual:
            assert state.sign == np.sign(residual)
        state = reduced_step(state, label_size)


def test_without_the_sign_of_w_the_reduced_map_is_wrong():
    descent = QuadraticMap(2.5, 500, 0.8)
    path, state = descent.trajectory(10), descent.reduced()
    for _ in range(10):
        state = reduced_step(state, 2.5 * math.sqrt(descent.curvature) * 0.8)
        state = state._replace(w=abs(state.w))
    assert abs(state.v - 2.5 * path.kernel[-1]) > 1e-3


def test_the_product_form_is_the_printed_one_and_finite_at_convergence():
    assert quadratic_step(0.0, 1.3, 1.0, 0.01, 1.0) == (0.0, 1.3)
    residual, kernel, rate, curvature, label = state = (0.4, 1.3, 2.0, 0.01, 1.0)
    ratio = 4 * (residual + label) / residual - rate * kernel  # (3.12) divides by the residual
    printed = kernel - rate * curvature * residual**2 * ratio
    assert printed == pytest.approx(quadratic_step(*state)[1], rel=1e-14)
    at_once = QuadraticMap(1.0, 100, label=1.0, output=1.0).trajectory(5)
    assert (at_once.residual == 0).all() and (at_once.kernel == 1).all()


@pytest.mark.parametrize("v", [0.3, 1.0, 2.2, 3.0, 3.9, 4.0, 4.3])
def test_label_zero_keeps_the_product_law(v):
    u = np.random.default_rng(0).uniform(0, v * v / 4, 200)
    after = reduced_step(Reduced(u, v, 0.0, 1.0), 0.0)
    assert np.allclose(4 - after.v, (1 + u) * (4 - v), rtol=0, atol=1e-12)
    if v == 4.0:
        angle = np.arcsin(np.sqrt(u / 4))
        assert np.allclose(after.u, 4 * np.sin(3 * angle) ** 2, atol=1e-12)


def test_label_zero_the_kernel_only_falls_and_the_peak_is_bounded():
    v = np.linspace(0.2, 3.95, 40)
    path = QuadraticMap(1.0, 1e4).trajectory(400, learning_rate=v)
    assert (path.diverged == -1).all()
    assert (np.diff(path.kernel) <= 0).all()
    top = (v[:, None] ** 2 * path.residual**2 / 1e4).max(axis=1)
    assert (top <= v / (4 - v)).all()
    product = np.prod(1 + v[:, None] ** 2 * path.residual[:, :-1] ** 2 / 1e4, axis=1)
    assert np.allclose(product, (4 - v * path.kernel[:, -1]) / (4 - v), rtol=1e-9)


def test_label_zero_diverges_exactly_past_four():
    widths = np.array([1e2, 1e4, 1e6])
    assert np.allclose(QuadraticMap(1.0, 1.0).divergence_rate(width=widths), 4.0, atol=1e-6)
    assert QuadraticMap(1.0, 1e3, kernel=0.5).divergence_rate() == pytest.approx(8.0, abs=1e-6)


def test_below_the_critical_rate_the_kernel_drifts_like_one_over_the_width():
    widths = np.logspace(3, 6, 7)
    path = QuadraticMap(1.0, 1.0, label=1.0).trajectory(300, width=widths)
    assert (np.diff(path.loss) <= 0).all()
    drift = np.abs(path.kernel - 1).max(axis=1)
    assert drift[np.isclose(widths, 1e4)] <= 1e-3
    assert np.polyfit(np.log(widths), np.log(drift), 1)[0] == pytest.approx(-1, abs=0.05)


@pytest.mark.parametrize("v", [2.5, 3.0])
def test_the_peak_grows_like_the_width_and_the_kernel_ends_below_two(v):
    widths = np.logspace(4, 7, 13)
    seen = QuadraticMap(v, 1.0, label=1.0).outcome(400, width=widths)
    assert (seen.regime == "catapult").all()
    slope = np.polyfit(np.log(widths), np.log(seen.peak_loss), 1)[0]
    assert 0.93 <= slope <= 1.05
    assert ((v * seen.kernel > 0) & (v * seen.kernel < 2)).all()


def test_the_largest_rate_is_close_to_four_for_any_label():
    widths = np.array([1e3, 1e4, 1e5])
    for label, listed in ((1.0, (3.9889, 3.99888, 3.99989)), (-1.0, (3.9794, 3.9979, 3.99979))):
        found = QuadraticMap(1.0, 1.0, label=label).divergence_rate(width=widths)
        assert (np.abs(found - 4) <= np.log(widths) / np.sqrt(widths)).all()
        assert np.allclose(found, listed, atol=2e-4)


def test_divergence_is_a_value():
    path = QuadraticMap(4.2, 1e4, label=1.0).trajectory(2000)
    seen = QuadraticMap(4.2, 1e4, label=1.0).outcome(2000)
    assert 0 < path.diverged == seen.diverged < 100
    assert np.isnan(path.residual[path.diverged :]).all()
    assert np.isfinite(path.residual[: path.diverged]).all()
    assert seen.regime == "diverges" and math.isinf(seen.loss) and math.isnan(seen.kernel)


@pytest.mark.parametrize("v", [2.2, 2.5])
def test_each_decade_of_width_delays_the_peak_by_the_same_number_of_steps(v):
    seen = QuadraticMap(v, 1.0, label=1.0).outcome(400, width=np.logspace(3, 7, 5))
    law = math.log(10) / (2 * math.log(v - 1))
    assert (np.abs(np.diff(seen.peak_step) - law) <= 1).all()


@pytest.mark.parametrize("v", [2.05, 2.2, 2.5, 3.0])
def test_the_peak_is_predicted_in_closed_form(v):
    for width in np.logspace(5, 7, 9):
        descent = QuadraticMap(v, width, label=1.0)
        loss, when = descent.predicted_peak()
        seen = descent.outcome(1000)
        assert loss == pytest.approx(seen.peak_loss, rel=0.15)
        assert abs(when - seen.peak_step) <= 1


def test_without_a_catapult_there_is_no_peak_to_predict():
    for v in (1.9, 4.1):
        with pytest.raises(BadInput, match="between 2 and 4"):
            QuadraticMap(v, 1e4).predicted_peak()


def test_regimes_are_those_that_the_theory_predicts():
    rates = np.array([0.5, 1.9, 2.2, 3.5, 4.2, 6.0])
    seen = QuadraticMap(1.0, 1e6, label=1.0).outcome(400, learning_rate=rates)
    said = [QuadraticMap(rate, 1e6, label=1.0).predicted_regime() for rate in rates]
    assert seen.regime.tolist() == said
    slow = QuadraticMap(2.01, 1e6, label=1.0).outcome(50)
    assert slow.regime == "undecided"  # it has risen and not come back


def test_a_phase_diagram_is_the_descents_one_by_one():
    rates, labels = np.linspace(0.5, 4.5, 9), np.array([-1.0, 0.0, 2.0])
    base = QuadraticMap(1.0, 300.0)
    diagram = phase_diagram(base, {"learning_rate": rates, "label": labels}, steps=300)
    for i, label in enumerate(labels):
        for j, rate in enumerate(rates):
            alone = QuadraticMap(rate, 300.0, label).outcome(300)
            assert REGIMES[diagram.regime[i, j]] == alone.regime
            assert diagram.peak_loss[i, j] == pytest.approx(alone.peak_loss, rel=1e-12)


def test_chunks_do_not_change_the_numbers():
    rates = np.linspace(0.5, 4.5, TOGETHER + 3)
    base = QuadraticMap(1.0, 1e4, 1.0)
    together = base.outcome(50, learning_rate=rates)
    for k in (0, TOGETHER - 1, TOGETHER, TOGETHER + 2):
        alone = base.outcome(50, learning_rate=rates[k])
        assert together.peak_loss[k] == alone.peak_loss
    empty = ends(base.arrays({"label": np.zeros(0)}), 5)
    assert empty.peak.shape == (0,)


def test_bad_settings_say_what_is_expected():
    with pytest.raises(BadInput, match="learning_rate: got -1"):
        QuadraticMap(-1.0, 10.0)
    with pytest.raises(BadInput, match="label"):
        QuadraticMap(1.0, 10.0, label=math.inf)
    with pytest.raises(BadInput, match="one of learning_rate, width"):
        QuadraticMap(1.0, 10.0).trajectory(5, size=[1.0])
    with pytest.raises(BadInput, match="above 0"):
        QuadraticMap(1.0, 10.0).trajectory(5, width=[1.0, 0.0])
    with pytest.raises(BadInput, match="steps"):
        QuadraticMap(1.0, 10.0).outcome(0)
    with pytest.raises(BadInput, match="what is sought"):
        QuadraticMap(1.0, 10.0).divergence_rate(learning_rate=[1.0])
    with pytest.raises(BadInput, match="two fields"):
        phase_diagram(QuadraticMap(1.0, 10.0), {"label": [0.0]})


def test_a_realisable_start_has_a_kernel_at_least_twice_its_output():
    model = network()
    assert start(model, 1.0).realisable
    assert not QuadraticMap(1.0, 1.0, output=0.6).realisable
