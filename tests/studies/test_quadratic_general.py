"""The pieces of quadratic-general against witnesses; its measures on planted input."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import jax
import numpy as np
import pytest
import xarray as xr

from dynascope.core.errors import BadInput
from dynascope.core.randomness import key_for
from dynascope.core.run import Run
from dynascope.probes import tangent_kernel
from dynascope.runtime.precision import precision
from dynascope.studies import studies
from dynascope.studies.catapult.quadratic_general import eigenspace, networks, runs, trends
from dynascope.studies.catapult.quadratic_general.eigenspace import Top, top_eigenspace
from dynascope.studies.catapult.quadratic_general.networks import (
    CONVOLUTION,
    DENSE,
    NETWORK,
    QUADRATIC,
    critical_rate,
    model_of,
    network_of,
)
from dynascope.studies.catapult.quadratic_general.runs import RATE, Curves
from dynascope.studies.comparisons import at_least, near
from dynascope.studies.nodes import Missing
from dynascope.tasks import TwoClasses

general = studies.get("quadratic-general")


@pytest.mark.parametrize("architecture", [DENSE, CONVOLUTION])
def test_the_critical_rate_is_that_of_the_tangent_kernel(architecture):
    task = TwoClasses("digits", train=12, scaling="channel")
    model = network_of(task, architecture, 20)
    with precision("float64"):
        network = model.build(task.input_size, 1)
        params = network.init(key_for(4, "init"))
        x = task.samples(key_for(4, "data"))[0]
        kernel = np.asarray(tangent_kernel(network.apply, params, jax.numpy.asarray(x)))
    expected = 12 / np.linalg.eigvalsh(kernel)[-1]
    assert critical_rate(task, model, 4) == pytest.approx(expected, rel=1e-10)


def test_a_very_wide_convolution_is_estimated_by_its_first_channels(monkeypatch):
    task = TwoClasses("digits", train=12, scaling="channel")
    model = network_of(task, CONVOLUTION, 200)
    exact = critical_rate(task, model, 0)
    monkeypatch.setattr(networks, "MOST_CHANNELS", 100)
    assert critical_rate(task, model, 0) == pytest.approx(exact, rel=0.2)
    assert critical_rate(task, model, 0) != exact


def test_quadratic_models_begin_as_their_networks():
    task = TwoClasses("digits", train=5, scaling="channel")
    for architecture in (DENSE, CONVOLUTION):
        model = network_of(task, architecture, 6)
        outputs = []
        for kind in (QUADRATIC, NETWORK):
            network = model_of(model, kind).build(64, 1)
            x = task.samples(key_for(0, "data"))[0]
            outputs.append(np.asarray(network.apply(network.init(key_for(0, "init")), x)))
        assert np.allclose(*outputs, atol=1e-6) and np.abs(outputs[0]).max() > 0.01


def test_a_convolution_sees_pooled_pictures_with_their_channels(monkeypatch):
    pictures = SimpleNamespace(x_train=np.zeros((3, 32, 32, 3), np.uint8))
    monkeypatch.setattr(TwoClasses, "source", lambda self: pictures)
    assert network_of(TwoClasses("svhn", pool=2), CONVOLUTION, 7).shape == (16, 16, 3)
    assert network_of(TwoClasses("svhn"), CONVOLUTION, 7).shape == (32, 32, 3)


def test_the_terms_along_p1_are_those_that_moved_the_residuals():
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    p1, labels, rate = basis[:, 0], np.array([1.0, -1.0, 1.0, -1.0]), 0.3
    eta = 2 * rate / 4  # of half the sum, where `rate` is of the mean
    kernels = [basis @ np.diag(v) @ basis.T for v in ([5.0, 2, 1, 0.5], [3.0, 2, 1, 0.5])]
    r = rng.normal(size=4)
    after = (np.eye(4) - eta * kernels[0] + 0.7 * np.outer(p1, p1)) @ r
    outputs, axes = np.array([r, after]) + labels, (RATE, "seed", "step", "i")
    run = xr.Dataset(
        {
            "tangent_kernel": ((*axes, "j"), np.array(kernels)[None, None]),
            "training_output": (axes, outputs[None, None]),
        },
        {RATE: [rate]},
    )
    late = run.isel(step=[1]).map(lambda v: v * np.nan)
    assert top_eigenspace(xr.concat([run, late], "step"), labels).bend == pytest.approx([0.7])
    top = top_eigenspace(run, labels)
    assert top.bend == pytest.approx([0.7]) and top.fall == pytest.approx([2.0])
    assert top.value == pytest.approx([5.0, 3.0])
    assert top.along[0] == pytest.approx((p1 @ r) ** 2 / 4) and top.loss[0] == pytest.approx(
        r @ r / 4
    )


LOSS = np.array([1.0, 2.0, 4.0, 8.0, 1.0])
FINE = Top(LOSS, LOSS, 0 * LOSS, 9 - LOSS, LOSS[:-1], 2 * LOSS[:-1])


def test_terms_in_proportion_to_the_loss_have_slope_one_and_no_slope_is_not_counted():
    bound = near(1, 0.25, "ours")
    assert eigenspace.slope({"digits": [FINE, FINE]}, eigenspace.TERMS).value == pytest.approx(1)
    assert bound.verdict(eigenspace.slope({"digits": [FINE, FINE]}, ("value",))) == "fails"
    broken = FINE._replace(fall=np.array([1.0, 2.0, -4.0, 8.0]))
    assert eigenspace.slope({"digits": [FINE, broken]}, eigenspace.TERMS).n == 1
    (claim,) = (c for c in general.claims if c.id.endswith("/terms-scale-with-loss"))
    assert "1 of 2 seeds have none" in claim.note({"digits": [FINE, broken]}, eigenspace.TERMS)
    twice = FINE._replace(bend=LOSS[:-1] ** 2)
    assert eigenspace.slope({"a": [FINE], "b": [twice]}, ("bend",)).value == pytest.approx(2)


def test_a_loss_that_never_rises_decides_nothing():
    loss = np.array([4.0, 2.0, 1.0, 0.5])
    tops = {"digits": [Top(loss, loss, 0 * loss, 1 + 0 * loss, loss[:-1], loss[:-1])]}
    for measured in (
        eigenspace.stay_positive(tops, False), eigenspace.slope(tops, eigenspace.TERMS),
        eigenspace.correlation({(DENSE, NETWORK): tops}, eigenspace.TERMS),
    ):  # fmt: skip
        assert at_least(0.5, "ours").verdict(measured) == "undecided"


def test_terms_are_counted_while_the_loss_is_large_or_after_the_peak_while_it_is_small():
    loss = np.array([1.0, 4.0, 8.0, 0.5, 0.4])
    bend = np.array([-1.0, 1.0, 1.0, -1.0])
    tops = {"digits": [Top(loss, loss / 2, loss / 4, loss, bend, np.ones(4))]}
    assert eigenspace.stay_positive(tops, False).value == 1
    assert eigenspace.stay_positive(tops, True).value == 0
    assert eigenspace.share_at_peak(tops, "along").value == 0.5
    assert eigenspace.share_at_peak(tops, "second").value == 0.25


def test_the_correlation_names_the_run_that_follows_least():
    still = FINE._replace(bend=np.array([1.0, 4.0, 1.0, 1.5]))
    kept = {(DENSE, NETWORK): {"digits": [FINE, FINE]}}
    assert eigenspace.correlation(kept, eigenspace.TERMS).value == pytest.approx(1)
    assert eigenspace.correlation(kept, ("value",)).value == pytest.approx(-1)
    lost = kept | {(DENSE, QUADRATIC): {"svhn": [still, FINE]}}
    assert eigenspace.correlation(lost, eigenspace.TERMS).value < 0.9
    (claim,) = (c for c in general.claims if c.id.endswith("climb-terms-follow-loss"))
    assert "quadratic model, SVHN" in claim.note(lost, eigenspace.TERMS)


def test_the_planted_catapult_has_the_terms_of_the_map():
    """With label 0: u and u (4 - v) / eta, and all of the climb along p1."""
    kind = (DENSE, NETWORK)
    planted = eigenspace.planted_tops.function(general.at("smoke"), {kind: {"digits": []}})[kind]
    top = planted["digits"][0]
    u = 2.5**2 * 1e-4 * 4 * top.along[:-1]  # c eta^2 r^2, and `along` is r^2 / 4
    assert top.bend == pytest.approx(u, abs=1e-9)
    assert top.fall == pytest.approx(u * (4 - 2.5 * top.value[:-1]) / 2.5, abs=1e-9)
    assert top.peak > 3 and top.along[top.peak] > 0.99 * top.loss[top.peak]


def test_a_lane_that_diverged_has_no_finite_peak():
    loss = np.array([[1.0, 5.0, 0.1], [1.0, 7.0, np.nan]])
    seen = Curves(loss, np.array([[2.0, 2.0, 1.0], [2.0, 2.0, np.nan]]))
    assert seen.peak.tolist() == [5.0, np.inf] and seen.rise[0] == 5.0 and seen.left[0] == 0.5


def test_ratios_and_spreads_are_along_the_axis_that_is_asked_for():
    # (width, rate, seed, step): the second seed breaks the growth with the rate.
    loss = np.array([[[1.0, 1.0], [2.0, 2.0], [8.0, 2.0]], [[1.0, 1.0], [3.0, 3.0], [15.0, 9.0]]])
    curves, every = Curves(loss[..., None], loss[..., None]), slice(None)
    assert trends.grow(curves, "peak", (every, 2), 1.5, 0).value == 1
    assert trends.grow(curves, "peak", (every, 2), 2, 0).value == 0.5
    assert trends.grow(curves, "peak", every, 1.05, 1).value == 0.5
    assert trends.grow(curves, "peak", every, 0.9, 1).value == 0
    assert trends.spread(curves, "kernel", (every, 1)).value == pytest.approx(0.5)


def test_planted_runs_have_the_peaks_and_kernels_that_they_were_made_with():
    loss, dims = np.ones((2, 3, 9)), ("rate", "seed", "step")
    run = Run(
        xr.Dataset({
            "loss": (dims, loss), "tangent_kernel": ((*dims, "i", "j"), loss[..., None, None]),
        }),
        experiment=None,
    )  # fmt: skip
    curves = runs._curves(runs._planted(run, np.array([[5.0], [np.inf]]), np.array([[0.5], [1.0]])))
    assert curves.peak[0] == pytest.approx(0.3 * 5) and np.isinf(curves.peak[1]).all()
    assert curves.left[0] == pytest.approx(0.5)


def test_which_pictures_a_scale_asks_for_does_not_depend_on_what_is_there(tmp_path, monkeypatch):
    monkeypatch.setenv("DYNASCOPE_DATA", str(tmp_path))
    assert general.at("paper").pictures == general.at("laptop").pictures == ("cifar10", "svhn")
    assert general.at("paper").few.data == "cifar10" and general.at("smoke").pictures == ("digits",)


def test_pictures_that_are_not_there_are_named_with_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("DYNASCOPE_DATA", str(tmp_path))
    settings = general.at("paper")
    assert sum("is not there" in note for note in general.notes(settings)) == 3
    tops, widths = (n.function(settings, {}) for n in (eigenspace.tops, runs.widths))
    assert isinstance(tops, Missing) and "cifar10 is not there" in tops.reason
    assert "svhn is not there" in tops.reason
    assert isinstance(widths, Missing) and "cifar10 is not there" in widths.reason


def test_the_thesis_sizes_are_those_of_the_paper_scale():
    study = general.at("paper")
    assert (study.width, study.channels, study.convolution_pool) == (2048, 1024, 1)
    for task in (study.cifar10, study.svhn):
        assert (task.train, task.pool) == (128, 1)


@pytest.mark.parametrize("pictures", [("mnist",), ()])
def test_pictures_that_are_unknown_or_none_are_refused(pictures):
    with pytest.raises(BadInput):
        replace(general.at("smoke"), pictures=pictures)
    with pytest.raises(BadInput):
        replace(general.at("smoke"), few=TwoClasses("mnist"))
