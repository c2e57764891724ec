"""Sixteen neurons: measuring functions on planted descents, and known numbers."""

from __future__ import annotations

import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.studies.oscillation.neuron_balance import claims, runs
from dynascope.theories.oscillation.neuron_balance import copy_sharpness

STUDY = "neuron-balance"


def descent(ratios, sharpness=1.0, losses=0.0):
    """A descent of one seed whose ratios are these at steps 0, 100 and 120."""
    places = np.array([0, runs.DROP, runs.END])
    flat = [np.full((1, 3), v) for v in (losses, sharpness)]
    return runs.Descent(places, *flat, np.asarray(ratios, float)[None])


def test_looks_that_miss_the_steps_of_the_claims_are_refused():
    with pytest.raises(BadInput, match="every"):
        runs.Settings(every=3)


def test_ratios_are_read_where_the_claims_say():
    start = runs.START_RATIOS
    seen = descent([start, 1.1 * start, np.full(runs.NEURONS, 1.21)])
    assert claims.drift(seen).value == pytest.approx(0.1)
    assert claims.spread(seen).value == pytest.approx(1.1 * np.ptp(start))
    assert claims.last_ratio(seen).value == pytest.approx(1.21)


def test_the_population_itself_has_its_flattest_copy_and_edge():
    """1.2023 and 2.496."""
    exact, other = (copy_sharpness(runs.SCAN, n) for n in (16, 12))
    both = np.array([exact, exact])
    assert claims.flattest_ratio(both).value == pytest.approx(1.2023, abs=0.005)
    assert claims.stability_limit(both, 1.0).value == pytest.approx(2.496, abs=0.002)
    far = claims.stability_limit(both, 1.6).value
    assert far == pytest.approx(2 / copy_sharpness(1.6, 16))
    assert claims.formula_error(both, exact).value == pytest.approx(0, abs=1e-12)
    assert claims.formula_error(both, other).value > 0.02


def test_sixteen_neurons_end_much_flatter_and_alike_only_past_the_edge(outcome):
    found = {claim.id.split("/")[1]: claim for claim in outcome.claims}
    flatter, alike = found["flatter"], found["equal-ratios"]
    assert flatter.measured.value < 0.85 < 1.0 < flatter.control.measured.value
    assert alike.measured.value < 0.15 < 2 < alike.control.measured.value
