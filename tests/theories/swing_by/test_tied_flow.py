from decimal import Decimal, localcontext

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.theories.swing_by import tied_flow as module
from dynascope.theories.swing_by.schur import factor_jacobian
from dynascope.theories.swing_by.tied_flow import (
    printed_recursion,
    read_jacobian,
    tied_descent,
    tied_flow,
)

from .systems import (
    QUADRUPLE_WEIGHTS,
    TRIPLE_WEIGHTS,
    logistic_entry,
    losses,
    pair,
    plane_settings,
    solve_plane,
)

# value and paper time of the extrema, known numbers
TRIPLE = [(0.392, 2.45), (0.6815, 4.13), (0.0657, 7.26), (0.2308, 12.32)]
QUADRUPLE = [
    (0.9966, 1.76),
    (1.0361, 2.16),
    (0.9889, 2.81),
    (1.0379, 3.80),
    (0.1488, 8.15),
    (0.2932, 14.37),
]


def extrema(curve, times):
    """Interior turning points; enough for curves without noise."""
    turns = np.flatnonzero(np.diff(np.sign(np.diff(curve)))) + 1
    return [(curve[i], times[i]) for i in turns if curve[i] > 1e-6]


def bump(curve):
    return (curve - np.minimum.accumulate(curve)).max() / curve[0]


def velocity(u, a):
    gap = np.eye(len(a)) - u @ u.T
    return (a[:, None] * gap + gap * a) @ u / 2


@pytest.mark.slow
def test_flow_agrees_with_diffrax(triple):
    """The engine's solver, which the theory does not use, on the flow as the text has it."""
    with jax.enable_x64(True):
        a = jnp.asarray(triple.signal)

        def slope(_, u, __):
            gap = jnp.eye(3) - u @ u.T
            return (a[:, None] * gap + gap * a) @ u / 2

        witness = diffrax.diffeqsolve(
            diffrax.ODETerm(slope), diffrax.Dopri8(), 0.0, 60.0, 0.01, jnp.asarray(TRIPLE_WEIGHTS),
            saveat=diffrax.SaveAt(ts=jnp.asarray(triple.times)), max_steps=100_000,
            stepsize_controller=diffrax.PIDController(rtol=1e-12, atol=1e-14),
        )  # fmt: skip
    assert np.abs(read_jacobian(np.asarray(witness.ys)) - triple.path).max() < 1e-8


def test_times_out_of_reach_are_not_numbers(monkeypatch):
    monkeypatch.setattr(module, "_MOST_EVALUATIONS", 50)
    assert np.isnan(tied_flow([[0.1]], [1.0], [0.0, 1e6])).all()


def test_swing_by_reference(plane):  # M8
    system = plane["swing-by"]
    (low, low_time), (high, high_time) = extrema(system.loss, system.times)
    assert abs(low - 0.3177) < 0.002 and abs(low_time - 1.72) < 0.03
    assert abs(high - 0.3949) < 0.002 and abs(high_time - 3.31) < 0.05
    assert system.loss[0] == pytest.approx(2.4148, abs=1e-4)
    assert system.loss[-1] < 1e-6
    training = np.einsum("tij,j->t", (system.path - np.eye(2)) ** 2, system.signal) / 2
    assert (np.diff(training) <= 1e-15).all()


@pytest.mark.parametrize(
    ("name", "expected"),
    [("closer", [(0.2393, 2.97), (0.2748, 4.42)]), ("larger", [(0.1445, 2.38), (0.156, 3.20)])],
)
def test_other_swing_by_references(plane, name, expected):
    found = extrema(plane[name].loss, plane[name].times)
    assert np.abs(np.array(found) - expected).max(axis=0) == pytest.approx([0, 0], abs=0.011)


def test_three_and_four_descents(triple, quadruple):  # M9, M10
    for system, expected in ((triple, TRIPLE), (quadruple, QUADRUPLE)):
        found, known = np.array(extrema(system.loss, system.times)), np.array(expected)
        assert np.abs(found[:, 0] / known[:, 0] - 1).max() < 0.01
        assert np.abs(found[:, 1] - known[:, 1]).max() < 0.05


def test_gradient_descent_keeps_the_descents(triple, quadruple):  # M9, M10
    coarse = {
        "triple": (TRIPLE_WEIGHTS, triple, [0.3864, 0.6807, 0.0643, 0.2299]),
        "quadruple": (
            QUADRUPLE_WEIGHTS,
            quadruple,
            [0.9854, 1.0334, 0.9884, 1.0384, 0.148, 0.293],
        ),
    }
    for weights, system, values in coarse.values():
        curve = losses(tied_descent(weights, system.signal, 0.01, 6000), system.means)
        found = [value for value, _ in extrema(curve, 0.01 * np.arange(6001))]
        assert found == pytest.approx(values, abs=1e-4)
    fine = losses(tied_descent(TRIPLE_WEIGHTS, triple.signal, 0.001, 20000), triple.means)
    found = np.array(extrema(fine, 0.001 * np.arange(20001)))
    assert np.abs(found[:, 0] / np.array(TRIPLE)[:, 0] - 1).max() < 0.01
    assert np.abs(found[:, 1] - np.array(TRIPLE)[:, 1]).max() < 0.05


@pytest.mark.parametrize("name", ["negative", "equal", "diagonal"])
def test_no_swing_by_without_positive_correlation_or_distinct_strengths(plane, name):  # M11
    assert bump(plane[name].loss) < 1e-9
    assert bump(plane["swing-by"].loss) > 0.03


def test_zero_start_stays(plane):  # M11
    assert (plane["zero"].path == 0).all()
    assert (plane["zero"].loss == 2.5).all()


def test_output_dips_below_zero_for_negative_correlation(plane):
    output = plane["negative"].path @ plane["negative"].means
    assert output[:, 0].min() == pytest.approx(-0.18, abs=0.01)


def test_scaling_means_by_two_speeds_time_up_by_four(plane):  # M12
    scaled = {
        name: (2 * np.asarray(means), 4 * a, w) for name, (means, a, w) in plane_settings().items()
    }
    other = solve_plane(scaled, plane["swing-by"].times / 4)["swing-by"]
    assert np.abs(other.loss / (4 * plane["swing-by"].loss) - 1).max() < 1e-10


def test_rotated_data_give_the_rotated_path(references, turn):  # M13
    path = turn @ references["rotated"].path @ turn.T
    assert np.abs(path - references["triple"].path).max() < 1e-9


def test_descent_stays_positive_where_the_printed_recursion_runs_away(triple):  # M16
    path = tied_descent(TRIPLE_WEIGHTS, triple.signal, 0.01, 4000)
    assert np.isfinite(path).all()
    assert np.linalg.eigvalsh(path).min() >= -1e-12
    witness = printed_recursion(triple.start, triple.signal, 0.01, 4000)
    assert 0 < witness.ran_away * 0.01 < 7
    assert np.isfinite(witness.jacobian[: int(witness.ran_away)]).all()


def test_printed_recursion_freezes_only_the_lane_that_ran_away(triple):
    lanes = np.stack([triple.start, np.diag([0.01, 0.02, 0.03])])
    witness = printed_recursion(lanes, triple.signal, 0.01, 3000)
    assert witness.ran_away[0] > 0 and witness.ran_away[1] == -1
    frozen = witness.jacobian[0, witness.ran_away[0] :]
    assert np.isfinite(frozen).all() and (frozen == frozen[0]).all()
    assert np.abs(witness.jacobian[1, -1] - np.eye(3)).max() < 1e-6


def test_a_lane_is_what_it_would_be_alone(plane):
    """To the accuracy of the solver; also: a vector of strengths is a diagonal matrix."""
    system = plane["swing-by"]
    alone = tied_flow(factor_jacobian(system.start), system.signal, system.times)
    assert np.abs(read_jacobian(alone) - system.path).max() < 1e-9


def test_wide_weights_take_the_same_path(plane):
    """W does not depend on how many columns U is spread over."""
    systems = [plane["swing-by"], plane["larger"]]
    rows = np.linalg.qr(np.random.default_rng(0).normal(size=(200, 2)))[0].T
    wide = np.stack([factor_jacobian(s.start) @ rows for s in systems])
    signal = np.stack([np.diag(s.signal) for s in systems])
    path = read_jacobian(tied_flow(wide, signal, systems[0].times))
    assert np.abs(path - np.stack([s.path for s in systems])).max() < 1e-9


def test_tiny_starts_are_followed_in_relative_terms():
    for times in ([20.0, 80.0], [90.0, 95.0]):
        path = tied_flow([[1e-41]], [1.0], times)[:, 0, 0] ** 2
        assert np.abs(path / logistic_entry(1e-82, 1.0, times) - 1).max() < 1e-7


def test_descent_is_plain_gradient_descent_in_any_order_of_strengths():
    u = np.random.default_rng(0).uniform(0, 0.5, (2, 3, 4))
    a = np.array([1.0, 3.0, 2.0])
    path = tied_descent(u, a, 0.05, 30)
    for lane in range(2):
        now = u[lane]
        for step in range(31):
            assert np.abs(path[lane, step] - now @ now.T).max() < 1e-13
            now = now + 0.05 * velocity(now, a)


def test_descent_keeps_minor_entries_to_full_relative_precision():
    """Sixty-digit twin: w_12 falls to 1e-59 and is still right, far below round-off of w_22."""
    a, eta, steps = (1.0, 0.25), 1 / 45, 8000
    start = factor_jacobian(1e-25 * np.array([[2.0, 1.0], [1.0, 2.0]]))
    path = tied_descent(start, a, eta, steps)[:, 0, 1]
    exact = decimal_minor_entry(start, a, eta, steps)
    assert exact[-1] < 1e-58
    assert np.abs(path[1:] / exact - 1).max() < 1e-11


def decimal_minor_entry(start, a, eta, steps):
    found = []
    with localcontext() as context:
        context.prec = 60
        (x, y), (z, w) = [[Decimal(float(v)) for v in row] for row in start]
        a, b = map(Decimal, a)
        h = Decimal(eta) / 2
        for _ in range(steps):
            p, q, r = x * x + y * y, x * z + y * w, z * z + w * w
            m, n, o = 1 + 2 * h * a * (1 - p), -h * (a + b) * q, 1 + 2 * h * b * (1 - r)
            x, y, z, w = m * x + n * z, m * y + n * w, n * x + o * z, n * y + o * w
            found.append(float(x * z + y * w))
    return np.array(found)


def test_caller_configuration_is_left_alone():
    before = jax.config.jax_enable_x64, jax.config.jax_numpy_dtype_promotion
    path = tied_flow([[0.1]], [1.0], [0.0, 1.0])
    assert isinstance(path, np.ndarray) and path.dtype == np.float64
    assert (jax.config.jax_enable_x64, jax.config.jax_numpy_dtype_promotion) == before


def test_only_time_zero_gives_the_start():
    start = pair(0.1, 0.5)
    assert np.array_equal(tied_flow(start, [1.0, 2.0], [0.0, 0.0]), np.stack([start, start]))


@pytest.mark.parametrize(
    ("weights", "signal", "times", "word"),
    [
        ([[np.nan]], [1.0], [0.0, 1.0], "weights"),
        ([[0.1]], [1.0, 2.0], [0.0, 1.0], "signal"),
        ([[0.1]], [np.inf], [0.0, 1.0], "signal"),
        ([[0.1]], [1.0], [1.0, 0.0], "times"),
        ([[0.1]], [1.0], [-1.0, 0.0], "times"),
        ([[0.1]], [1.0], [], "times"),
    ],
)
def test_bad_input_says_which_argument(weights, signal, times, word):
    with pytest.raises(BadInput, match=word):
        tied_flow(weights, signal, times)
