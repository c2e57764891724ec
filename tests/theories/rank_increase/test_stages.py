"""Algorithm 1 against closed forms and known values of the systems S1 to S3."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.models import DiagonalAttention
from dynascope.runtime.precision import precision
from dynascope.tasks import AttentionTeacher
from dynascope.theories import incremental_stages, product_problem

from . import systems


def test_first_escape_is_one_over_the_largest_pull():
    """Check 1: b starts at 1, not at 0 as printed."""
    found = incremental_stages(systems.returning, 3, most=1)
    pull = systems.MOMENTS @ systems.RETURNING
    np.testing.assert_allclose(found.times, 1 / np.abs(pull).max(), rtol=1e-12)


def test_separate_coordinates():
    """Checks 2 and 13: S1, closed form."""
    found = incremental_stages(systems.separate, 5)
    np.testing.assert_allclose(found.times, [1 / 3, 1 / 2, 2 / 3, 1, 2], rtol=1e-6)
    np.testing.assert_allclose(found.losses, [8.25, 3.75, 1.75, 0.625, 0.125, 0], atol=1e-6)
    np.testing.assert_allclose(found.strictness[1:], 2 * np.minimum.accumulate(
        np.abs(systems.SEPARATE)), rtol=1e-6)  # fmt: skip
    assert {v.verdict for v in found.verdicts.values()} == {"holds"}
    assert np.isinf(found.until) and "final" in found.ended


def test_leave_and_return():
    """Checks 3, 13 and 14: S2."""
    found = incremental_stages(systems.returning, 3)
    assert found.order.tolist() == [0, 1, 2, 0]
    np.testing.assert_allclose(found.times, [1.0999, 1.5775, 2.1263, 37.2141], atol=1e-3)
    np.testing.assert_allclose(found.losses[1:], [0.17398, 0.12933, 0.00855, 0], atol=1e-5)
    np.testing.assert_allclose(found.products[-1], systems.RETURNING, atol=1e-6)
    assert found.left == ((), (), (0,), ())
    assert found.signs.tolist() == [1, 1, 1, -1]
    assert (found.log_weights >= 0).all() and (found.log_weights <= 2).all()
    assert (found.strictness > 0).all()
    new = (found.products[1:] != 0) & (found.products[:-1] == 0)
    assert new.sum(axis=1).max() == 1


def test_staircase():
    """The limit's loss is constant between two times."""
    found = incremental_stages(systems.separate, 5)
    np.testing.assert_allclose(found.loss_at([0.1, 0.4, 0.55, 5.0]), [8.25, 3.75, 1.75, 0],
                               atol=1e-6)  # fmt: skip


def test_tie_is_said_and_not_followed():
    """Check 17."""
    found = incremental_stages(lambda z: 0.5 * jnp.sum((z - 1) ** 2), 2)
    assert found.order.size == 0
    assert found.verdicts["4.3"].verdict == "fails"
    assert "coordinates 0, 1 tie" in found.ended


@pytest.mark.slow
def test_two_heads_tie():
    """Checks 14 and 15, first half: with two heads the pulls are equal, and so is the curvature."""
    problem = systems.teacher(samples=60, tokens=4, size=4)
    found = incremental_stages(lambda z: problem.loss(z, number=2), 16)
    assert "tie" in found.ended
    assert found.verdicts["4.3"].verdict == "fails"
    assert "not strict" in found.verdicts["4.4"].words
    with precision("float64"), jax.numpy_dtype_promotion("standard"):
        g = np.asarray(jax.grad(lambda z: problem.loss(z, number=2))(jnp.zeros(16)))
    assert np.abs(g[8:12] - g[12:]).max() <= 1e-12
    assert not g[:8].any()


def test_loss_without_a_minimum():
    """Check 25: cross-entropy on separable data has no finite plateau."""
    found = incremental_stages(lambda z: jnp.mean(jnp.log1p(jnp.exp(-z * jnp.array([1.0, 2.0])))),
                               2)  # fmt: skip
    assert found.order.size == 0
    assert "no finite minimum" in found.ended
    assert found.verdicts["4.4"].verdict == found.verdicts["4.5"].verdict == "fails"


def test_nothing_to_learn():
    """Check 18: without a pull there is no stage."""
    found = incremental_stages(lambda z: 0.5 * jnp.sum(z**2), 2)
    assert found.order.size == 0 and np.isinf(found.until)


def test_kink_is_seen():
    """Assumption 2.1 fails for a loss with a kink at the start."""
    found = incremental_stages(lambda z: jnp.sum(jnp.where(z > 0, 0.5, 2.0) * z**2 - z
                                                 * jnp.array([1.0, 0.7])), 2)  # fmt: skip
    assert found.verdicts["2.1"].verdict == "fails"


def test_finite_scale_changes_the_order():
    """RANK-A4: a coordinate that begins much larger wins although its pull is weaker."""
    u, v = np.array([1e-3, 1.0]), np.array([1e-4, 0.1])
    target = np.array([1.1, 1.0])

    def loss(z):
        return 0.5 * jnp.sum((z - target) ** 2)

    assert incremental_stages(loss, 2).order.tolist() == [0, 1]
    corrected = incremental_stages(loss, 2, alpha=1e-2, start=(u, v))
    assert corrected.order.tolist() == [1, 0]
    first = (1 + np.log(1.1) / np.log(1e-2)) / 1.0
    np.testing.assert_allclose(corrected.times[0], first, rtol=1e-9)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"alpha": 1.0, "start": ([1.0, 2.0], [0.0, 0.0])}, "alpha: got 1.0"),
        ({"alpha": 0.1, "start": ([1.0, 2.0], [1.0, 0.0])}, r"\|u\| = \|v\| at coordinate 0"),
        ({"alpha": 0.1}, "alpha and start together"),
        ({"alpha": 0.1, "start": ([1.0], [0.5])}, "two arrays of shape"),
        ({"most": -1}, "most: got -1"),
    ],
)
def test_bad_input(arguments, says):
    """One line each."""
    with pytest.raises(BadInput, match=says):
        incremental_stages(lambda z: jnp.sum(z**2), 2, **arguments)


@pytest.mark.slow
def test_appendix_a():
    """Check 9: S3, order, times and losses of the first eight stages."""
    found = incremental_stages(systems.teacher().loss, 100, most=8)
    assert found.order.tolist() == [55, 5, 41, 65, 15, 70, 18, 3]
    times = [0.5978, 1.0810, 1.2169, 1.3161, 1.3369, 1.3826, 1.3917, 1.4401]
    losses = [10.58125, 9.2736, 9.2068, 8.6551, 8.2128, 7.4033, 6.9692, 6.6380, 5.7385]
    np.testing.assert_allclose(found.times, times, rtol=1e-3)
    np.testing.assert_allclose(found.losses, losses, rtol=1e-3)
    assert found.left[2] == (5,) and (found.strictness > 0.9).all()


def test_a_loss_with_parameters_has_the_stages_of_one_that_holds_them():
    """And other numbers of the same shapes are no new program."""
    task = AttentionTeacher(size=3, tokens=3, points=20, teacher_scale=1.0)
    for seed in (0, 1):
        problem = product_problem(task, DiagonalAttention(), seed)
        held = incremental_stages(problem.loss, problem.size, most=3)
        given = incremental_stages(problem.on, problem.size, most=3, parameters=problem.data)
        assert held.order.tolist() == given.order.tolist()
        assert np.allclose(held.times, given.times, rtol=1e-9)
        assert np.allclose(held.products, given.products, rtol=1e-6, atol=1e-12)
    same = product_problem(task, DiagonalAttention(), 0).on
    assert same == problem.on and hash(same) == hash(problem.on)
