"""Every claim of the oscillation studies at smoke scale, with its control."""

from __future__ import annotations

from functools import cache

import pytest

from dynascope.core.errors import BadInput
from dynascope.engine import execute
from dynascope.studies import studies

FAILING = {
    "period-two": {"composition-as-printed"},
    "quartic-orbits": {"existence-as-printed", "chaos-as-printed"},
    "balance": {"stable-set-as-printed", "stable-minimisers-as-printed"},
    "matrix-factorization": {"separable-model", "cross-terms", "more-edges"},
    "single-neuron": set(),
    "neuron-balance": set(),
}


@cache
def judged(name):
    study = studies.get(name).at("smoke")
    plan = study.plan().items()
    found = study.analyse({
        label: execute(experiment, progress=False) for label, experiment in plan
    })
    return study, found, study.judge(found)


@pytest.mark.parametrize("name", FAILING)
def test_every_claim_is_decided_and_only_printed_mistakes_fail(name):
    _, _, claims = judged(name)
    verdicts = {claim.id.split("/")[1]: claim.verdict for claim in claims}
    assert {slug for slug, verdict in verdicts.items() if verdict == "fails"} == FAILING[name]
    assert set(verdicts.values()) <= {"holds", "fails"}


@pytest.mark.parametrize("name", FAILING)
def test_every_control_fails(name):
    for claim in judged(name)[2]:
        assert claim.control is not None and claim.control.verdict == "fails", claim.id


@pytest.mark.parametrize("name", FAILING)
def test_charts_and_headline_can_be_drawn(name):
    from dynascope.report.checks import check

    study, found, _ = judged(name)
    charts = study.draw(found)
    assert len({chart.name for chart in charts}) == len(charts) > 0
    for chart in charts:
        check(chart)
        assert chart.caption.endswith(".")
    headline = study.headline(found)
    assert len(headline.x) == len(headline.y) == len(headline.theory)


def test_looks_that_miss_the_steps_of_the_claims_are_refused():
    with pytest.raises(BadInput, match="every"):
        studies.get("neuron-balance")(every=3)


def test_sixteen_neurons_end_much_flatter_and_alike_only_past_the_edge():
    claims = {claim.id.split("/")[1]: claim for claim in judged("neuron-balance")[2]}
    flatter, alike = claims["flatter"], claims["equal-ratios"]
    assert flatter.measured.value < 0.85 < 1.0 < flatter.control.measured.value
    assert alike.measured.value < 0.15 < 2 < alike.control.measured.value
