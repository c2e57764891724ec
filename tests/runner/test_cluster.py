"""A Ray cluster gives the numbers of one process; needs the extra, so it is slow."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import dynascope as ds
from dynascope import dynamics, models, probes, record, tasks
from dynascope.core.errors import BadInput
from dynascope.runner.cluster import blocks
from dynascope.store import Store

TASK = tasks.IdentityMapping(means=(1.0, 2.0), scales=(0.05, 0.05), dimension=2)
OVER = {"model.width": [1, 2], "model.init_scale": [0.1, 0.2]}


def swept(**options):
    return ds.sweep(
        TASK, models.TiedLinear(2, 0.1), dynamics.GradientDescent(0.02), over=OVER, steps=40,
        seeds=5, record=record.Every(10), dtype="float64", probes=[probes.TestLoss()],
        progress=False, **options,
    )  # fmt: skip


def test_blocks_deal_out_every_seed_once():
    experiment = ds.engine.Experiment(
        TASK, models.Linear(), dynamics.GradientDescent(0.1), (probes.Loss(),), steps=1,
        seeds=range(7),
    )  # fmt: skip
    dealt = blocks(experiment, 3)
    assert sorted(s for b in dealt for s in b.seeds) == list(range(7))
    assert len(blocks(experiment, 100)) == 7


def test_unknown_executors_and_missing_ray_are_told_in_one_line(monkeypatch):
    with pytest.raises(BadInput, match="did you mean 'ray'"):
        swept(executor="rey")
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(BadInput, match=r"dynascope\[ray\]"):
        swept(executor="ray")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Ray's own
def test_a_cluster_gives_the_numbers_of_one_process(tmp_path):
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, log_to_driver=False, include_dashboard=False, logging_level="error")
    try:
        store = Store(tmp_path)
        far, here = swept(executor="ray", store=store), swept()
        assert far["test_loss"].dims == here["test_loss"].dims
        assert np.allclose(far["test_loss"], here["test_loss"], rtol=1e-13)
        assert [e.outcome for e in store.runs()] == ["finished"]
        assert np.array_equal(swept(executor="ray", store=store)["test_loss"], far["test_loss"])
    finally:
        ray.shutdown()
