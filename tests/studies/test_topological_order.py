"""Topological order at smoke scale: every verdict, every control, and the ledger's numbers."""

from __future__ import annotations

import numpy as np

from dynascope.core.charts import Graph
from dynascope.studies.swing_by.topological_order import TopologicalOrder

STUDY = "topological-order"

VERDICTS = {
    "one-layer-from-zero": "holds",
    "closed-form": "holds",
    "always-in-order": "fails",
    "always-in-order-one-layer": "fails",
    "in-order-at-first": "holds",
    "mostly-in-order": "holds",
    "gaps-are-small": "holds",
    "swing-by-breaks-the-order": "holds",
}


def test_every_claim_has_the_verdict_that_was_seen(outcome):
    assert {c.id.split("/")[1]: c.verdict for c in outcome.claims} == VERDICTS


def test_every_control_fails(outcome):
    assert {c.id: c.control.verdict for c in outcome.claims if c.control.verdict != "fails"} == {}


def test_swing_by_breaks_the_order_as_long_as_the_ledger_says(outcome):
    """M21: 37.8 % of the records until paper time 30, by up to 0.166."""
    claim = next(c for c in outcome.claims if c.id.endswith("swing-by-breaks-the-order"))
    assert abs(claim.measured.value - 0.378) < 0.005
    assert "0.166" in claim.note


def test_violations_are_as_many_as_the_ledger_says(outcome):
    """At most 32 % of the pairs, with gaps below one."""
    found = {c.id.split("/")[1]: c for c in outcome.claims}
    for name in ("always-in-order", "always-in-order-one-layer"):
        assert 0.02 < found[name].measured.value < 0.32


def test_one_epoch_walks_once_through_the_samples():
    study = TopologicalOrder.at("paper")
    assert study.epoch == 156  # 20,000 samples in batches of 128
    assert study.plan()["one layer"].steps == 40 * 156


def test_the_lattice_is_drawn_at_three_epochs_with_colours_up_to_one(outcome):
    lattice = outcome.charts[0]
    graphs = [m for p in lattice.panels for m in p.marks if isinstance(m, Graph)]
    assert len(graphs) == 3
    assert all(len(g.values) == 16 and len(g.edges) == 32 for g in graphs)
    assert max(max(g.values) for g in graphs) <= 1.0
    late, early = np.mean(graphs[2].values), np.mean(graphs[0].values)
    assert late < early


def test_the_headline_starts_in_order(outcome):
    headline = outcome.result.headline
    assert headline.y[0] == 0 and max(headline.y) > 0
