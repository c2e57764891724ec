"""Topological order at smoke scale: known numbers, closed forms, planted order."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from dynascope.core.charts import Graph
from dynascope.core.run import Run
from dynascope.studies import studies
from dynascope.studies.swing_by.topological_order import claims as measure
from dynascope.studies.swing_by.topological_order.runs import losses_from_zero, networks, study
from dynascope.tasks import IdentityMapping

STUDY = "topological-order"


def planted(*losses: list[float], seeds: int = 6) -> Run:
    """A run with these losses at the corners, a list per record, in every seed."""
    values = np.broadcast_to(losses, (seeds, *np.shape(losses)))
    return Run(xr.Dataset({"lattice_loss": (("seed", "step", "corner"), values)}), None)


def test_swing_by_breaks_the_order_as_long_as_the_ledger_says(claims):
    """M21: 37.8 % of the records until paper time 30, by up to 0.166."""
    claim = claims["swing-by-breaks-the-order"]
    assert claim.measured.value == pytest.approx(0.378, abs=0.005)
    assert "0.166" in claim.note


def test_violations_are_as_many_as_the_ledger_says(outcome):
    """At most 32 % of the pairs."""
    chart = next(c for c in outcome.charts if c.name == "violations")
    worst = [max(line.y) for line in chart.panels[0].marks[:3]]
    assert all(0.02 < rate < 0.32 for rate in worst)


def test_losses_from_zero_add_up_over_concepts():
    task = IdentityMapping((1.0, 2.0), (0.0, 0.0))  # a = 0.5, 2
    first, later = losses_from_zero(task, np.array([0.0, 1.0]))
    np.testing.assert_allclose(first, [0.0, 2.0, 0.5, 2.5])
    np.testing.assert_allclose(later[1:3], [2 * np.exp(-4), 0.5 * np.exp(-1)])
    np.testing.assert_allclose(later[3], later[1] + later[2])


def test_measures_see_a_planted_violation_and_no_other():
    kept, broken = [0.0, 1.0, 2.0, 4.0], [0.0, 5.0, 2.0, 4.0]  # a part is worse by 1
    assert measure.keeps_the_order(planted(kept)).value == 1
    assert measure.keeps_the_order(planted(kept, broken)).value == 0
    assert measure.most_out_of_order(planted(kept, broken)).value == 1
    assert measure.worst_gap({"a": planted(kept, broken)}).value == pytest.approx(1 / 4)
    both = {"a": planted(kept, kept), "b": planted(kept, broken)}
    assert measure.worst_gap(both).value == pytest.approx(1 / 4)
    at_epochs = {"a": planted(*[broken] * 5), "b": planted(*[kept] * 5)}
    assert measure.share_out_of_order(at_epochs, 1).value == pytest.approx(1 / 5)


def test_one_epoch_walks_once_through_the_samples():
    settings = studies.get(STUDY).at("paper")
    assert settings.epoch == 156  # 20,000 samples in batches of 128
    assert networks.function(settings)["one layer"].steps == 40 * 156
    assert study is studies.get(STUDY)


def test_the_lattice_is_drawn_at_three_epochs_with_colours_up_to_one(outcome):
    lattice = next(c for c in outcome.charts if c.name == "lattice")
    graphs = [m for p in lattice.panels for m in p.marks if isinstance(m, Graph)]
    assert len(graphs) == 3
    assert all(len(g.values) == 16 and len(g.edges) == 32 for g in graphs)
    assert max(max(g.values) for g in graphs) <= 1.0
    late, early = np.mean(graphs[2].values), np.mean(graphs[0].values)
    assert late < early


def test_the_headline_starts_in_order(outcome):
    (line,) = outcome.charts[0].panels[0].marks
    assert outcome.result.headline == "headline"
    assert line.y[0] == 0 and max(line.y) > 0
