from __future__ import annotations

import numpy as np
import pytest

from dynascope.theories import composition, fit_condition
from dynascope.theories.oscillation.fitting import (
    COUNTEREXAMPLES,
    compose_jets,
)

from .descents import FITS, fit_edge


@pytest.mark.parametrize("name", FITS)
def test_proposition_1_holds_for_every_named_function(name):
    _, _, text, at = FITS[name]
    found = fit_condition(text, at)
    assert found.holds
    assert fit_edge(name).criticality == pytest.approx(found.criticality, rel=1e-9)


def test_the_values_are_the_closed_forms_of_the_corollaries():
    sin, cos = np.sin(0.5), np.cos(0.5)
    assert fit_condition("sin(x)", 0.5).value == pytest.approx(-(cos**2) - 6 * sin**2)
    assert fit_condition("exp(x)", 0.2).value == pytest.approx(-5 * np.exp(0.4))
    assert fit_condition("log(x)", 1.5).value == pytest.approx(-4 / 1.5**4)
    assert fit_condition("x**3", 2.0).value == pytest.approx(9 * 2 * (4 - 15) * 2.0**2)


def test_proposition_2_as_printed_is_refuted_twice():
    identity, root = (composition(*example) for example in COUNTEREXAMPLES)
    assert identity.printed and not identity.whole.holds and identity.whole.value == 0
    assert root.printed and root.whole.value == pytest.approx(0.0405, abs=1e-4)
    assert (root.inner.value, root.outer.value) == pytest.approx((-24, -0.195), abs=1e-3)
    assert not identity.corrected and not root.corrected


def test_the_corrected_rule_never_fails_on_random_jets_and_the_printed_one_does():
    jets = np.random.default_rng(0).normal(size=(2000, 2, 3))
    found = [compose_jets(inner, outer) for inner, outer in jets]
    assert sum(c.corrected for c in found) > 100
    assert all(c.whole.holds for c in found if c.corrected)
    assert any(c.printed and not c.whole.holds for c in found)


def test_the_value_of_a_composition_is_that_of_the_composed_text():
    whole = composition("x**2+1", "exp(x)", 0.7).whole
    assert whole.value == pytest.approx(fit_condition("exp(x**2+1)", 0.7).value, rel=1e-12)


def test_the_identity_behind_the_corrected_rule():
    (f1, f2, f3), (g1, g2, g3) = jets = np.random.default_rng(1).normal(size=(2, 3))
    found = compose_jets(*jets)
    parts = (g1 * g3 - 6 * g2**2) * f1**4 + (f1 * f3 - 6 * f2**2) * g1**2
    assert found.whole.value == pytest.approx(parts - 9 * g1 * g2 * f1**2 * f2)


def test_without_slope_the_proposition_says_nothing():
    assert not fit_condition("x**2", 0.0).holds
