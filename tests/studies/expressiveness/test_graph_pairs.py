"""Graph pairs: every printed statement with its verdict, the wrong one beside its correction."""

from __future__ import annotations

FAILS = {"hexagon-printed", "highest-degrees"}


def test_all_statements_hold_but_the_printed_hexagon_and_a_limit_far_away(verdicts):
    found = verdicts("graph-pairs")
    assert {name for name, verdict in found.items() if verdict != "holds"} == FAILS
    assert {"hexagon-closed", "hexagon-triangles"} <= set(found)


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
