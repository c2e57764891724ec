"""Every claim of quadratic-general at smoke scale, with its control; check 15 of ledger 004."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import jax
import numpy as np
import pytest
import xarray as xr

from dynascope.core.errors import BadInput
from dynascope.core.randomness import key_for
from dynascope.numerics.precision import precision
from dynascope.probes import tangent_kernel
from dynascope.studies import studies
from dynascope.studies.catapult import general_runs, general_top
from dynascope.studies.catapult.general_pictures import (
    CONVOLUTION,
    DENSE,
    NETWORK,
    QUADRATIC,
    RATE,
    Top,
    model_of,
    network_of,
    top_eigenspace,
)
from dynascope.studies.catapult.general_runs import Curves, critical_rate
from dynascope.tasks import TwoClasses

STUDY = "quadratic-general"

FAILING = {
    "kernel-equation-as-printed",
    "pure-equations-as-printed",
    "square-condition-as-printed",
    "peak-by-rate-as-printed",
    "kernel-by-rate-as-printed",
}


def test_every_claim_is_decided_and_only_printed_mistakes_fail(outcome):
    verdicts = {claim.id.split("/")[1]: claim.verdict for claim in outcome.claims}
    assert {slug for slug, verdict in verdicts.items() if verdict == "fails"} == FAILING
    assert set(verdicts.values()) <= {"holds", "fails"}


def test_every_control_fails(outcome):
    for claim in outcome.claims:
        assert claim.control is not None and claim.control.verdict == "fails", claim.id


def test_charts_can_be_drawn(outcome):
    from dynascope.report.checks import check

    assert {chart.name for chart in outcome.charts} == {
        "by-gamma", "by-rate", "by-width", "network-by-rate", "top-eigenspace",
        "convolution-top-eigenspace",
    }  # fmt: skip
    for chart in outcome.charts:
        check(chart)


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
    monkeypatch.setattr(general_runs, "MOST_CHANNELS", 100)
    critical_rate.cache_clear()
    assert critical_rate(task, model, 0) == pytest.approx(exact, rel=0.2)
    assert critical_rate(task, model, 0) != exact
    critical_rate.cache_clear()


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


def test_a_term_that_is_not_positive_has_no_slope_and_leaves_the_claim_undecided():
    loss = np.array([1.0, 2.0, 4.0, 8.0, 1.0])
    fine = Top(loss, loss, 0 * loss, 1 + 0 * loss, loss[:-1], 2 * loss[:-1])
    broken = fine._replace(fall=np.array([1.0, 2.0, -4.0, 8.0]))
    judged = general_top.scale(general_top.NETWORK_DENSE)
    for tops, verdict in (([fine], "holds"), ([fine, broken], "undecided")):
        found = SimpleNamespace(tops={(DENSE, NETWORK): {"digits": tops}})
        assert judged(None, found).verdict == verdict


def test_a_loss_that_never_rises_leaves_the_claims_undecided():
    loss = np.array([4.0, 2.0, 1.0, 0.5])
    top = Top(loss, loss, 0 * loss, 1 + 0 * loss, loss[:-1], loss[:-1])
    found = SimpleNamespace(tops={(DENSE, NETWORK): {"digits": [top]}})
    subject = general_top.NETWORK_DENSE
    for judged in (
        general_top.positive(subject), general_top.scale(subject), general_top.climb_follows,
    ):  # fmt: skip
        assert judged(None, found).verdict == "undecided"


def test_the_correlation_names_the_run_that_follows_least():
    loss = np.array([1.0, 2.0, 4.0, 8.0, 1.0])
    fine = Top(loss, loss, 0 * loss, 9 - loss, loss[:-1], 2 * loss[:-1])
    still = fine._replace(bend=np.array([1.0, 4.0, 1.0, 1.5]))
    tops = {(DENSE, NETWORK): {"digits": [fine]}, (DENSE, QUADRATIC): {"svhn": [still, fine]}}
    kept = general_top.climb_follows(None, SimpleNamespace(tops={k: tops[k] for k in [*tops][:1]}))
    assert kept.verdict == "holds" and kept.measured.value == pytest.approx(1)
    lost = general_top.climb_follows(None, SimpleNamespace(tops=tops))
    assert lost.verdict == "fails" and "quadratic model, SVHN" in lost.note


def test_a_lane_that_diverged_has_no_finite_peak():
    loss = np.array([[1.0, 5.0, 0.1], [1.0, 7.0, np.nan]])
    seen = Curves(loss, np.array([[2.0, 2.0, 1.0], [2.0, 2.0, np.nan]]))
    assert seen.peak.tolist() == [5.0, np.inf] and seen.rise[0] == 5.0 and seen.left[0] == 0.5


def test_real_pictures_are_used_where_they_are_and_never_at_smoke_scale(monkeypatch):
    general = studies.get("quadratic-general")
    module = "dynascope.studies.catapult.quadratic_general.there"
    monkeypatch.setattr(module, lambda name: True)
    assert general.at("paper").pictures == general.at("laptop").pictures == ("cifar10", "svhn")
    assert general.at("paper").few.data == "cifar10" and general.at("smoke").pictures == ("digits",)
    monkeypatch.setattr(module, lambda name: name == "svhn")
    assert general.at("laptop").pictures == ("svhn",)


def test_without_real_pictures_the_digits_stand_in_and_the_notes_say_so(monkeypatch):
    general = studies.get("quadratic-general")
    monkeypatch.setattr("dynascope.studies.catapult.quadratic_general.there", lambda name: False)
    for scale in ("laptop", "paper"):
        study = general.at(scale)
        assert study.pictures == ("digits",) and study.few.data == "digits"
        assert any("cifar10 is not there" in note for note in study.notes())
        assert any("svhn is not there" in note for note in study.notes())


def test_the_thesis_sizes_are_those_of_the_paper_scale():
    study = studies.get("quadratic-general").at("paper")
    assert (study.width, study.channels, study.convolution_pool) == (2048, 1024, 1)
    for task in (study.cifar10, study.svhn):
        assert (task.train, task.pool) == (128, 1)


@pytest.mark.parametrize("pictures", [("mnist",), ()])
def test_pictures_that_are_unknown_or_none_are_refused(pictures):
    with pytest.raises(BadInput):
        replace(studies.get("quadratic-general").at("smoke"), pictures=pictures)
