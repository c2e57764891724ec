"""Every claim of quadratic-map at smoke scale, with its control."""

from __future__ import annotations

from functools import cache

import numpy as np

from dynascope.studies import studies
from dynascope.studies.catapult.weights import descend, draw
from dynascope.studies.slopes import log_slope

FAILING = {
    "kernel-bound-as-printed",
    "slightly-above-as-printed",
    "kernel-falls-as-printed",
    "equilibria-as-printed",
    "growth-term-as-printed",
}


@cache
def judged():
    study = studies.get("quadratic-map").at("smoke")
    found = study.analyse({})
    return study, found, study.judge(found)


def test_every_claim_is_decided_and_only_printed_mistakes_fail():
    verdicts = {claim.id.split("/")[1]: claim.verdict for claim in judged()[2]}
    assert {slug for slug, verdict in verdicts.items() if verdict == "fails"} == FAILING
    assert set(verdicts.values()) <= {"holds", "fails"}


def test_every_control_fails():
    for claim in judged()[2]:
        assert claim.control is not None and claim.control.verdict == "fails", claim.id


def test_charts_and_headline_can_be_drawn():
    from dynascope.report.checks import check

    study, found, _ = judged()
    charts = study.draw(found)
    assert len({chart.name for chart in charts}) == len(charts) == 4
    for chart in charts:
        check(chart)
        assert chart.caption.endswith(".")
    headline = study.headline(found)
    assert len(headline.x) == len(headline.y) == len(headline.theory)


def test_only_units_that_are_on_move_and_the_map_has_their_kernel():
    start = draw(40, 3, seed=2)
    assert (start.first @ start.x >= 0).all() and start.x @ start.x == 3
    seen = descend(start, start.map(1.0, 0.5), 3)
    assert np.isclose(seen.kernel[0], start.map(1.0, 0.5).kernel) and seen.distance[0] == 0
    assert (seen.distance[1:] > 0).all() and abs(seen.residual[-1]) < 1e-6


def test_a_slope_needs_positive_numbers():
    assert np.isnan(log_slope([1.0, 2.0], [0.0, 1.0]))
    assert np.isclose(log_slope([1.0, 2.0, 4.0], [8.0, 2.0, 0.5]), -2)
