"""Graph data sets: found by name, official files first, and one line where they are not there."""

from __future__ import annotations

import pytest

from dynascope.core.errors import BadInput, MissingData, UnknownName
from dynascope.data import absence, graph_file, load, there
from dynascope.graphs import load as load_graph


@pytest.fixture
def data(tmp_path, monkeypatch):
    """An empty data folder."""
    monkeypatch.setenv("DYNASCOPE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("DYNASCOPE_HOME", str(tmp_path / "home"))
    (tmp_path / "data" / "tu_graphs").mkdir(parents=True)
    return tmp_path / "data"


def test_what_is_not_there_is_said_in_one_line(data):
    assert not there("cora")
    with pytest.raises(MissingData, match=r"planetoid/ind\.cora\.graph is not there: put it into"):
        graph_file("cora")
    assert absence("cora").startswith("planetoid/ind.cora.graph") and "\n" not in absence("cora")


def test_official_files_come_before_plain_arrays(data):
    plain = data / "tu_graphs" / "IMDBBINARY.npz"
    plain.write_bytes(b"")
    assert there("imdb-binary") and not there("imdb-multi")
    assert graph_file("imdb-binary") == plain
    official = data / "tu_graphs" / "IMDB-BINARY"
    official.mkdir()
    assert graph_file("imdb-binary") == official


def test_the_loader_of_arrays_says_how_graphs_are_read(data):
    with pytest.raises(BadInput, match=r"a data set of arrays.*graph_file"):
        load("cora")


def test_a_name_nearly_right_gets_the_nearest():
    with pytest.raises(UnknownName, match="did you mean 'pubmed'"):
        graph_file("pubmad")


def test_cora_has_its_nodes(real):
    real("cora")
    assert load_graph(graph_file("cora")).nodes == 2708
