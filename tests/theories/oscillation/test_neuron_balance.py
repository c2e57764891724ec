"""The flattest copy of d neurons against the whole Hessian on points."""

from __future__ import annotations

import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.studies.oscillation.neuron_balance.runs import copy_sharpness_on
from dynascope.studies.oscillation.single_neuron.witnesses import sphere
from dynascope.theories.oscillation.neuron_balance import copy_sharpness, flattest_copy


def test_flattest_copy_of_sixteen_neurons():
    found = flattest_copy(16)
    assert found.ratio == pytest.approx(1.2023, abs=0.001)
    assert found.stability_limit == pytest.approx(2.496, abs=0.002)
    around = copy_sharpness(found.ratio * np.array([0.99, 1.01]), 16)
    assert (around > found.sharpness).all()


def test_ten_thousand_points_have_nearly_the_same_flattest_copy():
    ratios = np.linspace(1.1, 1.3, 41)
    seen = copy_sharpness_on(sphere(10_000, 16, seed=0), ratios)
    assert 1.17 <= ratios[seen.argmin()] <= 1.24
    assert 2.42 <= 2 / seen.min() <= 2.56


@pytest.mark.parametrize("d", [2, 3, 5])
def test_population_formula_is_the_limit_of_many_points(d):
    ratios = np.array([0.4, 1.0, 2.5])
    seen = copy_sharpness_on(sphere(400_000, d, seed=1), ratios)
    assert copy_sharpness(ratios, d) == pytest.approx(seen, rel=5e-3)


def test_one_neuron_is_refused():
    with pytest.raises(BadInput, match="neurons"):
        copy_sharpness(1.0, 1)
