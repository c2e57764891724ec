"""Probes of recall on the constructed weights, whose answers are known."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from compiling import quick  # tests is on the path
from dynascope.models.base import Network
from dynascope.models.transformer import constructed
from dynascope.probes import NoiseMargin, RecallAttention, Recalled
from dynascope.probes.base import Snapshot
from dynascope.tasks import NoisyRecall

LAST = "blocks.1.feed_forward.in"


@pytest.fixture(scope="module")
def snapshot():
    """The construction of section 4.4.4.2 on rows of N = 10, T = 60."""
    task = NoisyRecall(60, 0.5, ordinary=10, exclude=True, test=600)
    model, params = constructed(task)
    params = jax.tree.map(lambda a: jnp.asarray(a, jnp.float32), params)
    key = jax.random.key(0)
    network = Network(lambda key: params, model.apply)
    samples, context = quick(task.samples)(key), quick(task.context)(key)
    return model, Snapshot(task, network, params, samples, context)


@pytest.mark.slow
def test_recalled(snapshot):
    """Whole: as worked out by hand; without the MLP, the answer."""
    model, seen = snapshot
    found = np.asarray(Recalled(((LAST, 0.0), (LAST, 1.0))).measure(seen))
    every = np.asarray(jax.nn.softmax(model.apply(seen.params, seen.context.tokens)[:, -1]))
    answers = np.asarray(seen.context.answers[:, 0])
    own = every[np.arange(len(answers)), answers]
    by_hand = [own.mean(), every[:, 10].mean(), -np.log(own).mean(),
               (every.argmax(1) == 10).mean(), (every.argmax(1) == answers).mean()]  # fmt: skip
    assert np.allclose(found[0], by_hand, rtol=1e-4, atol=1e-5)
    assert np.allclose(found[0], found[2], atol=1e-6), "all of the matrix is the whole model"
    assert found[1, 0] > 0.9 and found[1, 1] < 0.02
    assert found[1, 4] > 0.9 and found[1, 3] < 0.05


def test_where_the_construction_looks(snapshot):
    model, seen = snapshot
    measure = quick(lambda params: RecallAttention(model).measure(seen._replace(params=params)))
    previous, answers, noise, each, none = np.asarray(measure(seen.params))
    assert previous > 0.99 and answers > 0.75 and noise < 0.01
    assert each > 0.05 and none < 1e-6


def test_the_margin_of_the_noise(snapshot):
    """The last MLP writes 12 + log(alpha / (1 - alpha)) on the noise and nothing else."""
    model, seen = snapshot
    assert float(NoiseMargin(model).measure(seen)) == pytest.approx(12.0, rel=1e-5)


def test_what_the_probes_need(snapshot):
    _, seen = snapshot
    assert "weight nothing" in Recalled((("nothing", 0.0),)).needs(seen.task, seen.network)
