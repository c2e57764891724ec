"""Two classes of a data set as a task."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from dynascope import data, dynamics, models, probes, simulate
from dynascope.core.errors import BadInput, MissingData
from dynascope.core.paths import set_path
from dynascope.core.plain import fingerprint, from_plain, to_plain
from dynascope.tasks import TwoClasses


def test_samples_are_those_of_the_data_room():
    task = TwoClasses("digits", (3, 8), train=50, scaling="unit")
    x, y, x_test, y_test = data.two_classes(data.load(), (3, 8), 50, scaling="unit")
    got_x, got_y = task.samples(jax.random.key(0))
    assert np.array_equal(got_x, x) and np.array_equal(got_y[:, 0], y) and got_y.shape == (50, 1)
    test_x, test_y = task.test_set(None)
    assert np.array_equal(test_x, x_test) and np.array_equal(test_y[:, 0], y_test)


def test_arrays_are_not_read_again_in_a_trace(monkeypatch):
    task = TwoClasses("digits", (3, 8), train=40, subset_seed=77)
    assert task.input_size == 64
    from dynascope.data import subsets

    monkeypatch.setattr(subsets, "load", lambda *a, **k: pytest.fail("read again"))
    jax.jit(lambda key: task.samples(key))(jax.random.key(0))
    assert task.sizes()[0] == 40


def test_the_documents_pair_is_the_default():
    assert TwoClasses("digits").pair_of_classes() == (0, 2)


def test_the_factor_multiplies_inputs_and_can_be_swept():
    one, two = (
        TwoClasses("digits", train=5, input_factor=f).samples(jax.random.key(0))[0] for f in (1, 2)
    )
    assert np.array_equal(2 * one, two)
    assert set_path(TwoClasses(), "input_factor", 3).input_factor == 3.0


def test_targets_can_be_others_and_accuracy_follows_them():
    signs, zero_one = TwoClasses(train=30), TwoClasses(train=30, targets=(0.0, 1.0))
    plain, other = (task.samples(jax.random.key(0))[1] for task in (signs, zero_one))
    assert set(np.unique(other)) == {0.0, 1.0} and np.array_equal(2 * other - 1, plain)
    _, right = zero_one.test_set(None)
    assert float(zero_one.test_set_accuracy(lambda x: 0.4 + 0.2 * right, None)) == 1
    assert float(zero_one.test_set_accuracy(lambda x: 0.6 - 0.2 * right, None)) == 0


def test_the_most_varying_inputs_are_kept_in_their_order():
    whole, part = TwoClasses("digits", train=80), TwoClasses("digits", train=80, most_varying=9)
    x, few = whole.arrays()[0], part.arrays()[0]
    columns = [int(np.flatnonzero((x == c[:, None]).all(axis=0))[0]) for c in few.T]
    assert part.input_size == 9 and columns == sorted(columns)
    left_out = np.setdiff1d(np.arange(64), columns)
    assert few.std(axis=0).min() >= x[:, left_out].std(axis=0).max()


def test_digits_are_learned_by_the_engine():
    run = simulate(
        TwoClasses("digits", (0, 1), train=100), models.MLP(2, 32), dynamics.GradientDescent(0.1),
        steps=100, probes=[probes.Loss(), probes.TestSetLoss(), probes.TestSetAccuracy()],
    )  # fmt: skip
    assert run["loss"].values[0, -1] < 0.1 * run["loss"].values[0, 0]
    assert run["test_set_accuracy"].values[0, -1] > 0.97
    assert run["test_set_loss"].values[0, -1] < 0.2


def test_settings_make_the_fingerprint_and_come_back():
    task = TwoClasses("mnist", (0, 1), train=2000)  # nothing is read for this
    assert from_plain(to_plain(task)) == task
    assert fingerprint(task) != fingerprint(TwoClasses("mnist", (0, 1), train=1999))


@pytest.mark.parametrize(
    "settings, reason",
    [
        ({"train": 100_000}, "train samples of digits"),
        ({"classes": (0, 12)}, "a class of digits"),
        ({"most_varying": 65}, "at most 64"),
    ],
)
def test_what_the_data_do_not_have_is_refused_before_a_run(settings, reason):
    with pytest.raises(BadInput, match=reason):
        assert TwoClasses("digits", **settings).input_size


@pytest.mark.parametrize(
    "settings, reason",
    [
        ({"train": 0}, "at least 1"),
        ({"classes": (1, 1)}, "two different classes"),
        ({"classes": (0, 1, 2)}, "2 values"),
        ({"scaling": "standard"}, "unknown choice"),
    ],
)
def test_what_makes_no_sense_is_refused_at_construction(settings, reason):
    with pytest.raises(BadInput, match=reason):
        TwoClasses("digits", **settings)


def test_labels_that_are_not_two_classes_need_a_choice(tmp_path, monkeypatch):
    monkeypatch.setenv("DYNASCOPE_DATA", str(tmp_path))
    (tmp_path / "three").mkdir()
    for part in ("train", "test"):
        np.save(tmp_path / "three" / f"x_{part}.npy", np.eye(6))
        np.save(tmp_path / "three" / f"y_{part}.npy", np.arange(6) % 3)
    with pytest.raises(BadInput, match=r"3 labels.*two classes.*classes=\(a, b\)"):
        assert TwoClasses("three", train=2).input_size
    assert TwoClasses("three", (1, 2), train=4).sizes() == (4, 4)


def test_a_set_that_is_not_there_is_said_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setenv("DYNASCOPE_DATA", str(tmp_path))
    with pytest.raises(MissingData, match="fsdd is not there") as caught:
        assert TwoClasses("fsdd").input_size
    assert "\n" not in str(caught.value)
