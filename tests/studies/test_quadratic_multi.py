"""Every claim of quadratic-multi at smoke scale, with its control; check 13 of ledger 004."""

from __future__ import annotations

import numpy as np
import pytest

import dynascope as ds
from dynascope import dynamics, models, tasks
from dynascope.core.errors import BadInput
from dynascope.studies import studies
from dynascope.studies.catapult.line_data import DirectionKernel, TrainingOutput, start_of
from dynascope.studies.catapult.quadratic_multi import rates_of

STUDY = "quadratic-multi"

FAILING = {
    "critical-values-as-printed",
    "decomposition-as-printed",
    "reduction-as-printed",
    "growth-as-printed",
    "network-only-the-first-falls",  # the second eigenvalue moves by 4 %, by 3 % at laptop scale
    "after-as-printed",
    # Kernels move like 1 / width: at width 1000 by 1 to 3 %, at laptop scale within 1 %.
    "kernel-stands",
    "only-the-first-falls",
    "network-kernel-stands",
}


def test_every_claim_is_decided_and_these_fail(outcome):
    verdicts = {claim.id.split("/")[1]: claim.verdict for claim in outcome.claims}
    assert {slug for slug, verdict in verdicts.items() if verdict == "fails"} == FAILING
    assert set(verdicts.values()) <= {"holds", "fails"}


def test_every_control_fails(outcome):
    for claim in outcome.claims:
        assert claim.control is not None and claim.control.verdict == "fails", claim.id


def test_charts_can_be_drawn(outcome):
    from dynascope.report.checks import check

    assert {chart.name for chart in outcome.charts} == {
        "quadratic-regimes", "network-regimes", "losses",
    }  # fmt: skip
    for chart in outcome.charts:
        check(chart)


def test_the_seeds_that_are_shown_have_a_gap_and_the_critical_rates_of_the_figure():
    study = studies.get("quadratic-multi").at("smoke")
    chosen = study.chosen()
    assert len(chosen) == study.starts
    for start in chosen:
        first, second = sorted(start.critical)
        assert 1.05 <= second / first <= 1.5 and 0.3 <= first <= 0.5
        below, middle, above, past = rates_of(start)
        assert below < first < middle < second < above < 2 * first < past


@pytest.mark.slow
def test_the_start_is_that_of_the_engine():
    task = tasks.TwoClusters(count=12)
    start = start_of(task, 50, 3)
    run = ds.simulate(
        task, models.TwoLayerReLU(50), dynamics.GradientDescent(0.1), steps=1,
        probes=[TrainingOutput(), DirectionKernel()], seeds=[3], dtype="float64", progress=False,
    ).isel(seed=0, step=0)  # fmt: skip
    assert np.allclose(run["training_output"], start.outputs, rtol=1e-12)
    value = run["direction_kernel"].sel(number="value")
    for direction, kernel in zip(start.found, start.kernels, strict=True):
        assert float(value.sel(direction=direction.name)) == pytest.approx(kernel, rel=1e-12)
    assert abs(float(value.sel(direction="outside"))) < 1e-12 * max(start.kernels)


@pytest.mark.slow
def test_inputs_of_one_sign_have_one_direction_and_no_nan():
    model = models.TwoLayerReLU(20)
    with pytest.raises(BadInput, match="one dimension"):
        ds.simulate(
            tasks.OneExample(dimension=2), model, dynamics.GradientDescent(0.1), steps=1,
            probes=[DirectionKernel()],
        )  # fmt: skip
    one = tasks.OneExample(dimension=1)
    run = ds.simulate(
        one, model, dynamics.GradientDescent(0.1), steps=1, probes=[DirectionKernel()],
        dtype="float64", progress=False,
    )  # fmt: skip
    values = run["direction_kernel"].sel(number="value").values[0, 0]
    assert np.isfinite(values).all() and np.sum(values > 1e-9) == 1
