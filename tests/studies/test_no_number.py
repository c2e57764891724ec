"""What is no number never counts as kept: diverged lanes, empty selections, NaN beside numbers."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import dynascope.studies as package
from dynascope.core.run import Run
from dynascope.runner import run
from dynascope.store import Store
from dynascope.studies.catapult import drawing, episodes
from dynascope.studies.catapult.catapult_batch import claims as batches
from dynascope.studies.catapult.catapult_batch.runs import planted as planted_batches
from dynascope.studies.catapult.quadratic_general.trends import grow
from dynascope.studies.catapult.quadratic_map.lemmas import falls_where
from dynascope.studies.catapult.quadratic_multi.equations import within
from dynascope.studies.comparisons import at_least, at_most
from dynascope.studies.extremes import largest
from dynascope.studies.measures import exact, farthest, median, share
from dynascope.studies.oscillation.matrix_factorization import claims as factorization
from dynascope.studies.oscillation.matrix_factorization.runs import Trace, _trace
from dynascope.studies.oscillation.single_neuron import stages

NAN = float("nan")
# Counts and words, which are never NaN; numbers too large for numpy.
COUNTED = {"ratio_to_lemma", "values_in_a_class", "most_told", "first_chaotic", "last_return"}


@pytest.mark.parametrize("order", [(0.1, NAN), (NAN, 0.1)])
def test_the_worst_of_several_is_the_one_that_is_no_number(order):
    assert np.isnan(farthest(order, 0.0))
    assert at_most(1.0, "ours").verdict(largest(exact(v) for v in order)) == "undecided"


def test_a_median_or_share_with_one_that_is_no_number_decides_nothing():
    assert at_least(0.5, "ours").verdict(median([*range(1, 10), NAN])) == "undecided"
    assert at_least(0.5, "ours").verdict(share([1.0] * 20 + [NAN])) == "undecided"


def test_no_claim_takes_pythons_maximum_of_numbers():
    """`max((0.1, nan))` is 0.1: a claim would pass over what it could not measure."""
    found = []
    for path in Path(package.__path__[0]).rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for function in [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.Lambda)]:
            name = getattr(function, "name", "lambda")
            calls = [n for n in ast.walk(function) if isinstance(n, ast.Call)]
            exacts = [n for n in calls if getattr(n.func, "id", "") == "exact" and n.args]
            inside = [getattr(getattr(n.args[0], "func", None), "id", "") for n in exacts]
            found += [f"{path.name}: {name}" for i in inside if i in ("max", "min")
                      and name not in COUNTED]  # fmt: skip
    assert not found


def test_a_step_that_diverges_at_once_has_raised_the_loss():
    run = planted_batches("monotone")
    assert batches.never_rises(run, "batch").value == 1
    loss = run["loss"].values.copy()
    loss[0, 1:] = NAN  # the first step leads out of the finite numbers
    assert batches.never_rises(run.planted(loss=loss), "batch").value == 7 / 8


def test_a_peak_that_diverged_has_not_grown():
    class Curves:
        peak = np.array([[1.0, 1.0], [2.0, 2.0], [4.0, np.inf]])

    assert grow(Curves, "peak", slice(None), 1.05, 0).value == 0.5


def test_lanes_with_nan_keep_no_bound():
    assert within(np.array([[0.0, 0.0], [0.0, NAN]]), 1.0).value == 0.5
    v = np.array([[2.9, 2.8, 2.7], [2.9, 2.8, NAN]])
    assert falls_where((v, np.full_like(v, 2.0)), 1, np.inf).value == 0.5


def test_descents_that_escape_are_neither_balanced_nor_still():
    """They are put to zero, where both factors are equal and nothing moves."""
    start = np.full((1, 2, 2), 5.0)
    traces = {1.1: _trace(1.1, start, 2 * start, 40)}
    assert isinstance(traces[1.1], Trace) and np.isnan(traces[1.1].tops).all()
    for found in (factorization.equal_tops(traces, (1.1,)), factorization.aligned(traces, (1.1,)),
                  factorization.with_period(traces, (1.1,), 1)):  # fmt: skip
        assert found.value == 0


def test_a_stage_without_steps_has_no_growth_and_nan_is_below_no_bound():
    assert np.isnan(stages._least(np.zeros(0)))
    assert stages.not_below(np.array([0.1, NAN, 0.3]), np.full(3, 0.2)) == 2


def test_a_chart_of_divergence_is_not_called_a_catapult():
    stays = np.array([[1.0, 3.0, 2.0]])
    run = Run(xr.Dataset({"loss": (("seed", "step"), stays)}), None)
    assert drawing.shows(run, "A catapult") == "A spike that stays"
    assert drawing.shows(episodes.planted("diverges"), "A catapult") == "Divergence"


@pytest.mark.slow  # trains two seeds
def test_without_a_first_phase_there_is_no_second(tmp_path):
    """All seeds diverge without noise: what rests on the second phase does not apply."""
    from dynascope.data import there

    if not there("tinyshakespeare"):
        pytest.skip("tinyshakespeare is not there")
    changes = {"rate": 1e4, "to_the_end": True}
    found = run(
        "recall-finetuning", "smoke", changes=changes, store=Store(tmp_path), progress=False
    )
    told = {c.id.split("/")[1]: c for c in found.claims}
    assert told["tuned-early"].verdict == told["leaves-noise-after"].verdict == "not_applicable"
    assert "every seed diverges" in told["tuned-half"].note
    assert told["scratch-early"].verdict != "not_applicable"
