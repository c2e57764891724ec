import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.probes.curves import bump
from dynascope.probes.trajectories import half_times, learning_order, swing_by
from dynascope.theories.swing_by.schur import factor_jacobian
from dynascope.theories.swing_by.tied_flow import tied_descent

TIMES = np.linspace(0, 30, 3001)
TARGET = np.array([1.0, 2.0])
CLUSTERS = np.array([[1.0, 0.0], [0.0, 2.0]])


def straight(rates):
    return TARGET * (1 - np.exp(-np.multiply.outer(TIMES, rates)))


@pytest.fixture(scope="module")
def paths():
    """Outputs of the symmetric model for correlation 0.9 and 0 at the start."""
    start = 0.01 * np.array([[[1.0, c], [c, 1.0]] for c in (0.9, 0.0)])
    path = tied_descent(factor_jacobian(start), [0.5025, 2.0025], 0.001, 30_000)
    return path[:, ::10] @ TARGET


def test_order_is_that_of_the_rates():
    found = learning_order(straight([0.5, 2.0]), TARGET, TIMES)
    assert found.order == (1, 0)
    assert found.times == pytest.approx(np.log(2) / np.array([0.5, 2.0]), abs=1e-4)
    assert found.margin == pytest.approx(0.75, abs=1e-3)
    assert learning_order(straight([2.0, 0.5]), TARGET, TIMES).order == (0, 1)
    assert learning_order(straight([1.0, 1.0]), TARGET, TIMES).margin == pytest.approx(0, abs=1e-9)


def test_never_learned_comes_last():
    found = learning_order(straight([0.0, 1.0]), TARGET, TIMES)
    assert found.order == (1, 0) and found.times[0] == np.inf


def test_half_times_keep_lanes():
    both = np.stack([straight([0.5, 2.0]), straight([2.0, 0.5])])
    assert half_times(both, TARGET, TIMES).shape == (2, 2)
    assert half_times(both, TARGET, TIMES)[1] == pytest.approx(half_times(both[1], TARGET, TIMES))


def test_swing_by_of_the_symmetric_model_is_found_with_its_cluster(paths):
    found = swing_by(paths[0], TARGET, CLUSTERS, TIMES)
    loss = ((paths[0] - TARGET) ** 2).sum(axis=-1) / 2
    assert found.happened and found.cluster == 1  # towards the strong concept alone
    assert found.size == pytest.approx(float(bump(loss)))
    assert found.start == pytest.approx(1.72, abs=0.03)
    assert found.end == pytest.approx(3.31, abs=0.05)
    assert found.approach > 0


def test_no_swing_by_without_correlation_or_on_a_straight_path(paths):
    for path in (paths[1], straight([0.5, 2.0])):
        assert not swing_by(path, TARGET, CLUSTERS, TIMES).happened
        assert swing_by(path, TARGET, CLUSTERS, TIMES).size < 1e-9


def test_overshoot_away_from_all_clusters_is_no_swing_by():
    """The distance to the target grows, but no cluster comes nearer."""
    path = np.array([[0.0, 0.0], [1.0, 2.0], [1.5, 2.6], [1.0, 2.0]])
    found = swing_by(path, TARGET, CLUSTERS)
    assert found.size > 0.05 and found.approach < 0 and not found.happened


def test_noise_aware_threshold_separates_noise_from_swing_by(paths):
    random = np.random.default_rng(0)
    noise = 0.005 * random.standard_normal(paths.shape)
    assert swing_by(paths[0] + noise[0], TARGET, CLUSTERS, threshold="noise").happened
    assert not swing_by(paths[1] + noise[1], TARGET, CLUSTERS, threshold="noise").happened


def test_bad_input_is_refused():
    with pytest.raises(BadInput, match="zero"):
        half_times(straight([1.0, 1.0]), [1.0, 0.0], TIMES)
    with pytest.raises(BadInput, match="one trajectory"):
        learning_order(np.zeros((2, 5, 2)), TARGET, range(5))
    with pytest.raises(BadInput, match="clusters"):
        swing_by(straight([1.0, 1.0]), TARGET, [[1.0, 2.0, 3.0]])
    with pytest.raises(BadInput, match="NaN"):
        swing_by(np.full((3, 2), np.nan), TARGET, CLUSTERS)
    with pytest.raises(BadInput, match="not the target"):
        swing_by(np.tile(TARGET, (3, 1)), TARGET, CLUSTERS)
