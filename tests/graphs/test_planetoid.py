from __future__ import annotations

import os
import pickle
from collections import OrderedDict, defaultdict

import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.graphs import load


def write(folder, content, protocol=2):
    path = folder / "ind.toy.graph"
    path.write_bytes(content if isinstance(content, bytes) else pickle.dumps(content, protocol))
    return path


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("kind", [dict, OrderedDict, lambda d: defaultdict(list, d)])
def test_neighbour_lists_in_any_dictionary_are_read(tmp_path, protocol, kind):
    graph = load(write(tmp_path, kind({0: [1, 1, 2], 1: [0, 0], 2: [0, 2], 3: []}), protocol))
    assert graph.adjacency.toarray().tolist() == [
        [0, 1, 1, 0],
        [1, 0, 0, 0],
        [1, 0, 1, 0],
        [0, 0, 0, 0],
    ]
    assert (graph.self_loops, graph.repeated_edges) == (1, 1)


def test_a_neighbour_that_is_no_key_is_a_node_too_and_one_way_edges_are_said(tmp_path):
    graph = load(write(tmp_path, {5: [9]}))
    assert [graph.name(i) for i in range(2)] == [5, 9]
    assert graph.notes == ("directed edges: 1 in one direction only, made undirected",)


class Command:
    def __reduce__(self):
        return os.system, ("echo bad > /dev/null",)


class Plain:
    pass


@pytest.mark.parametrize(
    "content",
    [
        {0: [Command()]},
        Command(),
        {0: [Plain]},
        {0: np.array([1])},
        {0: [np.int64(1)]},
        {0: range(3)},
        {0: [eval]},
        {0: bytearray(b"x")},
    ],
)
def test_anything_but_containers_and_numbers_is_refused_before_it_runs(tmp_path, content):
    with pytest.raises(BadInput, match=r"nothing but containers and numbers") as error:
        load(write(tmp_path, content))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "content",
    [
        [0, 1],
        {0: [-1]},
        {0: ["a"]},
        {0: "12"},
        {"a": [1]},
        {0: [1.5]},
        {0: [True]},
        {0: [2**70]},
        {0: {1: 2}},
        {0: [[1]]},
        7,
    ],
)
def test_containers_of_the_wrong_shape_are_refused(tmp_path, content):
    with pytest.raises(BadInput, match="pickle"):
        load(write(tmp_path, content))


@pytest.mark.parametrize(
    "content", [b"", b"junk", pickle.dumps({0: [1]})[:-3], b"\x80\x02cos\nsystem\n."]
)
def test_damaged_and_hostile_bytes_are_refused_in_one_line(tmp_path, content):
    with pytest.raises(BadInput, match="pickle") as error:
        load(write(tmp_path, content))
    assert "\n" not in str(error.value)


def test_a_dictionary_without_nodes_is_refused(tmp_path):
    with pytest.raises(BadInput, match="at least one node"):
        load(write(tmp_path, {}))
