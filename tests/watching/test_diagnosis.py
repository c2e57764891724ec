"""The rules of the diagnosis on records whose answer is known; no torch needed."""

from __future__ import annotations

import io

import numpy as np
import pytest
import xarray as xr

from dynascope.watching.diagnosis import diagnose
from dynascope.watching.live import LiveLine
from dynascope.watching.planted.__main__ import drawn, told
from dynascope.watching.planted.families import FAMILIES
from dynascope.watching.planted.maps import quadratic
from dynascope.watching.planted.networks import Data, Recipe, Weights, hessian, kernel, runs


def kinds(record) -> list[str]:
    return [finding.kind for finding in diagnose(record)]


def spiked(ratio: float, norm_after: float, every: int = 16) -> xr.Dataset:
    """A spike at step 100, with a measurement every 16 steps."""
    steps = np.arange(240)
    loss = np.exp(-steps / 200) + 0.01 * np.random.default_rng(0).standard_normal(240)
    loss[100:106] *= 8
    norm = np.where(steps < 104, 4.0, norm_after)
    critical = np.where((steps > 80) & (steps < 104), 0.5 / ratio, 1.0)
    sparse = np.where(steps % every == 0, 1.0, np.nan)
    found = {
        "loss": loss, "learning_rate": np.full(240, 0.5),
        "critical_learning_rate": critical * sparse, "tangent_kernel_norm": norm * sparse,
    }  # fmt: skip
    return xr.Dataset({n: ("step", v) for n, v in found.items()}, {"step": steps})


def test_a_catapult_between_sparse_measurements():
    """The last measurement before the spike is at 96, the next after it at 112."""
    (found,) = [f for f in diagnose(spiked(1.2, 3.0)) if f.kind == "catapult"]
    assert found.steps[0] == 100 and found.evidence["change_of_the_norm"] == pytest.approx(-0.25)
    assert found.evidence["rate_over_critical"] == pytest.approx(1.2)
    assert found.study == "catapult-gd" and found.threshold and found.suggestion


@pytest.mark.parametrize(("ratio", "after"), [(0.8, 3.0), (1.2, 4.0)])
def test_a_spike_below_the_critical_rate_or_with_the_norm_kept_is_none(ratio, after):
    assert "catapult" not in kinds(spiked(ratio, after))


def test_a_spike_without_measurements_is_none():
    assert "catapult" not in kinds(spiked(1.2, 3.0).drop_vars("critical_learning_rate"))


def hovering(ratio: np.ndarray) -> xr.Dataset:
    steps = np.arange(len(ratio))
    found = {"loss": np.exp(-steps / 20), "rate_over_critical": ratio}
    return xr.Dataset({n: ("step", v) for n, v in found.items()}, {"step": steps})


def test_the_edge_may_be_hovered_at_from_below():
    """1 is never crossed."""
    assert "edge of stability" in kinds(hovering(np.minimum(np.linspace(0.7, 1.4, 60), 0.9999)))


@pytest.mark.parametrize("ratio", [np.full(60, 0.9999), np.linspace(0.2, 0.8, 60)])
def test_a_ratio_that_never_moved_or_is_far_is_no_edge(ratio):
    assert "edge of stability" not in kinds(hovering(ratio))


def test_networks_by_hand_have_the_derivatives_that_differences_have():
    """The dense Hessian and kernel that judge the rules, from central differences of the loss."""
    rng = np.random.default_rng(0)
    recipe = Recipe(width=3, outputs=2, samples=5, scale=2.0)
    data = Data(rng.standard_normal((1, 5, 4)), rng.standard_normal((1, 5, 2)))
    v, h = rng.standard_normal(18), 1e-4

    def outputs(v):
        return (2.0 * np.tanh(data.x[0] @ v[:12].reshape(4, 3)) @ v[12:].reshape(3, 2)).reshape(-1)

    def loss(v):
        return np.mean((outputs(v) - data.y[0].reshape(-1)) ** 2)

    axes = h * np.eye(18)
    jacobian = np.array([outputs(v + e) - outputs(v - e) for e in axes]).T / (2 * h)
    want = np.array([
        [loss(v + e + f) - loss(v + e - f) - loss(v - e + f) + loss(v - e - f) for f in axes]
        for e in axes
    ]) / (4 * h * h)  # fmt: skip
    w = Weights(v[:12].reshape(1, 4, 3), v[12:].reshape(1, 3, 2))
    assert hessian(recipe, w, data)[0] == pytest.approx(want, abs=1e-5)
    assert kernel(recipe, w, data)[0] == pytest.approx(jacobian @ jacobian.T, abs=1e-5)


def test_a_seed_is_the_same_run_whoever_else_is_drawn():
    recipe = Recipe(steps=20, every=5)
    alone = runs(recipe, [5], np.array([0.3]))[0]
    among = runs(recipe, [4, 5], np.array([0.3, 0.3]))[1]
    assert alone["loss"].values == pytest.approx(among["loss"].values)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.kind)
def test_every_rule_on_a_few_planted_runs_of_ours(family):
    """Other seeds than those of the table; one source, so that no torch is needed."""
    if family.kind == "swing-by":
        pytest.skip("its system is compiled: in the slow test")
    assert told(family.kind, drawn(family.have[:1], 4, 500)) >= 3
    assert told(family.kind, drawn(family.have_not[:1], 4, 500)) == 0


@pytest.mark.slow
def test_swing_by_on_a_few_planted_runs():
    (family,) = [f for f in FAMILIES if f.kind == "swing-by"]
    assert told(family.kind, drawn(family.have[:1], 4, 500)) >= 3
    assert told(family.kind, drawn(family.have_not[:1], 4, 500)) == 0


def test_a_loss_that_overflows_is_told_as_divergence():
    with np.errstate(over="ignore", invalid="ignore"):
        record = quadratic(0, 3.0, 3.1, steps=900)
    assert "divergence" in kinds(record)


def test_a_live_line_is_rewritten_in_place():
    out = io.StringIO()
    line = LiveLine(out)
    line.show(7, {"loss": 0.5}, {"rate_over_critical": 0.9, "sharpness": 3.0}, 0.25)
    line.show(8, {"loss": 0.4}, None, 0.25)  # too soon
    line.close()
    text = out.getvalue()
    assert text.startswith("\r") and text.endswith("\n") and text.count("\r") == 1
    assert "step 7" in text and "rate / critical 0.9" in text and "25%" in text
