"""`linearity-width` at smoke scale: what is decided there, and why it can be."""

from __future__ import annotations

import numpy as np
import pytest

from dynascope.studies.linearity.linearity_width import RATE, LinearityWidth


@pytest.fixture(scope="module")
def outcome():
    study = LinearityWidth.at("smoke")
    found = study.analyse({})
    return study, found, {c.id.split("/")[1]: c for c in study.judge(found)}


def test_what_must_hold_holds_and_nothing_fails_that_should_not(outcome):
    _, _, claims = outcome
    for slug in ("first-layer", "narrow-layer", "gap-bound"):
        assert claims[slug].verdict == "holds", claims[slug]
    for slug in ("mixed", "shared-weights"):
        assert claims[slug].verdict == "not_applicable"
    failing = {slug for slug, c in claims.items() if c.verdict == "fails"}
    assert not failing


def test_slopes_have_the_order_of_the_text(outcome):
    _, found, _ = outcome
    slope = {name: f.slope().value for name, f in found.families.items() if "first" not in name}
    assert -0.6 < slope["fully connected"] < -0.25 and -0.6 < slope["two layers"] < -0.25
    assert slope["narrow layer"] > slope["fully connected"] + 0.15
    assert slope["bypassed"] < slope["narrow layer"] - 0.15
    assert all(f.converged for f in found.families.values())


def test_every_claim_has_a_control_that_is_put_to_the_same_bound(outcome):
    _, _, claims = outcome
    for claim in claims.values():
        assert claim.verdict == "not_applicable" or claim.control is not None
        if claim.verdict == "holds":
            assert claim.control.verdict == "fails"


def test_charts_show_what_the_claims_say(outcome):
    study, found, _ = outcome
    slopes, gaps, drift = study.draw(found)
    bars = slopes.panels[1].marks[0]
    assert bars.y[0] == pytest.approx(found.families["fully connected"].slope().value)
    measured, bound = gaps.panels[0].marks[:2]
    assert np.all(np.array(measured.y) <= 1.02 * np.array(bound.y))
    assert [p.title for p in drift.panels][1] == "Slopes in log-log" and len(drift.panels) == 3
    assert RATE.low < -0.5 < RATE.high


def test_the_headline_is_the_norm_of_the_fully_connected_network(outcome):
    study, found, _ = outcome
    headline = study.headline(found)
    assert headline.x == tuple(found.families["fully connected"].widths)
    assert headline.y[0] > headline.y[-1] > 0
