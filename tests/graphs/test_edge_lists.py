from __future__ import annotations

import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.graphs import load


def write(folder, text, name="graph.txt"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    "text", ["0 1\n1 2\n", "0\t1\r\n1\t2\r\n", "0,1\n1 , 2", "\n# c\n% c\n 0 1\n1 2"]
)
def test_spaces_tabs_commas_comments_and_blank_lines_are_read_alike(tmp_path, text):
    graph = load(write(tmp_path, text))
    assert graph.adjacency.toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert graph.notes == () and graph.names is None


def test_the_nodes_are_the_ids_that_occur_and_keep_their_names(tmp_path):
    graph = load(write(tmp_path, "10 700\n700 3\n"))
    assert [graph.name(i) for i in range(graph.nodes)] == [3, 10, 700]
    assert graph.adjacency.toarray().tolist() == [[0, 0, 1], [0, 0, 1], [1, 1, 0]]


def test_a_number_of_nodes_means_exactly_those(tmp_path):
    graph = load(write(tmp_path, "1 3\n"), nodes=5)
    assert graph.nodes == 5 and graph.degrees.tolist() == [0, 1, 0, 1, 0]
    assert load(write(tmp_path, ""), nodes=2).edges == 0


def test_header_weights_repeats_and_loops_are_each_said_in_one_line(tmp_path):
    text = "a_rather_long_name_for_a_source,target,weight\n0,1,0.5\n1,0,2\n1,1,1\n"
    graph = load(write(tmp_path, text, "graph.csv"))
    assert graph.notes == (
        "header: a_rather_long_name_for_a_source,target,weight",
        "weights: ignored",
        "self-loops: 1 kept",
        "repeated edges: 1 collapsed",
    )
    assert (graph.edges, graph.self_loops, graph.repeated_edges) == (2, 1, 1)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("0 1\n# note\n1 two\n", 3, "'two'"),
        ("0 1\n\n1\n", 3, "two ids, or two ids and a weight"),
        ("0 1 2 3\n", 1, "two ids, or two ids and a weight"),
        ("0 1\n2 -7\n", 2, "at least 0, not -7"),
        ("0 1.0\n", 1, "whole numbers as ids, not '1.0'"),
        ("0 1e3\n", 1, "whole numbers"),
        ("0 1 heavy\n", 1, "a number as weight"),
        ("0,,1\n", 1, "whole numbers as ids, not ''"),
        ("0 1\nsource target\n", 2, "whole numbers"),
        ("0 99999999999999999999\n", 1, "ids from 0 to"),
        ("0 " + "9" * 5000 + "\n", 1, "at most 200 characters"),
        ("source target\n0 1\n", 1, "whole numbers"),  # only a .csv may have a header
    ],
)
def test_a_malformed_line_is_named_with_its_number_in_one_line(tmp_path, text, line, message):
    with pytest.raises(BadInput, match=message) as error:
        load(write(tmp_path, text))
    assert f"graph.txt, line {line}:" in str(error.value)
    assert "\n" not in str(error.value)


def test_ids_beyond_the_given_number_of_nodes_are_refused(tmp_path):
    with pytest.raises(BadInput, match=r"line 2.*ids from 0 to 2"):
        load(write(tmp_path, "0 1\n1 3\n"), nodes=3)


@pytest.mark.parametrize("text", ["", "# nothing\n"])
def test_a_graph_without_nodes_is_refused(tmp_path, text):
    with pytest.raises(BadInput, match="at least one edge"):
        load(write(tmp_path, text))
    with pytest.raises(BadInput, match="nodes: got 0"):
        load(write(tmp_path, text), nodes=0)


def test_what_is_no_text_is_refused(tmp_path):
    with pytest.raises(BadInput, match="UTF-8"):
        load(write(tmp_path, b"\xff\xfe\x00"))


def test_a_byte_order_mark_is_no_part_of_the_first_id(tmp_path):
    assert load(write(tmp_path, b"\xef\xbb\xbf0,1\n", "graph.csv")).edges == 1


def test_many_lines_come_back_as_written(tmp_path):
    pairs = np.random.default_rng(0).integers(0, 500, (3000, 2))
    path = tmp_path / "many.txt"
    np.savetxt(path, pairs, fmt="%d")
    dense = np.zeros((500, 500), dtype=int)
    dense[pairs[:, 0], pairs[:, 1]] = dense[pairs[:, 1], pairs[:, 0]] = 1
    assert (load(path, nodes=500).adjacency.toarray() == dense).all()
