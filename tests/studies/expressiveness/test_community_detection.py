"""Community detection at smoke scale, and its parts that need no training."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dynascope as ds
from dynascope.core.randomness import key_for
from dynascope.graphs.communities import HARDNESSES
from dynascope.numerics.precision import precision
from dynascope.store import Store
from dynascope.studies import studies

WANTED = {
    "chance": "holds",
    "spectral-rises": "holds",
    "gcn-no-better": "holds",
    "gcn-drop": "holds",
    "bethe-better-at-rank-3": "not_applicable",
    "bethe-better-everywhere": "not_applicable",
    "table-a-2": "not_applicable",
    "network-like-bethe": "not_applicable",
}


def test_verdicts(verdicts):
    assert verdicts("community-detection") == WANTED


def test_overlaps_are_shares(outcomes):
    for run in outcomes("community-detection").datasets():
        overlap = run["overlap"].values
        assert overlap.shape == (5, 1, 2, 16)
        assert overlap.min() >= 0 and overlap.max() <= 1


def test_spectral_answers_are_given_on_the_graphs_of_the_runs():
    study = studies.get("community-detection").at("smoke")
    graphs = study.test_graphs()[2]
    task = replace(study.task, degrees=HARDNESSES[2])
    with precision("float32"):
        seed = task.context(key_for(0, "data"))[7]
        drawn = np.asarray(task.draw(seed).adjacency)
    assert (graphs[7].adjacency.toarray() == drawn).all()


def test_separate_communities_are_components():
    study = studies.get("community-detection").at("smoke")
    for graph in study.test_graphs()[4][:3]:
        half = graph.nodes // 2
        assert graph.adjacency[:half, half:].nnz == 0


def test_paper_scale_is_the_printed_setting():
    study = studies.get("community-detection").at("paper")
    assert (study.task.training_graphs, study.task.test_graphs, study.powers) == (6000, 200, 120)
    assert study.network_layers == 60 and set(study.plan()) == {
        "GA-MLP-A", "GA-MLP-H", "GA-MLP-GCN", "sGNN"
    }  # fmt: skip


def test_charts(outcomes):
    charts = outcomes("community-detection").charts
    assert [c.name for c in charts] == ["by-hardness", "beside-the-table"]


@pytest.mark.slow
def test_after_2500_graphs_the_bethe_operator_is_ahead_at_rank_3(tmp_path):
    """Check 27: more than two standard errors at rank 3, and the GCN's drop at rank 5."""
    changes = {"network_layers": 0}
    outcome = ds.run("community-detection", "laptop", changes=changes, store=Store(tmp_path))
    claims = {c.id.split("/")[1]: c for c in outcome.claims}
    assert claims["bethe-better-at-rank-3"].verdict == "holds"
    assert claims["gcn-drop"].verdict == "holds"
