"""Walk counting at smoke scale: a small regular graph decides the order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from dynascope.studies import studies
from dynascope.studies.expressiveness.walk_counting import RATE, SHORT, Found, best_rate

WANTED = {
    "gin-best-regular": "holds",
    "gin-best-cora": "not_applicable",
    "floor-regular": "holds",
    "floor-cora": "not_applicable",
    "table-2-2-adjacency": "not_applicable",
    "table-2-2-gin": "not_applicable",
}


def test_verdicts(verdicts):
    assert verdicts("walk-counting") == WANTED


def test_floors_lie_below_what_was_reached(outcomes):
    """No model may end below what its classes allow on the whole graph."""
    outcome = outcomes("walk-counting")
    study = studies.get("walk-counting").at("smoke")
    found = study.analyse(dict(zip(study.plan(), outcome.datasets(), strict=True)))
    task = study.regular
    share = task.training_nodes / task.nodes
    for name, floor in found.floor["regular"].items():
        both = share * found.train["regular"][name] + (1 - share) * found.test["regular"][name]
        assert (both >= floor * (1 - 1e-5)).all(), name


def test_paper_scale_is_the_printed_setting():
    study = studies.get("walk-counting").at("paper")
    assert study.steps == 20_000
    assert (study.regular.nodes, study.regular.degree, study.regular.training_nodes) == (
        1000,
        6,
        300,
    )
    assert (study.cora.length, study.cora.training_nodes) == (2, 1000)


def test_charts_and_headline(outcomes):
    outcome = outcomes("walk-counting")
    assert [c.name for c in outcome.charts] == ["table", "curves"]
    (measured,) = outcome.charts[0].panels[0].marks  # the printed graph is larger
    assert measured.names == ("GIN", "GA-MLP-A") and measured.y[0] < measured.y[1]
    assert outcome.result.headline.y[-1] < outcome.result.headline.theory[-1]


def test_the_rate_with_the_smallest_training_error_counts_seed_by_seed():
    loss = np.array([[[1.0, 0.5], [1.0, 0.1]], [[1.0, 0.2], [1.0, np.nan]]])  # rate, seed, step
    run = xr.Dataset(
        {"loss": ((RATE, "seed", "step"), loss), "held_out_error": ((RATE, "seed", "step"), -loss)},
        {RATE: [0.1, 0.2], "time": ((RATE, "step"), np.ones((2, 2)))},
    )
    chosen = best_rate(run)
    assert chosen["loss"].values[:, -1].tolist() == [0.2, 0.1]
    assert chosen["held_out_error"].values[:, -1].tolist() == [-0.2, -0.1]


def test_train_and_test_are_the_last_errors_of_their_own_nodes():
    study = studies.get("walk-counting").at("smoke")
    runs = {}
    for k, label in enumerate(study.plan()):
        loss = np.full((1, 3, 2), 1.0 + k)
        loss[..., -1] = 0.1 + k
        axes = (RATE, "seed", "step")
        values = {"loss": (axes, loss), "held_out_error": (axes, 10 * loss)}
        runs[label] = xr.Dataset(values, {RATE: [0.1], "time": ((RATE, "step"), np.ones((1, 2)))})
    found = study.analyse(runs)
    for k, label in enumerate(study.plan()):
        graph, name = label.split(": ")
        assert found.train[graph][name] == pytest.approx([0.1 + k] * 3)
        assert found.test[graph][name] == pytest.approx([1 + 10 * k] * 3)


# Held-out errors as printed in Table 2.2, on Cora and on the regular graph.
TABLE = {
    "cora": {"GIN": 9.72e-7, "GA-MLP-A": 1.56e-1, "GA-MLP-A+": 6.44e-2,
             "GA-MLP-GCN": 5.79e-1, "GA-MLP-GCN+": 5.79e-1, SHORT: 0.9},
    "regular": {"GIN": 2.61e-4, "GA-MLP-A": 2.13e-2, "GA-MLP-A+": 2.13e-2,
                "GA-MLP-GCN": 1.58e-1, "GA-MLP-GCN+": 1.52e-1, SHORT: 0.9},
}  # fmt: skip


def judged(graph="regular", model="GIN", factor=1.0, floor=0.0):
    """Verdicts of the paper's scale if errors were the printed ones but for one of them."""
    study = replace(studies.get("walk-counting").at("paper"), graphs=("regular", "cora"))
    seeds = np.array([0.99, 1.0, 1.01])
    errors = {g: {name: e * seeds for name, e in row.items()} for g, row in TABLE.items()}
    errors[graph][model] = errors[graph][model] * factor
    floors = {g: {"GIN": 0.0, "GA-MLP-A": 0.01} for g in TABLE}
    floors[graph]["GIN"] = floor
    claims = study.judge(Found({}, errors, errors, floors))
    return {claim.id.split("/")[1]: claim.verdict for claim in claims}


@pytest.mark.parametrize(
    ("change", "failing"),
    [
        ({}, set()),
        ({"factor": 2.5}, set()),
        ({"factor": 4.0}, {"table-2-2-gin"}),
        ({"factor": 1000.0}, {"gin-best-regular", "table-2-2-gin"}),
        ({"graph": "cora", "factor": 1e5}, {"gin-best-cora"}),
        ({"graph": "cora", "model": "GA-MLP-A+", "factor": 1e-6}, {"gin-best-cora"}),
        ({"model": "GA-MLP-A", "factor": 1.7}, {"table-2-2-adjacency"}),
        ({"graph": "cora", "floor": 1e-9}, {"floor-cora"}),
        ({"floor": 1e-9}, {"floor-regular"}),
    ],
)
def test_claims_that_need_cora_or_long_training_read_their_numbers(change, failing):
    found = judged(**change)
    assert {name for name, verdict in found.items() if verdict == "fails"} == failing
    assert {found[name] for name in set(found) - failing} == {"holds"}
