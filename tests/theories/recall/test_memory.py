"""The flow of a noisy memory: checks 13 and 14, and the trained matrix as witness."""

from __future__ import annotations

import numpy as np
import pytest

import dynascope as ds
from dynascope import dynamics, models, probes, record, tasks, theories
from dynascope.core.errors import BadInput
from dynascope.theories.recall.associative_memory import (
    associative_memory,
    probabilities,
    pure_loss,
)
from dynascope.theories.recall.truncation import crossing_signal, late_noise, late_ratio, truncation
from dynascope.theories.recall.two_items import two_items


def dense(items, noise, s, b):
    w = np.vstack([s * (np.eye(items) - 1 / items), np.zeros(items)])
    return w + b * np.append(np.ones(items), -items)[:, None]


def test_two_items_of_the_right_flow():
    """Check 13: constants at t = 1e7, alpha = 0.3."""
    found = two_items(0.3, np.array([1e5, 1e7]), "right")
    assert 1e7 * found.other[-1] == pytest.approx(0.95238, abs=1e-4)
    assert found.noise[-1] == pytest.approx(0.3 / 0.7, abs=1e-4)
    left = found.rank_one()[:, 2]
    assert 1e7**0.5 * left[-1] == pytest.approx(0.9756, abs=2e-3)
    assert np.log(left[1] / left[0]) / np.log(100) == pytest.approx(-0.5, abs=0.02)


def test_two_items_of_the_printed_flow():
    """Check 13: neither the printed constant nor the right one."""
    found = two_items(0.3, np.array([1e7]), "printed")
    assert 1e7 * found.other[-1] == pytest.approx(0.39683, abs=1e-4)
    assert abs(1e7 * found.other[-1] - 0.42017) > 0.02


def test_two_items_are_the_general_memory():
    time = np.array([0.5, 10.0, 1e4])
    general, own = associative_memory(2, 0.3, time), two_items(0.3, time)
    assert np.allclose(own.singular_values(), np.stack([general.signal, general.noise], -1))
    assert np.allclose(own.full(), probabilities(general, "all"))
    assert np.allclose(own.rank_one(), probabilities(general, "signal"))


def test_three_items_late():
    """Check 14: N = 3, alpha = 0.03, mean loss, 30,000 steps at rate 1."""
    memory = theories.associative_memory(items=3, noise=0.03, time=30_000, loss="mean")
    assert memory.signal == pytest.approx(9.869, abs=0.01)
    assert pure_loss(memory, "signal") == pytest.approx(0.0015, abs=2e-4)
    assert pure_loss(memory, "all") == pytest.approx(0.0305, abs=2e-4)


@pytest.mark.parametrize("items", [2, 3, 4, 10])
def test_late_relation_and_limit(items):
    """Check 14: the relation of the two singular values, and where their ratio goes."""
    memory = associative_memory(items, 0.3, np.array([1e6, 1e12]))
    assert np.allclose(memory.noise, late_noise(memory, 0.3), rtol=0.01)
    gaps = np.abs(memory.noise / memory.signal - late_ratio(items))
    assert gaps[1] < gaps[0] < 0.5


def test_the_spectrum_is_that_of_the_dense_matrix():
    memory = associative_memory(5, 0.2, 300.0)
    found = np.linalg.svd(dense(5, 0.2, memory.signal, memory.offset), compute_uv=False)
    assert np.allclose(np.sort(found), np.sort([*[memory.signal] * 4, memory.noise]))


@pytest.mark.parametrize("time", [100.0, 1e4])
def test_ten_items_have_the_noise_on_top(time):
    """Check 14: cosine with [1; -N], truncation does not help, removal does."""
    memory = associative_memory(10, 0.3, time)
    w = dense(10, 0.3, memory.signal, memory.offset)
    u, s, vt = np.linalg.svd(w, full_matrices=False)
    direction = np.append(np.ones(10), -10) / np.sqrt(110)
    assert abs(u[:, 0] @ direction) >= 0.999
    cut = (u[:, :9] * s[:9]) @ vt[:9]
    clean = lambda m: np.mean([np.log(np.exp(m[:, i]).sum()) - m[i, i] for i in range(10)])  # noqa: E731
    assert clean(cut) >= clean(w) > pure_loss(memory, "signal")
    assert truncation(10, 0.3, time).rank is None


def test_when_truncation_helps():
    assert truncation(3, 0.03, 1e5).rank == 2
    assert not truncation(3, 0.03, 5.0).helps, "early it takes the noise away"
    assert crossing_signal(4, 0.3) == pytest.approx(4.44, abs=0.01)


@pytest.mark.parametrize("options", [{"items": 1}, {"noise": 0.0}, {"time": -1.0}, {"loss": "max"}])
def test_bad_input(options):
    with pytest.raises(BadInput, match=next(iter(options))):
        associative_memory(**{"items": 3, "noise": 0.1, "time": 1.0, **options})


@pytest.mark.slow
def test_the_engine_trains_the_same_memory():
    run = ds.simulate(
        tasks.NoisyLabels(4, 0.1, "sum"), models.AssociativeMemory(5, "orthonormal", 0.0),
        dynamics.GradientFlow(), time=50.0, probes=[probes.TruncatedLoss((5,))],
        record=record.At((1.0, 10.0)), progress=False,
    )  # fmt: skip
    memory = associative_memory(4, 0.1, run["time"].values)
    assert np.allclose(run["truncated_loss"].values[0, :, 0], pure_loss(memory, "all"), atol=1e-6)
