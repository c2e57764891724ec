from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from dynascope.core.errors import BadInput
from dynascope.graphs import load


def test_sparse_matrices_are_read_and_made_undirected(tmp_path):
    matrix = sparse.csr_matrix(np.array([[0, 2.5, 0], [0, 0, 0], [0, 1, 1]]))
    sparse.save_npz(tmp_path / "graph.npz", matrix)
    graph = load(tmp_path / "graph.npz")
    assert graph.adjacency.toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 1]]
    assert graph.notes == (
        "weights: ignored",
        "self-loops: 1 kept",
        "directed edges: 2 in one direction only, made undirected",
    )


def test_arrays_of_edges_are_read_with_the_graph_of_each_node(tmp_path):
    path = tmp_path / "set.npz"
    np.savez(path, edges=np.array([[0, 1], [2, 3]]), graph_id=np.array([1, 1, 2, 2, 2]),
             node_label=np.arange(5), y=np.array([0, 1]))  # fmt: skip
    graph = load(path)
    assert graph.part.tolist() == [0, 0, 1, 1, 1]
    assert graph.graph_labels.tolist() == [0, 1] and graph.node_labels.tolist() == [0, 1, 2, 3, 4]
    np.savez(path, edges=np.array([[7, 9]]))
    assert [load(path).name(i) for i in range(2)] == [7, 9]


@pytest.mark.parametrize("arrays", [
    {"edges": np.array([[0.5, 1]])}, {"edges": np.array([1, 2])}, {"edges": np.array([[-1, 2]])},
    {"other": np.ones(3)}, {"edges": np.array([{}], dtype=object)},
    {"edges": np.array([[0, 9]]), "graph_id": np.array([0, 0])},
    {"edges": np.array([[0, 1]]), "graph_id": np.array([[0], [0]])},
    {"edges": np.array([[0, 1]]), "graph_id": np.array([0.0, 0.5])},
    {"edges": np.array([[0, 1]]), "graph_id": np.array([0, 0]), "node_label": np.array([1])},
    {"edges": np.array([[0, 1]]), "graph_id": np.array([0, 0]), "y": np.array([1, 2])},
])  # fmt: skip
def test_archives_that_hold_no_graph_are_refused(tmp_path, arrays):
    path = tmp_path / "graph.npz"
    np.savez(path, **arrays)
    with pytest.raises(BadInput) as error:
        load(path)
    assert "\n" not in str(error.value)


def test_a_matrix_too_large_for_memory_is_refused_before_it_is_made(tmp_path):
    sparse.save_npz(tmp_path / "huge.npz", sparse.coo_array(([1], ([0], [1])), (10**12, 10**12)))
    with pytest.raises(BadInput, match="at most 100,000,000"):
        load(tmp_path / "huge.npz")


def test_graphml_names_are_kept(tmp_path):
    source = nx.MultiDiGraph()
    source.add_edge("anna", "bob", weight=2.0)
    source.add_edge("anna", "bob")
    source.add_edge("bob", "bob")
    source.add_node("carl")
    path = tmp_path / "people.graphml"
    nx.write_graphml(source, path)
    graph = load(path)
    assert [graph.name(i) for i in range(3)] == ["anna", "bob", "carl"]
    assert graph.adjacency.toarray().tolist() == [[0, 1, 0], [1, 1, 0], [0, 0, 0]]
    assert graph.notes == (
        "weights: ignored",
        "self-loops: 1 kept",
        "directed edges: 1 in one direction only, made undirected",
        "repeated edges: 1 collapsed",
        "nodes without edges: 1; an inverse degree counts as 0 there",
    )


@pytest.mark.parametrize("name", ["a.npz", "a.graphml", "a.graph", "a.foo", "a.npy"])
def test_junk_is_refused_in_one_line_without_advice_to_trust_it(tmp_path, name):
    path = tmp_path / name
    path.write_text("junk")
    with pytest.raises(BadInput) as error:
        load(path)
    assert "\n" not in str(error.value) and "unsafe" not in str(error.value)


def test_missing_files_and_needless_counts_are_refused(tmp_path):
    with pytest.raises(BadInput, match="a file that exists"):
        load(tmp_path / "nowhere.txt")
    path = tmp_path / "ind.x.graph"
    path.write_bytes(b"")
    with pytest.raises(BadInput, match="meant for edge lists"):
        load(path, nodes=3)


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY\x01\0"])
def test_a_matrix_file_that_is_cut_off_is_one_line(tmp_path, content):
    path = tmp_path / "cut.npz"
    path.write_bytes(content)
    with pytest.raises(BadInput, match=r"cut\.npz.*sparse matrix"):
        load(path)
