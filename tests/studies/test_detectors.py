"""Detectors are found however a claim reaches them, and replaced wherever they are bound."""

from __future__ import annotations

import numpy as np
import pytest

from dynascope.graphs.injective import injective_exponent
from dynascope.probes import curves
from dynascope.studies.oscillation.neuron_balance.runs import copy_sharpness_on
from dynascope.studies.rank_increase.rank_assumptions.noise import Perturbed
from dynascope.studies.recall.few_shot.runs import Accuracies
from dynascope.studies.study import studies
from dynascope.theories.rank_increase.plateau import Plateau

from .detectors import detectors, replaced, tells_nothing

FOUND = {
    "a method": ("few-shot", Accuracies.z),
    "a property": ("rank-assumptions", Perturbed.products.fget),
    "in a computation": ("neuron-balance", copy_sharpness_on),
    "a probe's, behind a function of the study": ("swing-by", curves.bump),
}


@pytest.mark.parametrize(("study", "function"), FOUND.values(), ids=FOUND)
def test_a_detector_is_found(study, function):
    assert function in detectors(studies.get(study), set())


def test_what_a_kept_node_calls_is_none():
    study = studies.get("neuron-balance")
    [node] = [n for n in study.nodes if n.name == "copies"]
    assert copy_sharpness_on not in detectors(study, {node})


def test_methods_and_properties_are_replaced_and_come_back(monkeypatch):
    table = Accuracies(np.full((1, 2, 4), 0.5))
    noisy = Perturbed(np.zeros(1), np.ones((1, 2, 3)), np.ones((1, 2, 3)))
    by = {Accuracies.z: lambda self: "replaced", Perturbed.products.fget: lambda self: "too"}
    with replaced(by, monkeypatch):
        assert (table.z(), noisy.products) == ("replaced", "too")
    assert table.z().shape == (1, 4) and noisy.products[0].shape == (1, 3)


def test_a_formula_of_another_package_tells_nothing_of_a_run():
    values = np.array([4.0, 1.0, 2.0])
    assert tells_nothing(injective_exponent, (6,), {})
    assert not tells_nothing(curves.bump, (values,), {})
    assert not tells_nothing(copy_sharpness_on, (6,), {}), "the study's own count"
    settings = studies.get("swing-by").at("smoke")
    assert tells_nothing(copy_sharpness_on, (settings,), {})
    assert not tells_nothing(copy_sharpness_on, (settings, 6), {})
    assert tells_nothing(copy_sharpness_on, (Plateau(values, values, values), 0.5), {})
