"""rank-vit: measuring functions on planted spectra, and known numbers at smoke scale."""

from __future__ import annotations

import numpy as np
import pytest

from dynascope.core.run import Run
from dynascope.models import Transformer
from dynascope.studies import Missing
from dynascope.studies.rank_increase import planted_runs
from dynascope.studies.rank_increase.planted_runs import Sizes, Untrained
from dynascope.studies.rank_increase.ranks import (
    decays_faster,
    ranks_of,
    rise,
    smaller_start,
    smaller_start_at_accuracy,
    stable,
    worst_layer,
)
from dynascope.studies.study import studies

STUDY = "rank-vit"
SMALL = Untrained(Sizes(6, 10), Transformer(depth=2, width=32, heads=4, head_size=8))


def planted(last, **options):
    return ranks_of(Run(planted_runs.made_to_measure(SMALL, last, **options), SMALL))


def test_planted_spectra_have_the_ranks_that_they_say():
    ranks = planted((2.0, 1.2))
    assert np.allclose(ranks.of_change("kq")[0, 0, -1], 2.0, rtol=0.01)
    assert np.allclose(ranks.of_change("vo")[1, 0, -1], 1.2, rtol=0.01)
    assert np.isnan(ranks.of_change("kq")[:, :, 0]).all(), "no change has no rank"
    assert np.isnan(stable(np.zeros((2, 3)))).all()
    assert ranks.scales == (1.0, 0.1) and ranks.chance == 0.1


def test_the_start_is_that_of_the_network_itself():
    """A dense twin: the products of the weights that the network is drawn with."""
    from dynascope.core.randomness import key_for
    from dynascope.models.transformer import head_maps

    maps = head_maps(SMALL.model.build(*SMALL.task).init(key_for(1, "init")))
    dense = np.einsum("lhdk,lhek->lhde", maps.key, maps.query)
    expected = np.linalg.svd(dense, compute_uv=False)[..., :8]
    assert np.allclose(planted((2.0, 1.2)).start["kq"][0, 1], expected, rtol=1e-3, atol=1e-6)


def test_measures_find_what_was_planted():
    ranks = planted((2.0, 1.2))
    lowest = ranks.of_start("kq")[0].mean(-1).min(-1)  # the layer where the start's is lowest
    expected = (np.array([2.0, 2.02, 2.04]) / lowest).mean()
    assert worst_layer(ranks, "kq").value == pytest.approx(expected, rel=0.01)
    assert smaller_start(ranks, "kq").value == pytest.approx(0.6, rel=0.01)
    assert rise(ranks, "vo").value == pytest.approx(1.0)
    assert rise(planted((1.2,), first=3.0), "vo").value == -1.0
    assert decays_faster(ranks, "kq").value == 1.0
    assert decays_faster(planted((15.0,)), "kq").value == 0.0


def test_the_worst_layer_counts():
    """One layer of two changes by a rank above the start's: the claim must fail."""
    ranks = planted((2.0,))
    ranks.change["kq"][:, :, -1, 1] = np.ones(16)  # stable rank 16 in layer 1
    expected = (16 / ranks.of_start("kq")[0, :, 1].mean(-1)).mean()
    assert worst_layer(ranks, "kq").value == pytest.approx(expected) and expected > 2


def test_equal_accuracy_is_where_both_first_reach_it():
    """The larger start learns twice as fast: it is read halfway, where its rank is lower."""
    ranks = planted((3.0, 2.0))
    fast = np.minimum(np.linspace(0.1, 1.7, 21), 0.9)
    accuracy = np.stack([np.tile(fast, (3, 1)), np.tile(np.linspace(0.1, 0.9, 21), (3, 1))])
    found = smaller_start_at_accuracy(ranks._replace(accuracy=accuracy), "kq")
    steps = np.arange(21)
    large, small = steps[fast >= 0.855][0], steps[np.linspace(0.1, 0.9, 21) >= 0.855][0]
    expected = (1 + small / 20) / (1 + 2 * large / 20)
    assert found.value == pytest.approx(expected, rel=0.02)
    assert smaller_start(ranks, "kq").value < found.value
    slow = accuracy.copy()
    slow[1] = 0.1
    assert isinstance(smaller_start_at_accuracy(ranks._replace(accuracy=slow), "kq"), Missing)


def test_weights_drawn_anew_change_by_a_higher_rank():
    """RANK-Q: the difference of two random products has a higher stable rank than one of them."""
    ranks = ranks_of(Run(planted_runs.redrawn(SMALL), SMALL))
    for product in ("kq", "vo"):
        assert worst_layer(ranks, product).value > 1.1


def test_paper_scale_is_the_papers():
    """RANK-M6 and F14: sizes, rate, batch, epochs and warm-up to the number."""
    s = studies.get(STUDY).at("paper")
    assert (s.model.depth, s.model.heads, s.model.width) == (6, 8, 512)
    assert (s.model.attention.head_size, s.model.hidden, s.model.tokens.side) == (128, 512, 4)
    assert (s.rate, s.sgd_rate, s.batch_size) == (1e-4, 0.3, 512)
    assert s.steps == 500 * (50_000 // 512) and s.warm_up * 500 == 15 * s.steps


def test_check_24_at_smoke_scale(claims):
    """Ranks below the start's, and lower from the smaller start, over three seeds."""
    for product in ("kq", "vo"):
        low, small = (
            claims[f"synthetic-low-rank-{product}"],
            claims[f"synthetic-smaller-start-{product}"],
        )
        assert low.measured.n == 3 and low.measured.value < 0.9
        assert small.measured.n == 3 and small.measured.value < 1
        assert low.control.measured.value > 1.1
