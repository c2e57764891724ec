"""Every claim of quadratic-general at smoke scale, with its control; check 15 of ledger 004."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from dynascope.core.randomness import key_for
from dynascope.models import TwoLayerReLU
from dynascope.numerics.precision import precision
from dynascope.probes import tangent_kernel
from dynascope.studies import studies
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
    }  # fmt: skip
    for chart in outcome.charts:
        check(chart)


def test_the_critical_rate_is_that_of_the_tangent_kernel():
    task = TwoClasses("digits", train=12)
    with precision("float64"):
        network = TwoLayerReLU(30).build(task.input_size, 1)
        params = network.init(key_for(4, "init"))
        x = task.samples(key_for(4, "data"))[0]
        kernel = np.asarray(tangent_kernel(network.apply, params, jax.numpy.asarray(x)))
    expected = 12 / np.linalg.eigvalsh(kernel)[-1]
    assert critical_rate(task, 30, 4) == pytest.approx(expected, rel=1e-10)


def test_a_lane_that_diverged_has_no_finite_peak():
    loss = np.array([[1.0, 5.0, 0.1], [1.0, 7.0, np.nan]])
    seen = Curves(loss, np.array([[2.0, 2.0, 1.0], [2.0, 2.0, np.nan]]))
    assert seen.peak.tolist() == [5.0, np.inf] and seen.rise[0] == 5.0 and seen.left[0] == 0.5


def test_only_the_paper_scale_looks_for_cifar(monkeypatch):
    general = studies.get("quadratic-general")
    module = "dynascope.studies.catapult.quadratic_general.there"
    monkeypatch.setattr(module, lambda name: True)
    assert general.at("paper").pictures.data == general.at("paper").few.data == "cifar10"
    assert general.at("laptop").pictures.data == "digits"
    monkeypatch.setattr(module, lambda name: False)
    assert general.at("paper").pictures.data == "digits"
    assert any("not CIFAR-2" in note for note in general.at("paper").notes())
