"""Walk counting and community detection against exact counts and independent draws."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from compiling import quick  # tests is on the path
from dynascope.core.errors import BadInput
from dynascope.core.randomness import key_for
from dynascope.graphs.communities import overlap
from dynascope.tasks import CommunityDetection, WalkCounting

SMALL = WalkCounting(length=2, nodes=40, degree=4, training_nodes=10)


def test_counts_are_those_of_listing_all_walks():
    step = SMALL.system().adjacency
    around = np.split(step.indices, step.indptr[1:-1])
    walks = [[(root, a, b) for a in around[root] for b in around[a]] for root in range(40)]
    listed = [sum(all(node % 2 == 0 for node in walk) for walk in row) for row in walks]
    assert SMALL.counts().tolist() == listed


def test_each_seed_draws_its_own_training_nodes_as_many_blue_as_red():
    masks = [
        np.asarray(quick(lambda key: SMALL.samples(key).training)(key_for(s, "data")))
        for s in (0, 1)
    ]
    for mask in masks:
        assert mask[::2].sum() == mask[1::2].sum() == 5
    assert (masks[0] != masks[1]).any()


def test_errors_are_shares_of_the_variance():
    samples = SMALL.samples(key_for(0, "data"))
    counts = SMALL.counts()
    guess = np.full((40, 1), 1.5)  # in standard deviations above the mean
    wanted = (counts - counts.mean() - 1.5 * counts.std()) ** 2 / counts.var()
    training = np.asarray(samples.training, bool)
    trained = float(SMALL.loss(lambda graph: guess, samples))
    held_out = float(SMALL.held_out_error(lambda graph: guess, samples))
    assert trained == pytest.approx(wanted[training].mean(), rel=1e-5)
    assert held_out == pytest.approx(wanted[~training].mean(), rel=1e-5)


COMMUNITIES = CommunityDetection(degrees=(5.0, 1.0), nodes=250, training_graphs=7, test_graphs=5)


def test_graphs_have_the_expected_degrees_inside_and_across():
    seeds = np.arange(40, dtype=np.uint32)
    drawn = np.asarray(quick(jax.vmap(lambda s: COMMUNITIES.graph_of(s).adjacency))(seeds))
    assert (drawn == drawn.transpose(0, 2, 1)).all() and not drawn[:, range(250), range(250)].any()
    inside, across = drawn[:, :125, :125].sum(-1).mean(), drawn[:, :125, 125:].sum(-1).mean()
    # 5000 nodes with Poisson degrees: standard errors 0.022 and 0.010; edges count twice inside.
    assert inside == pytest.approx(5 * 124 / 250, abs=0.1)
    assert across == pytest.approx(1 * 125 / 250, abs=0.04)


def test_every_seed_of_a_run_draws_other_graphs():
    key = key_for(0, "data")
    seeds = np.concatenate([COMMUNITIES.samples(key), COMMUNITIES.context(key)])
    assert len(set(seeds.tolist())) == 12


def test_loss_does_not_care_how_the_communities_are_named():
    answer = np.random.default_rng(0).normal(size=(250, 2)).astype(np.float32)
    samples = COMMUNITIES.samples(key_for(0, "data"))
    values = [
        float(quick(lambda given, a=a: COMMUNITIES.loss(lambda graph: a, given))(samples))
        for a in (answer, answer[:, ::-1])
    ]
    assert values[0] == pytest.approx(values[1])
    likely = answer - np.log(np.exp(answer).sum(1, keepdims=True))
    truth = np.repeat([0, 1], 125)
    plain = [-likely[np.arange(250), named].mean() for named in (truth, 1 - truth)]
    assert values[0] == pytest.approx(min(plain), rel=1e-5)


def test_overlap_is_that_of_the_exact_room():
    answer = np.random.default_rng(1).normal(size=(250, 2))
    got = COMMUNITIES.overlaps(lambda graph: answer, COMMUNITIES.context(key_for(0, "data")))
    wanted = overlap(answer.argmax(1), np.repeat([0, 1], 125))
    np.testing.assert_allclose(got, wanted, atol=1e-6)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: WalkCounting(length=0), "at least 1"),
        (lambda: WalkCounting(nodes=5, degree=5, training_nodes=2), "from 1 to 4"),
        (lambda: WalkCounting(nodes=5, degree=3, training_nodes=2), "even"),
        (lambda: WalkCounting(training_nodes=3), "even number"),
        (lambda: WalkCounting(training_nodes=1000), "fewer than 1000"),
        (lambda: CommunityDetection(nodes=5), "even number"),
        (lambda: CommunityDetection(degrees=(-1.0, 2.0)), "from 0 to 250"),
        (lambda: CommunityDetection(test_graphs=0), "at least 1"),
    ],
)
def test_settings_that_describe_no_task_are_refused(make, message):
    with pytest.raises(BadInput, match=message):
        make()
