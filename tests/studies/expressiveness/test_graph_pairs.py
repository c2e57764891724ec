"""Graph pairs: every printed statement with its verdict, the wrong one beside its correction."""

from __future__ import annotations

from dynascope.studies import studies
from dynascope.studies.expressiveness import graph_pairs

FAILS = {"hexagon-printed", "highest-degrees"}


def test_all_statements_hold_but_the_printed_hexagon_and_a_limit_far_away(verdicts):
    found = verdicts("graph-pairs")
    assert {name for name, verdict in found.items() if verdict != "holds"} == FAILS
    assert {"hexagon-closed", "hexagon-triangles"} <= set(found)


def test_walks_of_both_graphs_are_compared(monkeypatch):
    """The pair's walks are equal, so that only another pair shows whether both are looked at."""
    monkeypatch.setattr(graph_pairs, "FOURTEEN", graph_pairs.REGULAR)
    monkeypatch.setattr(graph_pairs, "hard_pairs", ())
    one, two = studies.get("graph-pairs").at("smoke").analyse({}).walks
    assert one[1].tolist() == [2] * 8 and two[1].tolist() == [4] * 8


def test_charts_and_headline(outcomes):
    outcome = outcomes("graph-pairs")
    assert [c.name for c in outcome.charts] == ["fourteen", "who-tells-what"]
    drawn = outcome.charts[0].panels[0].marks[0]
    assert len(drawn.names) == 28 and len(drawn.edges) == 32
    nodes = dict(zip(drawn.names[:14], drawn.values[:14]))
    others = dict(zip(drawn.names[14:], drawn.values[14:]))
    assert nodes["1"] == nodes["2"] and others["1"] != others["2"]
    headline = outcome.result.headline
    assert headline.y[:3] == (1, 4, 7) and headline.theory[1] == 4
