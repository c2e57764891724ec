from __future__ import annotations

import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.theories import factorization_verdict, orbit_multipliers, quartic_orbit
from dynascope.theories.oscillation.factorization import neimark_sacker_line

from .descents import factor_descent, factor_gradient


def two_step_jacobian(strengths, shape=None, inner=None):
    """Central differences of two steps around the balanced orbit, by plain numpy."""
    m, n = shape or (len(strengths), len(strengths))
    r = inner or min(m, n)
    target = np.zeros((m, n))
    np.fill_diagonal(target, [*strengths, *np.zeros(min(m, n) - len(strengths))])
    fitted = min(r, len(strengths))
    low = quartic_orbit(strengths[0], 1.0).points[0]
    y, z = np.zeros((m, r)), np.zeros((n, r))
    for w in (y, z):
        w[range(fitted), range(fitted)] = [low, *np.sqrt(strengths[1:fitted])]
    state = np.concatenate([y.ravel(), z.ravel()])

    def two_steps(v):
        y, z = v[: m * r].reshape(m, r), v[m * r :].reshape(n, r)
        for _ in range(2):
            dy, dz = factor_gradient(y, z, target)
            y, z = y - dy, z - dz
        return np.concatenate([y.ravel(), z.ravel()])

    h = 1e-6
    columns = [(two_steps(state + h * e) - two_steps(state - h * e)) / (2 * h)
               for e in np.eye(len(state))]  # fmt: skip
    return np.array(columns).T


@pytest.mark.parametrize(
    ("strengths", "shape", "inner"),
    [
        ([1.1, 0.5, 0.2], (3, 3), 3),
        ([1.1, 0.5, 0.2], (3, 5), 3),  # a longer side
        ([1.1, 0.5, 0.2], (5, 3), 3),
        ([1.1, 0.5, 0.2], (3, 5), 6),  # more columns than the rank
        ([1.1, 0.5], (3, 4), 3),  # a target of lower rank
        ([1.1, 0.5], (3, 4), 5),
        ([1.2, 0.95], (2, 2), 1),  # fewer columns than the rank
        ([1.05, 1.02, 0.3], (3, 4), 2),
        ([1.05, 0.7, 0.6, 0.3], (5, 4), 2),
        ([1.1], (2, 3), 2),
        ([1.1], (1, 1), 1),
    ],
)
def test_the_multipliers_are_those_of_the_numerical_jacobian(strengths, shape, inner):
    predicted = np.concatenate([m.values for m in orbit_multipliers(strengths, shape, inner)])
    size = sum(shape) * inner
    assert len(predicted) == size
    # Eigenvalue 1 belongs to rotations, in Jordan blocks that differences split: compare the
    # characteristic polynomials' power sums, which do not mind.
    jacobian = two_step_jacobian(strengths, shape, inner)
    power = np.eye(size)
    for k in range(1, 7):
        power = power @ jacobian
        assert np.trace(power) == pytest.approx(float((predicted**k).sum().real), abs=2e-6)


def test_single_entries_have_their_closed_forms():
    k, b = 1.1, 0.4
    found = {m.symmetry: m.values[0] for m in orbit_multipliers([k, b], (3, 2), 1)
             if m.pair in ((0, 1), (0, 2))}  # fmt: skip
    expected = {"symmetric": 1 - (1 + b) * (k - b), "antisymmetric": 1 - (1 - b) * (k + b),
                "alone": 1 - k}  # fmt: skip
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("strengths", "inner", "verdict"),
    [
        ([1.2, 0.95], 1, "period-2"),
        ([1.2, 0.95], 2, "diverges"),
        ([1.05, 1.02], 1, "diverges"),
        ([1.1, 0.5, 0.4], 2, "period-2"),
        ([1.25, 0.9], 1, "period-4"),
        ([0.9, 0.8], 1, "converges"),
    ],
)
def test_with_fewer_columns_than_directions_the_verdict_is_that_of_descents(
    strengths, inner, verdict
):
    found = factorization_verdict(np.diag(strengths), 1.0, inner=inner)
    assert found.verdict == verdict
    d = len(strengths)
    start = np.sqrt(0.09 / d) * np.random.default_rng(5).normal(size=(2, d, inner))
    after = factor_descent(*start, np.diag(strengths), 1.0, 6000)
    assert (after is None) == (verdict == "diverges")
    if after is not None:
        states = [after]
        for _ in range(4):
            states.append(factor_descent(*states[-1], np.diag(strengths), 1.0, 1))
        tops = [np.linalg.norm(y, 2) for y, _ in states]
        seen = next(n for n in (1, 2, 4) if abs(tops[n] - tops[0]) < 1e-6)
        assert seen == {"converges": 1, "period-2": 2, "period-4": 4}[verdict]


@pytest.mark.parametrize(("shape", "inner"), [((1, 2), 1), ((2, 2), 0)])
def test_shapes_that_do_not_fit_are_refused(shape, inner):
    with pytest.raises(BadInput, match="shape"):
        orbit_multipliers([1.1, 0.5], shape, inner)
    with pytest.raises(BadInput, match="inner"):
        factorization_verdict(np.eye(2), 1.0, inner=0)


def test_the_simple_multipliers_are_eigenvalues_themselves():
    found = np.linalg.eigvals(two_step_jacobian([1.1, 0.5, 0.2]))
    for value in (9 - 2 * 2.1**2, 0.8, 0.5 + 0.2645751j, 0.7327038, 0.0272962, 0.1, -0.08):
        assert abs(found - value).min() < 1e-6


def test_closed_forms_of_the_pair_with_another_direction():
    for k, b in [(1.1, 0.5), (1.1, 0.2), (1.2, 0.7), (1.02, 0.98)]:
        sectors = {m.symmetry: np.array(m.values) for m in orbit_multipliers([k, b])
                   if m.pair == (0, 1)}  # fmt: skip
        product = 1 - (2 - k - b) * (2 * k - 1 + b)
        assert sectors["antisymmetric"].prod() == pytest.approx(product, abs=1e-12)
        assert sorted(sectors["symmetric"].real) == pytest.approx(
            sorted([1 - (1 + b) * (k - b), 1])
        )


def test_the_pair_reaches_the_unit_circle_exactly_on_the_line():
    for k in (1.02, 1.1, 1.2):
        at = {
            m.pair: m.radius
            for m in orbit_multipliers([k, neimark_sacker_line(k)])
            if m.symmetry == "antisymmetric"
        }
        assert at[0, 1] == pytest.approx(1, abs=1e-9)


def test_without_an_orbit_there_are_no_multipliers():
    with pytest.raises(BadInput, match="above 1"):
        orbit_multipliers([0.9, 0.2])


@pytest.mark.parametrize(
    ("strengths", "verdict"),
    [
        ([0.9, 0.5], "converges"),
        ([1.1, 0.5], "period-2"),
        ([1.1, 0.93], "quasi-periodic"),
        ([1.25, 0.3], "period-4"),
        ([1.5, 0.3], "chaotic"),
        ([1.5, 0.6], "diverges"),
        ([1.05, 1.05], "diverges"),
        ([2.1, 0.1], "diverges"),
    ],
)
def test_verdicts_of_two_directions(strengths, verdict):
    found = factorization_verdict(np.diag(strengths), 1.0)
    assert found.verdict == verdict
    assert (found.offending is not None) == (verdict in ("quasi-periodic", "diverges"))


def test_verdict_and_points_are_those_of_a_descent_on_a_rotated_target():
    random = np.random.default_rng(0)
    u, v = (np.linalg.qr(random.normal(size=(n, n)))[0] for n in (4, 6))
    target = u @ np.diag([2.0, 0.9, 0.5, 0.1]) @ v[:, :4].T
    found = factorization_verdict(target, 0.55)
    assert found.verdict == "period-2" and found.strengths[0] == pytest.approx(1.1)
    y, z = (np.sqrt(0.09 / n) * random.normal(size=(n, 4)) for n in (4, 6))
    y, z = factor_descent(y, z, target, 0.55, 6000)
    after = factor_descent(y, z, target, 0.55, 1)
    tops = sorted(np.linalg.norm(w, 2) for w in (y, after[0]))
    assert found.points == pytest.approx(tops, rel=1e-8)


@pytest.mark.parametrize("alpha", [1.0, 0.8])
def test_a_start_near_a_factor_ends_on_the_orbit_balanced_or_not(alpha):
    random = np.random.default_rng(1)
    factor = random.normal(size=(8, 8))
    top = np.linalg.norm(factor, 2)
    target, rate = factor @ factor.T, 1.02 / top**2
    noise = 1e-2 * random.normal(size=(2, 8, 8))
    y, z = factor_descent(alpha * factor + noise[0], factor / alpha + noise[1], target, rate, 8000)
    after = factor_descent(y, z, target, rate, 1)
    exact = np.array(quartic_orbit(1.0, 1.02).points)
    assert exact == pytest.approx((0.922606, 1.062634), abs=1e-6)
    for w in zip((y, z), after, strict=True):
        tops = sorted(np.linalg.norm(v, 2) / top for v in w)
        assert tops == pytest.approx(exact, rel=1e-8)


def test_divergence_lies_where_the_line_says_and_the_symmetric_model_stays():
    random = np.random.default_rng(2)
    target = np.diag([1.0, *np.full(7, 0.3)])
    for seed in range(5):
        start = np.random.default_rng(seed).normal(size=(2, 8, 8)) * np.sqrt(0.09 / 8)
        assert factor_descent(*start, target, 1.50, 4000) is not None
        assert factor_descent(*start, target, 1.56, 4000) is None
    start = random.normal(size=(2, 3, 3)) * 0.2
    assert factor_descent(*start, np.eye(3), 1.05, 4000) is None
    x = random.normal(size=(3, 3)) * 0.2
    for _ in range(4000):
        x = x - 1.05 * (x @ x.T - np.eye(3)) @ x
    for value in np.linalg.svd(x, compute_uv=False):
        assert min(abs(value - 0.8728716), abs(value - 1.0910895)) < 1e-6


def test_a_target_that_does_not_fit_the_model_is_refused_in_one_line():
    for wrong in (np.zeros((2, 2)), np.ones(3), np.full((2, 2), np.nan)):
        with pytest.raises(BadInput, match="target"):
            factorization_verdict(wrong, 1.0)
    with pytest.raises(BadInput, match="positive definite"):
        factorization_verdict(np.diag([1.0, -1.0]), 1.0, symmetric=True)
    with pytest.raises(BadInput, match="symmetric"):
        factorization_verdict(np.array([[1.0, 0.5], [0.0, 1.0]]), 1.0, symmetric=True)
    with pytest.raises(BadInput, match="learning_rate"):
        factorization_verdict(np.eye(2), np.inf)
