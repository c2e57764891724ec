"""Dense witnesses, descents and measuring functions of the matrix-factorization study."""

from __future__ import annotations

import numpy as np
import pytest

from dynascope.studies.oscillation.matrix_factorization import claims, runs
from dynascope.studies.oscillation.matrix_factorization.cases import directions
from dynascope.studies.oscillation.matrix_factorization.descents import descend, generic, spectra
from dynascope.studies.oscillation.matrix_factorization.witnesses import (
    criticality_ratio,
    end_of_stability,
    hessian,
    line_derivatives,
    transition,
)
from dynascope.studies.study import studies
from dynascope.theories.oscillation.factorization import transfer
from dynascope.theories.oscillation.quartic import orbit_points

SHAPES = ((3, 4, 5), (6, 2, 3), (2, 7, 2))


def loss(x, y, target):
    return ((x @ y - target) ** 2).sum() / 2


def top(x, y):
    vector = np.linalg.eigh(hessian(x, y))[1][:, -1]
    return vector[: x.size].reshape(x.shape), vector[x.size :].reshape(y.shape)


@pytest.mark.parametrize("shape", SHAPES)
def test_theorem_b3_for_the_dense_hessians_eigenvector(shape):
    m, k, n = shape
    random = np.random.default_rng(0)
    x, y = random.normal(size=(m, k)), random.normal(size=(k, n))
    dx, dy = top(x, y)
    f2, f3, f4 = line_derivatives(x, y, dx, dy)
    sides = ((dx @ y + x @ dy) ** 2).sum() * ((dx @ dy) ** 2).sum()
    assert 3 * f3**2 - f2 * f4 == pytest.approx(96 * sides, rel=1e-9)
    direction = np.concatenate([dx.ravel(), dy.ravel()])
    assert criticality_ratio(x, y, direction) == pytest.approx(1, rel=1e-9)
    other = np.random.default_rng(3).normal(size=len(direction))
    f2, f3, f4 = line_derivatives(x, y, other[: x.size].reshape(x.shape),
                                  other[x.size :].reshape(y.shape))  # fmt: skip
    assert criticality_ratio(x, y, other) == pytest.approx((3 * f3**2 - f2 * f4) / (8 * f2 * f4))
    sharpness = np.linalg.norm(x, 2) ** 2 + np.linalg.norm(y, 2) ** 2
    assert np.linalg.eigvalsh(hessian(x, y))[-1] == pytest.approx(sharpness, rel=1e-12)


def test_orthogonal_top_directions_leave_the_condition_unmet():
    x, y = np.diag([2.0, 0.5]), np.diag([0.5, 3.0])
    f2, f3, f4 = line_derivatives(x, y, *top(x, y))
    assert 3 * f3**2 - f2 * f4 == pytest.approx(0, abs=1e-20) and f2 == pytest.approx(13)


def test_hessian_and_line_derivatives_are_those_of_the_loss():
    random = np.random.default_rng(1)
    x, y = random.normal(size=(3, 2)), random.normal(size=(2, 4))
    dx, dy = random.normal(size=(3, 2)), random.normal(size=(2, 4))
    times = np.linspace(-1, 1, 9)
    along = [loss(x + t * dx, y + t * dy, x @ y) for t in times]
    exact = np.polynomial.Polynomial.fit(times, along, 4).convert().coef  # the loss is a quartic
    f2, f3, f4 = line_derivatives(x, y, dx, dy)
    assert (2 * exact[2], 6 * exact[3], 24 * exact[4]) == pytest.approx((f2, f3, f4), rel=1e-9)
    direction = np.concatenate([dx.ravel(), dy.ravel()])
    assert direction @ hessian(x, y) @ direction == pytest.approx(f2, rel=1e-12)


def test_descents_are_those_of_a_plain_loop_and_escapes_are_marked():
    targets = spectra(np.array([1.1, 2.5]), np.array([0.5, 0.5]), 3)
    starts = 0.2 * np.random.default_rng(2).normal(size=(2, 2, 3, 3))
    found = descend(targets, *starts, 500)
    assert found.escaped.tolist() == [False, True] and not found.y[1].any()
    y, z = starts[0, 0], starts[1, 0]
    for _ in range(500):
        error = y @ z.T - targets[0]
        y, z = y - error @ z, z - error.T @ y
    assert found.y[0] == pytest.approx(y, abs=1e-9) and found.z[0] == pytest.approx(z, abs=1e-9)


def test_tied_factors_stay_one_matrix():
    target, x = 1.05 * np.eye(3)[None], 0.1 * np.random.default_rng(4).normal(size=(1, 3, 3))
    found, plain = descend(target, x, x, 200, tied=True), x[0]
    for _ in range(200):
        plain = plain - (plain @ plain.T - target[0]) @ plain
    assert found.y[0] == pytest.approx(plain, abs=1e-9)
    apart = descend(target, x, x + 1e-3, 3, tied=True)  # whatever pulls them apart
    assert (apart.y == apart.z).all()


@pytest.mark.parametrize("name", ["alpha = 1", "alpha = 0.8", "on the orbit"])
def test_flat_and_sharp_starts_end_on_the_ledgers_orbit(name):
    """Must-pass 15: sigma_1 {.922606, 1.062634}."""
    found = runs.quasi.function(runs.Settings(seeds=2), name)
    assert found.settled.shape == (2, 2, 2) and found.losses.shape == (300, 2)
    assert np.sort(found.settled, axis=0)[:, :, 0] == pytest.approx(
        np.array([[0.922606] * 2, [1.062634] * 2]), abs=1e-6
    )
    assert found.settled[..., 0] == pytest.approx(found.settled[..., 1], abs=1e-9)
    alpha = runs.QUASI[name][1] * (0.922606 if name == "on the orbit" else 1)
    assert found.tops[0, :, 0] == pytest.approx([alpha] * 2, abs=0.02)


def test_escape_begins_beyond_the_line():
    """Must-pass 17: b = .3 K is bounded at K = 1.50 and escapes at 1.56, for all seeds."""
    strengths = np.repeat([1.5, 1.56], 5)  # the line K + b = 2 is at 1.538
    found = descend(spectra(strengths, 0.3 * strengths, 8), *generic(10, 8, 0), 4000)
    assert found.escaped.tolist() == [False] * 5 + [True] * 5


def test_the_orbit_loses_its_stability_at_the_line_or_at_one():
    """Must-pass 16: modulus 1 at K = 1.1, b = .9; with one column at b = 1."""
    assert [end_of_stability(k) for k in (1.1, 1.2)] == pytest.approx([0.9, 0.8], abs=1e-6)
    assert end_of_stability(1.1, columns=1) == pytest.approx(1.0, abs=1e-3)
    first, second = transfer(orbit_points(1.1, 1.0), 1.1, 0.9, "antisymmetric")  # in closed form
    assert np.abs(np.linalg.eigvals(second @ first)).max() == pytest.approx(1.0, abs=1e-9)


def test_the_hessian_away_from_minimisers_is_that_of_differences():
    random = np.random.default_rng(7)
    x, y, target = (random.normal(size=shape) for shape in ((2, 3), (3, 2), (2, 2)))
    state, h = np.concatenate([x.ravel(), y.ravel()]), 1e-5

    def slope(v):
        a, b = v[:6].reshape(2, 3), v[6:].reshape(3, 2)
        error = a @ b - target
        return np.concatenate([(error @ b.T).ravel(), (a.T @ error).ravel()])

    columns = [(slope(state + h * e) - slope(state - h * e)) / (2 * h) for e in np.eye(12)]
    assert hessian(x, y, target) == pytest.approx(np.array(columns), abs=1e-8)


def test_the_transition_matrix_has_the_printed_eigenvalues_at_the_minimum():
    """(B.184), and on the orbit 3 - 2K as long as b is small."""
    k, b, alpha = 1.05, 0.3, 0.8
    at = transition(alpha * k**0.5, k**0.5 / alpha, k, b, alpha)
    other = [1 - k / alpha**2 - b * alpha**2, 1 - k * alpha**2 - b / alpha**2]
    assert np.sort(np.linalg.eigvals(at).real) == pytest.approx(sorted([1, 1, *other]))
    low, high = (transition(x, x, k, b, 1.0) for x in claims.orbit_points(k, 1.0))
    assert np.abs(np.linalg.eigvals(high @ low)).max() == pytest.approx(3 - 2 * k)


def test_shares_of_the_map_are_taken_over_the_cells_that_are_asked_for():
    k, b = np.meshgrid(*runs.axes(12))
    seen = runs.Map(k, b, k + b > 2.2)
    assert claims.staying(seen, claims.below_line).value == 1
    share = (k + b > 2.2).sum() / (k + b > 2.1).sum()
    assert claims.staying(seen, claims.far_above).value == pytest.approx(1 - share) and share < 1
    assert (claims.condition(1.0)(k, b) == (k + b <= 2)).all()
    assert not (claims.condition(0.8)(k, b) & (k + b > 2)).any()


def test_periods_orbits_and_equal_tops_are_read_off_the_traces():
    times, points = np.arange(512), np.array([0.8, 1.1])
    on = np.sort(np.array(claims.orbit_points(1.1, 1.0)))[times % 2]
    tops = np.stack([on, points[times % 2], np.ones(512)], axis=1)[:, :, None].repeat(2, axis=2)
    traces = {1.1: runs.Trace(tops, np.array([0.0, 1.0, 0.0]))}
    assert claims.on_orbit(traces, (1.1,)).value == pytest.approx(1 / 3)
    assert claims.with_period(traces, (1.1,), 2).value == pytest.approx(2 / 3)
    assert claims.aligned(traces, (1.1,)).value == pytest.approx(2 / 3)
    assert claims.without_period(traces, (1.1,)).value == 0
    tops[-1, 0, 1] += 1e-3
    assert claims.equal_tops(traces, (1.1,)).value == pytest.approx(2 / 3)


def test_controls_of_traces_are_what_they_are_said_to_be():
    assert claims.with_period(runs.planted_still.function(runs.Settings(seeds=6)), (1.0,), 1).value
    exponents = {}
    for strength in (runs.FOUR[0], runs.CHAOTIC[-1]):
        x, slopes = 0.7, []
        for _ in range(4000):
            slopes.append(np.log(abs(1 + strength - 3 * x**2)))
            x = x + x * (strength - x**2)
        exponents[strength] = np.mean(slopes[1000:])
    assert exponents[runs.FOUR[0]] < -0.05 < 0.05 < exponents[runs.CHAOTIC[-1]]


def test_allowed_eigenvalues_are_none_where_a_seed_escapes():
    seen = runs.ByEdges(np.array([[False, False], [False, True]]), np.zeros((2, 2), bool),
                        np.array([[3, 3], [4, 4]]))  # fmt: skip
    assert claims.allowed(seen).tolist() == [[3, 3], [4, 0]]
    assert claims.allows_fewer(seen).value == 0.5
    assert claims.escaping(seen, "symmetric", 1).value == 0.5


def test_diagonal_factors_are_enough_to_hold():
    """Else a contradiction of the printed identity would be undecided."""
    study = studies.get("matrix-factorization")
    claim = next(c for c in study.claims if c.id.endswith("/top-direction"))
    found = directions.function(study.at("smoke"), "diagonal")
    assert claim.bound.verdict(claim.measure(found)) == "holds"
