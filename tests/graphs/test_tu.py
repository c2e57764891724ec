from __future__ import annotations

import pytest

from dynascope.core.errors import BadInput
from dynascope.graphs import count_classes, load

FILES = {
    "A": "1, 2\n2, 1\n3, 4\n4, 3\n4, 5\n5, 4\n",
    "graph_indicator": "1\n1\n2\n2\n2\n3\n",
    "graph_labels": "1\n-1\n1\n",
    "node_labels": "0\n0\n1\n1\n1\n2\n",
}


def write(folder, **changes):
    for name, text in {**FILES, **changes}.items():
        if text is not None:
            (folder / f"TOY_{name}.txt").write_text(text)
    return folder


@pytest.mark.parametrize("name", [".", "TOY_A.txt"])
def test_folder_and_edge_file_give_the_same_union(tmp_path, name):
    graph = load(write(tmp_path) / name)
    assert (graph.nodes, graph.edges, graph.graphs) == (6, 3, 3)
    assert graph.part.tolist() == [0, 0, 1, 1, 1, 2]
    assert graph.name(0) == 1
    assert graph.graph_labels.tolist() == [1, -1, 1]
    assert graph.node_labels.tolist() == [0, 0, 1, 1, 1, 2]
    assert graph.notes == ("nodes without edges: 1; an inverse degree counts as 0 there",)
    assert count_classes(graph, 1, of="graphs") == 3


def test_labels_are_optional(tmp_path):
    graph = load(write(tmp_path, graph_labels=None, node_labels=None))
    assert graph.graph_labels is None and graph.node_labels is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"A": "1, 2\n0, 1\n"}, "TOY_A.txt, line 2: .*ids from 1 to 6"),
        ({"A": "1, 7\n"}, "TOY_A.txt, line 1: .*ids from 1 to 6"),
        ({"A": "1, 3\n3, 1\n"}, "edges inside one graph"),
        ({"A": "1; 2\n"}, "TOY_A.txt, line 1"),
        ({"graph_indicator": "1\nx\n"}, "TOY_graph_indicator.txt, line 2: .*one whole number"),
        ({"graph_indicator": "1\n0\n"}, "line 2: .*at least 1"),
        ({"graph_indicator": "1\n1\n3\n3\n3\n4\n"}, "no node in graph 2"),
        ({"graph_indicator": "9" * 30}, "one whole number"),
        ({"graph_indicator": "1\n1\n1\n1\n1\n" + "9" * 17}, "no node in graph 2"),
        ({"graph_labels": "1\n"}, "1 lines.*3 labels"),
        ({"graph_indicator": None}, "a file that can be read"),
        ({"graph_indicator": "", "A": "", "graph_labels": None, "node_labels": None}, "one node"),
    ],
)
def test_bad_files_are_named_in_one_line(tmp_path, changes, message):
    with pytest.raises(BadInput, match=message) as error:
        load(write(tmp_path, **changes))
    assert "\n" not in str(error.value)


def test_a_folder_must_hold_one_set(tmp_path):
    with pytest.raises(BadInput, match="with 0 files"):
        load(tmp_path)
