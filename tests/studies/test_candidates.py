"""The candidate models (3.10) to (3.12) against the losses they are."""

from __future__ import annotations

import numpy as np
import pytest

from dynascope.studies.oscillation.matrix_factorization.candidates import (
    edge_terms,
    eigenvalues_at_minimum,
)
from dynascope.studies.oscillation.matrix_factorization.descents import descend
from dynascope.theories.oscillation.quartic import quartic_orbit


def candidate_loss(x, target, terms):
    return float((terms * (x @ x.T - target) ** 2).sum() / 4)


def descend_symmetric(targets, x, terms, steps):
    found = descend(targets, x, x, steps, terms, tied=True)
    return found.y, found.escaped


def test_all_edges_make_the_factorisation_loss():
    x = np.random.default_rng(0).normal(size=(3, 3))
    whole = ((x @ x.T - np.eye(3)) ** 2).sum() / 4
    assert candidate_loss(x, np.eye(3), edge_terms(3, 3, 1, 0)[0]) == pytest.approx(whole)
    rows = ((x**2).sum(axis=1) - 1) ** 2 / 4
    assert candidate_loss(x, np.eye(3), edge_terms(3, 0, 1, 0)[0]) == pytest.approx(rows.sum())


@pytest.mark.parametrize("edges", [0, 2, 6])
def test_a_step_is_minus_the_gradient(edges):
    random = np.random.default_rng(1)
    x, h = random.normal(size=(4, 4)), 1e-6
    terms, target = edge_terms(4, edges, 1, 0)[0], np.eye(4)
    moved, _ = descend_symmetric(target[None], x[None], terms[None], 1)
    slopes = np.empty_like(x)
    for place in np.ndindex(x.shape):
        e = np.zeros_like(x)
        e[place] = h
        ahead, behind = (candidate_loss(x + s, target, terms) for s in (e, -e))
        slopes[place] = (ahead - behind) / (2 * h)
    assert x - moved[0] == pytest.approx(slopes, abs=1e-7)


def test_the_spectrum_is_that_of_differences():
    terms, k, h = edge_terms(3, 2, 1, 0)[0], 1.05, 1e-5
    x = np.sqrt(k) * np.eye(3)

    def slope(flat):
        moved, _ = descend_symmetric((k * np.eye(3))[None], flat.reshape(1, 3, 3), terms[None], 1)
        return flat - moved.ravel()

    columns = [(slope(x.ravel() + e) - slope(x.ravel() - e)) / (2 * h) for e in h * np.eye(9)]
    dense = np.linalg.eigvalsh(np.array(columns))
    assert eigenvalues_at_minimum(k, terms) == pytest.approx(dense, abs=1e-8)
    assert (dense > 2).sum() == 3 + 2  # one for every direction and every edge


def test_separable_and_full_models_oscillate_in_every_direction():
    start = 0.1 * np.random.default_rng(2).normal(size=(1, 3, 3))
    target = 1.05 * np.eye(3)[None]
    points = np.array(quartic_orbit(1.05, 1.0).points)
    for edges in (0, 3):
        x, escaped = descend_symmetric(target, start, edge_terms(3, edges, 1, 0), 3000)
        lengths = np.linalg.norm(x[0], axis=1) if edges == 0 else np.linalg.svd(x[0])[1]
        assert not escaped.any()
        assert np.abs(lengths[:, None] - points).min(axis=1).max() < 1e-9


def test_edges_are_pairs_and_as_many_as_asked():
    terms = edge_terms(5, 4, 20, seed=3)
    assert (terms == terms.swapaxes(1, 2)).all()
    assert (terms.sum(axis=(1, 2)) == 5 + 2 * 4).all()
    assert len({t.tobytes() for t in terms}) > 10
