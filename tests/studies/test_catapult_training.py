"""Catapults in training: measuring functions on planted runs, sizes of the thesis."""

from __future__ import annotations

import numpy as np
import pytest

from dynascope.studies import Missing
from dynascope.studies.catapult import episodes
from dynascope.studies.catapult.catapult_batch import claims as batch
from dynascope.studies.catapult.catapult_batch.runs import planted as planted_batches
from dynascope.studies.catapult.catapult_multiple.claims import diverges, drops_each_time
from dynascope.studies.study import studies


def test_planted_runs_are_told_apart():
    good, outside, still, gone = map(
        episodes.planted, ("catapult", "elsewhere", "monotone", "diverges")
    )
    assert episodes.peak(good).value > 3 and episodes.peak(still).value == 1
    assert episodes.rise_in_top(good).value > 0.95 > 0.2 > episodes.rise_in_top(outside).value
    assert isinstance(episodes.rise_in_top(still), Missing)
    assert episodes.rest_stays(good).value == 1 and episodes.rest_stays(outside).value == 0
    assert episodes.norm_falls(good).value > 0.5 > 0 > episodes.norm_falls(outside).value
    assert episodes.comes_back(good).value == 1 and episodes.comes_back(gone).value == 0
    assert episodes.norm_falls(gone).value == -1e3, "a lane that diverged loses nothing"
    assert diverges(gone).value == 1 and diverges(good).value == 0


def test_every_spike_counts():
    good, outside = map(episodes.planted, ("catapult", "elsewhere"))
    assert [len(lane) for lane in episodes.events(good)] == [2] * 8
    assert episodes.largest_rise(good).value > 5
    assert episodes.largest_rise(episodes.planted("monotone")).value == pytest.approx(1)
    assert episodes.drops_after(good).value == 1 and episodes.drops_after(outside).value == 0
    assert episodes.share_in_top(good).value > 0.8 > episodes.share_in_top(outside).value
    assert isinstance(episodes.drops_after(episodes.planted("monotone")), Missing)
    assert drops_each_time(good, (20, 50)).value == 1
    assert drops_each_time(good, (5, 9)).value == 0, "the norm stands still before the first"


def test_match_rates_of_both_losses():
    """Check 32: matched, opposite, and undefined where nothing rises."""
    for of in ("batch", "all"):
        assert batch.matched(planted_batches("matched"), of).value == 1
        assert batch.matched(planted_batches("opposite"), of).value == 0
        assert isinstance(batch.matched(planted_batches("monotone"), of), Missing)
        assert batch.never_rises(planted_batches("monotone"), of).value == 1
    assert batch.on_large_example(planted_batches("matched"), 1.0).value == 1
    assert batch.rate_gap(planted_batches("matched")).value == pytest.approx(0.01 / 1.01)


def test_steps_after_the_end_are_left_out():
    run = planted_batches("matched")
    ended = run.dataset.assign(stopped_step=("seed", np.full(8, 3)))
    assert batch.taken(type(run)(ended, None)) == [3] * 8
    lost = run["loss"].values.copy()
    lost[:, 5:] = np.nan
    assert batch.taken(run.planted(loss=lost)) == [4] * 8


def test_paper_scale_is_the_thesiss():
    """CAT-F4.3, F4.4, Tab4.2, F4.7: widths, channels, samples, rates over critical rates."""
    gd, sgd = studies.get("catapult-gd").at("paper"), studies.get("catapult-sgd").at("paper")
    for s in (gd, sgd):
        assert (s.fcn.model.depth, s.fcn.model.width, s.fcn.task.train) == (5, 1024, 128)
        assert (s.cnn.model.depth, s.cnn.model.channels) == (5, 512)
        assert s.fcn.task.classes == (7, 9) and s.fcn_svhn.task.classes == (0, 2)
        assert (s.wrn.model.depth, s.wrn.model.widen) == (10, 10)
        assert s.fcn.factor == pytest.approx(6 / 3.6) and s.cnn.factor == pytest.approx(8 / 4.5)
    assert (sgd.batch_size, sgd.small_batch, sgd.vit.model.depth) == (32, 5, 4)
    many = studies.get("catapult-multiple").at("paper")
    assert many.fcn.starts == (0, 15, 60) and many.cnn.starts == (0, 10, 40)
    assert np.allclose(np.array(many.fcn.factors) * 3.6, (6, 10, 15))
    assert np.allclose(np.array(many.cnn.factors) * 4.5, (8, 15, 20))
    table = studies.get("catapult-batch").at("paper")
    assert (table.shallow.model.depth, table.shallow.model.width) == (2, 1024)
    assert table.batch_size == 32 and table.enough == 1e-3 and table.sphere.count == 100
