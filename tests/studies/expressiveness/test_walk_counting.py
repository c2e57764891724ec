"""Walk counting: what is read from runs, class floors, and claims on planted errors."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from dynascope.core.run import Run
from dynascope.runner.evaluation import Evaluation
from dynascope.studies import studies
from dynascope.studies.expressiveness.walk_counting import runs
from dynascope.studies.expressiveness.walk_counting.runs import RATE, SHORT, best_rate

STUDY = "walk-counting"


def test_floors_lie_below_what_was_reached(outcome):
    """No model may end below what its classes allow on the whole graph, at whatever rate."""
    study = studies.get(STUDY)
    settings = study.at("smoke")
    value = Evaluation(study, settings, outcome.store, progress=False).value
    share = settings.regular.training_nodes / settings.regular.nodes
    floors = value(runs.floors_on["regular"])
    assert floors["GA-MLP-A"] > 0.01 and floors["GIN"] == 0
    for name, run in value(runs.graphs["regular"]).items():
        train, test = (run[q].isel(step=-1) for q in ("loss", "held_out_error"))
        assert (share * train + (1 - share) * test >= floors[name] * (1 - 1e-5)).all(), name


def test_paper_scale_is_the_printed_setting():
    settings = studies.get(STUDY).at("paper")
    assert settings.steps == 20_000 and settings.graphs == ("regular", "cora")
    regular, cora = settings.regular, settings.cora
    assert (regular.nodes, regular.degree, regular.training_nodes) == (1000, 6, 300)
    assert (cora.graph, cora.length, cora.training_nodes) == ("cora", 2, 1000)


def test_the_table_shows_gin_below_powers_of_a(outcome):
    headline, table, _ = outcome.charts
    (measured,) = table.panels[0].marks  # the printed graph is larger
    assert measured.names == ("GIN", "GA-MLP-A") and measured.y[0] < measured.y[1]
    gin, mlp = headline.panels[0].marks
    assert gin.y[-1] < mlp.y[-1]


def test_the_rate_with_the_smallest_training_error_counts_seed_by_seed():
    loss = np.array([[[1.0, 0.5], [1.0, 0.1]], [[1.0, 0.2], [1.0, np.nan]]])  # rate, seed, step
    run = xr.Dataset(
        {"loss": ((RATE, "seed", "step"), loss), "held_out_error": ((RATE, "seed", "step"), -loss)},
        {RATE: [0.1, 0.2], "time": ((RATE, "step"), np.ones((2, 2)))},
    )
    assert best_rate(Run(run, None)).values.tolist() == [[-1.0, -0.2], [-1.0, -0.1]]


def test_planted_runs_are_read_like_runs(outcome):
    """What is planted goes through the choice of a rate, and has all seeds and steps."""
    study = studies.get(STUDY)
    value = Evaluation(study, study.at("smoke"), outcome.store, progress=False).value
    found = value(runs.ten_times["regular"])
    assert set(found["test"]) == {"GIN", "GA-MLP-A"}
    assert found["train"]["GIN"].values.mean() == pytest.approx(3.39e-4, rel=0.01)
    own = value(runs.errors_on["regular"])["test"]["GIN"]
    assert found["test"]["GIN"].sizes == own.sizes


# Errors as printed in Table 2.2, written out a second time.
TABLE = {
    "cora": {"GIN": (3.98e-6, 9.72e-7), "GA-MLP-A": (0.123, 0.156), "GA-MLP-A+": (0.0187, 0.0644),
             "GA-MLP-GCN": (0.422, 0.579), "GA-MLP-GCN+": (0.4, 0.579), SHORT: (0.9, 0.9)},
    "regular": {"GIN": (3.39e-5, 2.61e-4), "GA-MLP-A": (0.0175, 0.0213),
                "GA-MLP-A+": (0.0169, 0.0213), "GA-MLP-GCN": (0.102, 0.158),
                "GA-MLP-GCN+": (0.112, 0.152), SHORT: (0.9, 0.9)},
}  # fmt: skip


def planted(graph="regular", model="GIN", part="test", factor=1.0, floor=0.0):
    """Errors and floors as printed but for one of them; the first of two steps is far off."""
    seeds = np.array([0.99, 1.0, 1.01])

    def both(row, times=1.0):
        def curve(last):
            values = np.stack([9 * seeds, last * seeds], axis=1)
            return xr.DataArray(values, {"step": [0, 6000]}, dims=("seed", "step"))

        return {part: {name: curve(times * e[k]) for name, e in row.items()}
                for k, part in enumerate(("train", "test"))}  # fmt: skip

    errors = {g: both(row) for g, row in TABLE.items()}
    errors[graph][part][model] = errors[graph][part][model] * factor
    floors = {g: {"GIN": 0.0, "GA-MLP-A": 0.01, "their own colour": 0.0} for g in TABLE}
    floors[graph]["GIN"] = floor
    found = {}
    for g, row in TABLE.items():
        found |= {runs.errors_on[g]: errors[g], runs.of_printed_size[g]: errors[g],
                  runs.floors_on[g]: floors[g], runs.as_printed[g]: both(row),
                  runs.ten_times[g]: both(row, 10.0)}  # fmt: skip
    return found


@pytest.mark.parametrize(
    ("change", "failing"),
    [
        ({}, set()),
        ({"factor": 2.5}, set()),
        ({"factor": 4.0}, {"table-2-2-regular-gin-test"}),
        ({"factor": 1000.0}, {"gin-best-regular", "table-2-2-regular-gin-test"}),
        ({"part": "train", "factor": 4.0}, {"table-2-2-regular-gin-train"}),
        ({"graph": "cora", "factor": 1e5}, {"gin-best-cora", "table-2-2-cora-gin-test"}),
        ({"graph": "cora", "model": "GA-MLP-A+", "factor": 1e-6},
         {"gin-best-cora", "table-2-2-cora-ga-mlp-a-plus-test"}),
        ({"model": "GA-MLP-A", "factor": 1.7}, {"table-2-2-regular-ga-mlp-a-test"}),
        ({"model": "GA-MLP-GCN", "part": "train", "factor": 0.6},
         {"table-2-2-regular-ga-mlp-gcn-train"}),
        ({"graph": "cora", "floor": 1e-9}, {"floor-cora"}),
        ({"floor": 1e-9}, {"floor-regular"}),
    ],
)  # fmt: skip
def test_claims_that_need_cora_or_long_training_read_their_numbers(judged, change, failing):
    found = judged(STUDY, studies.get(STUDY).at("paper"), planted(**change))
    assert len(found) == 24
    assert {name for name, verdict in found.items() if verdict == "fails"} == failing
    assert {found[name] for name in set(found) - failing} == {"holds"}
