"""What is merged among small graphs, and classes of nodes in citation graphs."""

from dynascope.core.charts import Chart, Line, Panel, Role
from dynascope.studies.expressiveness.rooted_classes import runs
from dynascope.studies.expressiveness.rooted_classes.runs import Classes, Settings, Small, study
from dynascope.studies.headlines import headline_chart
from dynascope.studies.nodes import together

WORDS = ("message passing", "powers of A", "powers of the GCN operator", "D, A D^-alpha")


@study.chart(runs.small_graphs, headline=True)
def headline(s: Settings, small: Small) -> Chart:
    """How many graphs of each size the powers of the GCN operator merge."""
    merged, deep = ([t["isomorphism"][-1] - t[f][-1] for t in small.values()]
                    for f in ("self_loop", "wl"))  # fmt: skip
    total = sum(t["isomorphism"][-1] for t in small.values())
    return headline_chart(
        "Graphs that a family of models takes for another", ("nodes", list(small)),
        ("graphs merged", merged), ("message passing", deep), name="powers of the GCN operator",
        note=f"all {total} graphs with up to {s.largest} nodes",
    )  # fmt: skip


@study.chart(runs.small_graphs)
def small_graphs(s: Settings, small: Small) -> Chart:
    """Graphs merged by each family, over the number of nodes."""
    lines = []
    for group, (family, label) in enumerate(zip(runs.FAMILIES, WORDS)):
        y = [100 * (1 - t[family][-1] / t["isomorphism"][-1]) for t in small.values()]
        role: Role = "theory" if family == "wl" else "measured"
        lines.append(Line(list(small), y, label, role, group))
    return Chart(
        "small-graphs", "What is merged among all small graphs",
        "Share of all graphs with so many nodes that a family cannot tell from another one. "
        "The GCN operator merges up to half, because it is blind to the degree of regular "
        "graphs; powers of A lie on message passing (dashed); D and A D^-alpha once see as "
        "much as two rounds, which is not enough from seven nodes on.",
        (Panel(tuple(lines), x_label="nodes", y_label="graphs merged (%)"),),
    )  # fmt: skip


@study.chart(together(**runs.nodes))
def citation_graphs(s: Settings, nodes: dict[str, Classes]) -> Chart:
    """Classes of nodes per depth, measured over printed."""
    panels, depths = [], range(1, 6)
    for name, counts in nodes.items():
        marks = []
        for group, (family, printed) in enumerate(zip(runs.PRINTED, runs.TABLE_2_1[name])):
            marks.append(Line(depths, counts[family][1:6], WORDS[group], group=group))
            marks.append(Line(depths, printed, "" if group else "as printed", "theory", group))
        axes = ("rounds, or largest power", "classes of nodes")
        panels.append(Panel(tuple(marks), name.capitalize(), *axes))
    return Chart(
        "citation-graphs", "Classes of nodes in citation graphs",
        "Two rounds of message passing already tell most nodes apart, A and A^2 about half "
        "as many; from four rounds on the two agree. Dashed: as printed in Table 2.1.",
        tuple(panels),
    )  # fmt: skip
